"""Asteroids in plain Python, from the rules that asteroids.pyx states: the oracle of the compiled game, options included.

Rocks are lists [x, line, kind, whether it sinks]. `fields` gives what the compiled game's struct has.
"""

FIRE, UP, RIGHT, LEFT, DOWN = 1, 2, 4, 8, 16
KEYS = 0, 1, 2, 4, 8, 16, 6, 10, 3, 5, 9, 17, 7, 11
PUSH = 0, 49, 90, 117, 127, 117, 90, 49, 0, -49, -90, -117, -127, -117, -90, -49    # to the left, by the ship's way
SHOT = 0, 1, 3, 3, 4, 3, 3, 1, 0, -1, -3, -3, -4, -3, -3, -1                        # to the left, by the shot's way
LIFE = (6, 7, 7, 11, 9, 11, 7, 7) * 2
UFO_LIFE = LIFE[:8] + (8,) * 7 + (4,)
POINTS, WIDTH, DEPTH, EDGE = (20, 20, 50, 100), (16, 16, 8, 4), (15, 15, 9, 6), (75, 75, 83, 86)    # by a rock's size
SHIP, UFO = 3, 4
WATCH = SHIP, 0, 2, 1, UFO, 0, SHIP, 1, 2, 0, UFO, 1     # 0 and 1: the ship's shots, 2: the UFO's
COLUMN = 127, 112, 25, 127, 40, 55, 40, 25
START = 84 * 256, 41 * 256


def size(rock) -> int:
    return rock[2] >> 4 & 3


def signed(nibble: int) -> int:
    return nibble - 16 if nibble > 7 else nibble


def far_x(column: int, left: int) -> int:
    left &= 15
    return COLUMN[column & 7] - signed(8 if left == 7 else left)


def moved(x: int, more: int) -> int:
    """The place `more` to the right; to the right, 16 is next to 19."""
    place = x + more + 2 * (x <= 16 < x + more)
    return (place - 4) % 162 + 4


def drifted(x: int, left: int) -> int:
    """The next place of a rock."""
    return {16: 19, 165: 4}.get(x, x + 1) if not left else {19: 16, 4: 165}.get(x, x - 1)


def seen(x: int) -> int:
    """A place for comparisons."""
    return x + 2 * (x < 19)


def line_of(y: int) -> int:
    """The line of a shot that has moved to y, in a byte."""
    y %= 256
    return y - 89 if 89 <= y < 128 else y - 167 if y >= 167 else y


def slow(v: int) -> int:
    return v - 2 * (v >> 8) - (v > 0)


def limited(v: int) -> tuple[int, int]:
    """The speed within the limit, and what the ship moves less."""
    return (v - 256, 240) if v >= 16384 else (v + 256, -240) if v < -16384 else (v, 0)


def carried(v: int) -> int:
    return v >> 12 if v >= 0 else -(~(v >> 8) >> 4)


class Twin:
    def __init__(self, numbers: int = 0x46, lives: int = 4, still_rocks: int = 0, no_drag: int = 0, whole_rocks: int = 0,
                 ufos: int = 0):
        self.numbers, self.lives, self.ufos = numbers, lives, ufos
        self.still_rocks, self.no_drag, self.whole_rocks = still_rocks, no_drag, whole_rocks
        self.x, self.y = START
        self.vx = self.vy = self.score = self.way = self.frame = self.blast = self.hidden = self.fired = self.dived = 0
        self.watch, self.drift = 0, 7
        self.shots = [None, None, None]   # [x, line, way, life]; the last one is the UFO's
        self.ufo = None             # [x, line, bits of its course, whether it is small]
        self.timer, self.burst = 0, ufos > 0    # odd frames until the next UFO; burst: it explodes, and the timer counts that
        self.rocks = []
        self.begin_wave()

    def fields(self) -> dict:
        names = "x y vx vy score lives way frame drift blast hidden fired dived watch numbers"
        return {**{name: getattr(self, name) for name in names.split()}, "ufo_timer": self.timer, "ufo_burst": int(self.burst)}

    def draw(self) -> int:
        self.numbers = (self.numbers << 1 | (self.numbers >> 13 ^ self.numbers >> 14) & 1) & 0xFFFF
        return self.numbers

    def step(self, action: int) -> tuple[int, bool]:
        """Play a frame; returns its points and whether the episode has ended."""
        there, wave, broken = not self.hidden, not self.rocks, any(rock[2] & 64 for rock in self.rocks)
        over = False
        self.frame = (self.frame + 1) % 65536
        self.draw()
        if self.frame % 2:
            self.drift = self.drift - 1 or 7
            self.move_rocks()
            if self.ufos:
                self.send_ufo(there)
        if self.frame % 2 == 0:
            over = self.turn(KEYS[action], there)
        if not there:
            self.come_back(broken)
        if wave:
            self.begin_wave()
        if broken:
            self.split()
        points = 0 if broken or wave or not (there or self.hidden) else self.meet(there and not self.hidden)
        if points:
            self.lives = min(self.lives + ((self.score + points) // 5000 > self.score // 5000), 9)
            self.score = (self.score + points) % 100000
        return points, over

    # --- rocks

    def begin_wave(self):
        counts = 2 + (self.score >= 1000) + (self.score >= 15000)
        for sinks, lines in enumerate(((1, 63), (1, 42, 63), (1, 21, 42, 63))[counts - 2] for _ in range(2)):
            for line in (1, 21, 63) if sinks and counts == 3 else lines:
                bits = self.draw()
                x = far_x(bits >> 1, bits >> 5) if line in (1, 63) else 157 - signed(2 * (bits >> 5 & 7))
                bits = bits if line in (1, 63) else self.draw()
                self.rocks.append([x, line, bits & 31, bool(sinks)])

    def move_rocks(self):
        for rock in self.rocks if not self.still_rocks else ():
            rock[1] = (rock[1] + (1 if rock[3] else -1)) % 89
            if self.drift == 7:
                rock[0] = drifted(rock[0], rock[2] & 8)

    def split(self):
        for rock in [rock for rock in self.rocks if rock[2] & 64]:
            if size(rock) == 3 or self.whole_rocks:
                self.rocks.remove(rock)
            elif size(rock) == 2:
                rock[2] = 48 | self.draw() & 15
            else:
                rock[2] = 32 | self.draw() & 15
                entries = sum(1 + (other[1] >= EDGE[size(other)]) for other in self.rocks if other[3] == rock[3])
                if entries < 7:
                    self.rocks.append([rock[0], (rock[1] + 10) % 89, 32 | self.draw() & 7 | ~rock[2] & 8, rock[3]])

    def meet(self, there: bool) -> int:
        for _ in range(12 if there or any(self.shots) or self.ufo else 0):
            self.watch = (self.watch + 1) % 12
            who = WATCH[self.watch]
            if who == SHIP:
                return self.meet_ship()
            if who == UFO and self.ufo:
                if not self.burst and self.hit(*self.ufo[:2], 6 if self.ufo[3] else 8, 2 if self.ufo[3] else 4):
                    self.burst = True
                return 0
            if who < SHIP and self.shots[who]:
                return self.meet_shot(who)
        return 0

    def meet_ship(self) -> int:
        points = 0
        if not (self.blast or self.hidden):
            place = (self.x + 255) // 256, self.y // 256
            points = self.hit(*place, 6, 2) or self.hit_ufo(*place, 6, 5)
            self.blast = 6 if points else 0
        return points

    def meet_shot(self, who: int) -> int:
        x, y = self.shots[who][:2]
        hit = self.hit(x, y, 4, 0) or (self.hit_ufo(x, y, 4, 3) if who < 2 else self.hit_ship(x, y))
        if hit:
            self.shots[who] = None
        return hit if who < 2 else 0

    def hit_ship(self, x: int, y: int) -> bool:
        away = seen((self.x + 255) // 256) - seen(x)
        if self.blast or self.hidden or not (-5 < away < 4 and (self.y // 256 - y + 4) % 256 <= 7):
            return False
        self.blast = 6
        return True

    def hit_ufo(self, x: int, y: int, breadth: int, above: int) -> int:
        if not self.ufo or self.burst:
            return 0
        width, depth = (5, 4) if self.ufo[3] else (7, 6)
        if not (-width < seen(self.ufo[0]) - seen(x) < breadth and (self.ufo[1] - y + depth) % 256 <= depth + above):
            return 0
        self.burst = True
        return 1000 if self.ufo[3] else 200

    def hit(self, x: int, y: int, breadth: int, above: int) -> int:
        """Break the first rock of the cartridge's lists that is met."""
        entries = [(rock[3], line, rock) for rock in self.rocks for line in (rock[1], rock[1] - 89)
                   if line >= 0 or rock[1] >= EDGE[size(rock)]]
        for _, line, rock in sorted(entries, key=lambda entry: entry[:2]):
            away = rock[0] + 2 * (rock[0] < 19) - x - 2 * (x < 19)
            if -WIDTH[size(rock)] < away < breadth and y - DEPTH[size(rock)] <= line <= y + above and not rock[2] & 64:
                rock[2] |= 68
                return POINTS[size(rock)]
        return 0

    # --- ship and shots

    def turn(self, keys: int, there: bool) -> bool:
        slip, over = (0, 0), False
        if self.burst:
            self.timer = (self.timer + 6) % 256
            if self.timer == 18:
                self.timer, self.burst, self.ufo = 0, False, None
        if self.blast:
            over = self.burn()
        elif there and keys & DOWN and self.dived:
            self.x, self.y = far_x(self.numbers, self.numbers >> 4) * 256, (self.numbers >> 9) % 79 * 256
            self.vx = self.vy = self.dived = 0
            self.hidden = 32
        elif there:
            slip = self.steer(keys)
            self.fired, self.dived = keys & FIRE, int(keys & DOWN > 0)
        self.move_shots()
        if there and not (self.blast or self.hidden):
            self.move_ship(*slip)
        return over

    def steer(self, keys: int) -> tuple[int, int]:
        slip = 0, 0
        if self.frame % 4 == 2:
            self.way = (self.way + bool(keys & LEFT) - bool(keys & RIGHT)) % 16
        if keys & UP:
            (self.vx, across), (self.vy, down) = limited(self.vx + PUSH[self.way]), limited(self.vy + PUSH[self.way - 4])
            slip = across, down
        elif not self.no_drag:
            self.vx, self.vy = slow(self.vx), slow(self.vy)
        if keys & FIRE and not self.fired and None in self.shots[:2]:
            self.shots[self.shots.index(None)] = [(self.x + 255) // 256, (self.y // 256 + 3) % 89, self.way, LIFE[self.way]]
        return slip

    def move_ship(self, across: int, down: int):
        before = (self.x + 255) // 256
        self.x -= (self.vx >> 4) - across
        after = (self.x + 255) // 256
        self.x += 256 * (moved(before, after - before) - after)
        self.y += (self.vy >> 4) - down
        self.y = (self.y + 5 * 256) % (89 * 256) - 5 * 256

    def move_shots(self):
        for k, shot in enumerate(self.shots):
            if shot:
                shot[3] -= self.frame % 4 == 0
                left = SHOT[shot[2]] + carried(self.vx)
                shot[0] = moved(shot[0], -left if left >= 0 else 1 - left)
                shot[1] = line_of(shot[1] + SHOT[shot[2] - 4] + carried(self.vy))
                self.shots[k] = shot if shot[3] else None

    def burn(self) -> bool:
        self.blast -= 1
        if self.blast:
            return False
        self.lives -= 1
        self.hidden, self.way = 64, 0
        self.x, self.y = START
        return self.lives == 0

    def come_back(self, broken: bool):
        if self.hidden > 1 and self.frame % 2 == 0:
            self.hidden -= 1
        blocked = self.ufo or self.shots[2] or any(
            8 <= rock[1] < 64 and (79 <= rock[0] < 94 or (64 <= rock[0] < 106 and 24 <= rock[1] < 56)) for rock in self.rocks)
        if self.hidden == 1 and not broken and not (self.x == START[0] and blocked):
            self.hidden = self.vx = self.vy = 0

    # --- UFO

    def send_ufo(self, there: bool):
        """The UFO in an odd frame: it comes, or moves and shoots."""
        if self.ufo:
            self.move_ufo()
        elif there and self.frame >= 1024:
            self.timer = (self.timer - 1) % 256
            if self.timer == 0:
                bits = self.draw()
                line = bits >> 1 & 127
                small = self.score >= 15000 or (self.score >= 7000 and not self.draw() & 1)
                self.ufo = [162, line if line < 80 else line - 79, bits & 1 | bits >> 1 & 6, small]

    def move_ufo(self):
        ufo = self.ufo
        ufo[0] = drifted(ufo[0], ufo[2] & 1)
        if ufo[0] == 162:
            self.ufo, self.timer = None, 0
        elif ufo[2] & 6 in (2, 4):
            ufo[1] = (ufo[1] + (1 if ufo[2] & 4 else -1)) % 256
            if ufo[1] == (79 if ufo[2] & 4 else 0):
                ufo[2] ^= 6
        if ufo[1] == 224:
            self.ufo = None
        if self.ufo and not self.shots[2]:
            way = self.draw() & 15
            if ufo[3]:
                line = 224 if self.hidden else self.y // 256 % 256
                left, up = ufo[0] > (self.x + 255) // 256, ufo[1] > line
                way = way & 3 | ((0 if up else 4) if left else 12 if up else 8)
            self.shots[2] = [ufo[0], (ufo[1] + 3) % 256, way, UFO_LIFE[way]]
