"""Seaquest in plain Python: one frame of a state after the other, with every picture that can collide drawn pixel by pixel."""

from seaquest_shapes import SUBMARINE, Pictures, figure

ACROSS = (0, 0, 0, 1, -1, 0, 1, -1, 1, -1, 0, 1, -1, 0, 1, -1, 1, -1)
DOWNWARDS = (0, 0, -1, 0, 0, 1, -1, -1, 1, 1, -1, 0, 0, 1, -1, -1, 1, 1)
FIRES = (0, 1, *[0] * 8, *[1] * 8)
FORMATION = ((4, 6, 5, 7), (1, 3, 5, 7))  # by direction to the right, and by pace
FILLS, PLAYS, DIES, COUNTS = range(4)
NOBODY, WAITING, SAVED = range(3)
ENDLESS_OXYGEN, SILENT_SUBMARINES, EARLY_PATROL = 1, 2, 4  # bits of `rules`
ARRAYS = ("x", "guest", "alive", "right", "sub", "diver", "pose", "chased")


class Twin(Pictures):
    """A state whose attributes are the fields of the struct `Seaquest`.

    fields: a dict of all fields.
    """

    def __init__(self, fields):
        for name, value in fields.items():
            setattr(self, name, list(value) if name in ARRAYS else int(value))

    def fields(self):
        return dict(vars(self))

    def step(self, action):
        """Play one frame; returns the points and whether the game is over."""
        before = self.score
        over = False
        touched = self.contacts()
        self.tint = self.pace % 8
        self.frame = (self.frame + 1) % 768
        chance, phase = self.chance, self.phase
        if self.frame % 8 == 0:
            for _ in range(3):
                self.chance = self.chance * 2 % 256 + (self.chance >> 7 ^ self.chance >> 4) % 2
            if phase in (PLAYS, DIES):
                self.stroke = (self.stroke + 2) % 3
        if (self.rescues >= 2 or self.rules & EARLY_PATROL) and phase != COUNTS:
            self.patrol = (self.patrol - (self.frame % (4 if self.rescues < 5 else 2) == 0)) % 256
        if phase in (PLAYS, DIES):
            self.collide(touched, chance)
        if phase in (PLAYS, DIES):
            self.chase(touched[3])
        if phase in (FILLS, PLAYS) and touched[4]:
            self.patrol = self.torpedo = 0
            self.begin_death()
        self.swim()
        if phase == FILLS and self.phase == FILLS:
            self.fill()
        elif phase == COUNTS:
            self.count()
        if self.phase == DIES:
            over = self.die()
            if phase == DIES:
                self.torpedo = 0
        elif phase == PLAYS:
            self.move_lanes(chance)
            self.surface(action)
        return self.score - before, over

    def swim(self):
        if self.phase != COUNTS:
            self.sway = min(self.frame // 4 % 16, 15 - self.frame // 4 % 16)
        for lane in range(4):
            self.pose[lane] = self.frame // 2 % 2 if self.chased[lane] else self.stroke

    def contacts(self):
        """The lanes where torpedo, submarine and guests touch, as they were last shown."""
        ship = self.ship()
        torpedo = figure(self.torpedo, self.y + 40, [255]) if self.torpedo else set()
        hit = [lane for lane in range(4) if torpedo & self.enemies(lane) and 8 <= self.torpedo < 153]
        run = [lane for lane in range(4) if ship & self.enemies(lane)]
        met = [lane for lane in range(4) if ship & self.guests(lane)]
        pushed = [bool(not self.sub[lane] and self.enemies(lane) & self.guests(lane)) for lane in range(4)]
        up = int(self.lives < 3)  # with less than two lives in reserve it is a row higher
        hull = figure(self.patrol, 46 - up, SUBMARINE[(self.frame + 3) // 4 % 3][:7 + up], True)
        patrol = 0 < self.patrol < 160 and bool(ship & hull)
        return hit, run, met, pushed, patrol

    def collide(self, touched, chance):
        hit, run, met = touched[:3]
        shot = any(self.sub[lane] for lane in met)  # then enemies that are hit or run into stay
        for lane in [] if shot or self.phase == DIES else hit:
            self.torpedo_hits(lane, chance)
        for lane in met:
            self.meet(lane)
        for lane in [] if shot else run:
            x = self.x[lane]
            copies = [n for n in range(3) if -17 < self.x_ship - x - 16 * n < 8] if 0 <= x < 160 else [1, 2]
            self.lose(lane, sum(4 >> n for n in copies), chance)
        if shot or run:
            self.torpedo = 0
            self.begin_death()

    def chase(self, pushed):
        for lane in range(4):
            if pushed[lane] and 8 <= self.guest[lane] <= 150 and self.x[lane] not in (-88, 215):  # not in a new wave
                self.chased[lane] = 1

    def meet(self, lane):
        """The submarine or its remains touch the lane's diver or shot."""
        if self.sub[lane]:
            self.guest[lane] = 0
        if self.sub[lane] or self.crew == 6:
            return
        self.guest[lane] = self.chased[lane] = 0
        self.diver[lane] = SAVED
        self.crew += 1
        if self.diver == [SAVED] * 4:
            self.diver = [NOBODY] * 4

    def torpedo_hits(self, lane, chance):
        bit = sum(4 >> n for n in range(3) if -8 < self.torpedo - self.x[lane] - 16 * n < 8)
        self.torpedo = self.chased[lane] = 0
        self.lose(lane, bit, chance)

    def lose(self, lane, bits, chance):
        self.alive[lane] &= ~bits
        self.gain(10 * min((self.rescues + 2) % 256, 9))
        if not self.alive[lane] and not self.sub[lane]:
            self.send_sharks(lane, chance)

    def gain(self, points):
        before = self.score
        self.score = min(before + points, 999_999)
        if self.score // 10_000 > before // 10_000 and self.lives < 7:
            self.lives += 1

    def begin_death(self):
        self.phase, self.sinks = DIES, 23

    def die(self):
        if self.frame % 4:
            return False
        self.patrol = 0
        self.sinks -= 1
        if self.sinks == 14:
            self.oxygen = 0
        if self.sinks == 0:
            self.lives -= 1
            self.crew -= self.crew > 0
            self.begin_life()
        return self.lives == 0

    def clear_sea(self):
        self.alive, self.guest, self.sub, self.chased = [0] * 4, [0] * 4, [0] * 4, [0] * 4
        self.y, self.phase = 13, FILLS
        self.oxygen = 0

    def begin_life(self):
        self.clear_sea()
        self.x_ship, self.facing, self.torpedo = 76, 1, 0

    def fill(self):
        if self.frame % 2:
            return
        self.oxygen += 1
        if self.oxygen == 64:
            self.phase, self.torpedo = PLAYS, 0
            for lane in range(4):
                self.send_sharks(lane, self.frame % 256 >> (3 - lane))

    def count(self):
        if self.oxygen:
            if self.frame % 2 == 0:
                self.oxygen -= 1
                self.gain(10 * min((self.rescues + 2) % 256, 9))
        elif self.frame % 16 == 0:
            if self.crew:
                self.crew -= 1
                self.gain(min(50 * (self.rescues + 1), 1000))
            else:
                self.rescues = (self.rescues + 1) % 256
                self.pace += self.pace < self.rescues
                self.clear_sea()

    def send_wave(self, lane, sub, chance, surely=False):
        """The next wave, with the enemies left of the last one. surely: with a diver, whatever the chance."""
        self.right[lane] = 1 - (chance >> 3 & 1)
        self.x[lane] = -88 if self.right[lane] else 215
        if self.diver[lane] == NOBODY and (surely or chance >= 80):
            self.diver[lane] = WAITING
        self.sub[lane], self.pose[lane], self.chased[lane] = sub, 0, 0

    def send_sharks(self, lane, chance, surely=False):
        """A complete wave of sharks."""
        self.send_wave(lane, 0, chance, surely)
        self.alive[lane] = FORMATION[self.right[lane]][self.pace // 2 % 4]

    def move_lanes(self, chance):
        self.enemy_part += (6 + self.pace) % 256
        self.diver_part += (6 + self.pace) % 256 // 2
        self.shot_part += (16 + self.pace) % 256
        enemy, diver, shot = self.enemy_part // 16, self.diver_part // 16, self.shot_part // 16
        self.enemy_part %= 16
        self.diver_part %= 16
        self.shot_part %= 16
        for lane in range(4):
            chased = self.chased[lane]
            was_sub = self.sub[lane]
            moves = self.move_wave(lane, enemy, chance)
            at_0 = self.guest[lane] and not self.right[lane] and self.guest[lane] == shot  # there the lane waits another frame
            if moves:
                fast = chance % 2 if was_sub else chased
                self.move_guest(lane, shot if self.sub[lane] else enemy if fast else diver)
            if self.sub[lane] and not self.alive[lane] and not self.guest[lane] and not at_0:
                self.send_sharks(lane, chance, surely=True)

    def move_wave(self, lane, enemy, chance):
        x = self.x[lane] + (enemy if self.right[lane] else -enemy)
        passed = 160 <= x < 168 if self.right[lane] else -41 < x <= -33
        if self.right[lane] and x >= 160:
            x -= 256
        elif not self.right[lane] and x < -40:
            x += 256
        if not passed:
            self.x[lane] = x
        elif not self.sub[lane] and not self.alive[lane] and not self.guest[lane]:
            self.send_sharks(lane, chance, surely=True)
            return False
        else:
            self.send_wave(lane, int(not self.sub[lane]), chance)
        return True

    def move_guest(self, lane, step):
        way = 1 if self.right[lane] else -1
        if self.sub[lane]:
            if not self.guest[lane] and self.alive[lane] and not self.rules & SILENT_SUBMARINES:
                there = [n for n in range(3) if self.alive[lane] & (4 >> n)]
                front = self.x[lane] + 16 * (max(there) if self.right[lane] else min(there))
                if 39 <= front <= 126:
                    self.guest[lane] = front
            if not self.guest[lane]:
                return
        elif self.diver[lane] != WAITING:
            return
        if not self.guest[lane]:
            self.guest[lane] = (step if self.right[lane] else 160 - step) if step else 0
            return
        self.guest[lane] += way * step
        if not 0 < self.guest[lane] < 160:
            self.guest[lane] = 0
            if not self.sub[lane]:
                self.diver[lane] = NOBODY

    def surface(self, action):
        if self.y == 13 and self.oxygen < 64:
            if self.crew == 0:
                self.begin_death()
                return
            if self.crew == 6:
                self.phase = COUNTS
                return
            if self.frame % 2:
                return
            self.oxygen += 1
            if self.oxygen < 64:
                return
            self.crew -= 1
            self.pace = (self.pace + 1) % 256
        self.steer(action)
        if self.y >= 20 and self.frame % 32 == 0 and not self.rules & ENDLESS_OXYGEN:
            self.oxygen -= 1
            if self.oxygen == 0:
                self.begin_death()

    def steer(self, action):
        if ACROSS[action]:
            self.facing = int(ACROSS[action] > 0)
        self.x_ship = min(max(self.x_ship + ACROSS[action], 21), 134)
        self.y = min(max(self.y + DOWNWARDS[action], 13), 108)
        if self.torpedo:
            self.torpedo += 5 if self.torpedo_right else -5
            if not 0 < self.torpedo < 160:
                self.torpedo = 0
        elif FIRES[action] and self.y >= 18:
            self.torpedo_right = self.facing
            self.torpedo = self.x_ship + (13 if self.facing else 3)
