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
        if phase == PLAYS:
            self.collide(touched, chance)
        elif phase == DIES:
            for lane in touched[2]:
                self.take_diver(lane)
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
        dead = False
        for lane in hit:
            self.torpedo_hits(lane, chance)
        for lane in met:
            if self.sub[lane]:
                self.guest[lane] = 0
                dead = True
            self.take_diver(lane)
        for lane in run:
            copies = [n for n in range(3) if -16 < self.x_ship - self.x[lane] - 16 * n < 8]
            self.lose(lane, sum(4 >> n for n in copies), chance)
            dead = True
        if dead:
            self.torpedo = 0
            self.begin_death()

    def chase(self, pushed):
        for lane in range(4):
            if pushed[lane] and self.guest[lane] and self.x[lane] not in (-88, 215):  # not if the next wave has just started
                self.chased[lane] = 1

    def take_diver(self, lane):
        if self.sub[lane] or self.crew == 6:
            return
        self.guest[lane] = self.chased[lane] = 0
        self.diver[lane] = SAVED
        self.crew += 1
        if self.diver == [SAVED] * 4:
            self.diver = [NOBODY] * 4

    def torpedo_hits(self, lane, chance):
        bit = sum(4 >> n for n in range(3) if -8 < self.torpedo - self.x[lane] - 16 * n < 8)
        self.torpedo = 0
        self.lose(lane, bit, chance)

    def lose(self, lane, bits, chance):
        self.alive[lane] &= ~bits
        self.chased[lane] = 0
        self.gain(10 * min(self.rescues + 2, 9))
        if not self.alive[lane] and not self.sub[lane]:
            self.send_wave(lane, False, chance)

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
            self.clear_sea()
        return self.lives == 0

    def clear_sea(self):
        self.alive, self.guest, self.sub, self.chased = [0] * 4, [0] * 4, [0] * 4, [0] * 4
        self.x_ship, self.y, self.facing = 76, 13, 1
        self.torpedo = self.oxygen = 0
        self.phase = FILLS

    def fill(self):
        if self.frame % 2:
            return
        self.oxygen += 1
        if self.oxygen == 64:
            self.phase = PLAYS
            for lane in range(4):
                self.send_wave(lane, False, self.frame % 256 >> (3 - lane))

    def count(self):
        if self.oxygen:
            if self.frame % 2 == 0:
                self.oxygen -= 1
                self.gain(10 * min(self.rescues + 2, 9))
        elif self.frame % 16 == 0:
            if self.crew:
                self.crew -= 1
                self.gain(min(50 * (self.rescues + 1), 1000))
            else:
                self.rescues = min(self.rescues + 1, 250)
                self.pace += self.pace < self.rescues
                self.clear_sea()

    def send_wave(self, lane, sub, chance):
        self.right[lane] = 1 - (chance >> 3 & 1)
        self.x[lane] = -88 if self.right[lane] else 215
        if not self.alive[lane]:
            self.alive[lane] = FORMATION[self.right[lane]][self.pace // 2 % 4]
        if self.diver[lane] == NOBODY and chance >= 80:
            self.diver[lane] = WAITING
        self.sub[lane], self.pose[lane], self.chased[lane] = sub, 0, 0

    def move_lanes(self, chance):
        self.enemy_part += 6 + self.pace
        self.diver_part += 3 + self.pace // 2
        self.shot_part += self.pace
        enemy, diver, shot = self.enemy_part // 16, self.diver_part // 16, 1 + self.shot_part // 16
        self.enemy_part %= 16
        self.diver_part %= 16
        self.shot_part %= 16
        for lane in range(4):
            step = shot if self.sub[lane] else enemy if self.chased[lane] else diver
            gone = self.sub[lane] and self.right[lane] and self.guest[lane] == 159
            if gone:
                self.guest[lane] = 0
            was_sub = self.sub[lane]
            if self.move_wave(lane, enemy, chance) and not gone:
                self.move_guest(lane, (enemy if chance % 2 else diver) if was_sub and not self.sub[lane] else step)

    def move_wave(self, lane, enemy, chance):
        x = self.x[lane] + (enemy if self.right[lane] else -enemy)
        passed = 160 <= x < 168 if self.right[lane] else -41 < x <= -33
        if self.right[lane] and x >= 160:
            x -= 256
        elif not self.right[lane] and x < -40:
            x += 256
        busy = self.sub[lane] and self.guest[lane]
        if passed and not busy:
            self.send_wave(lane, int(not self.sub[lane] and not self.guest[lane]), chance)
        elif not self.alive[lane] and not busy:
            self.send_wave(lane, 0, chance)
            return False
        elif not (passed and busy):
            self.x[lane] = x
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
            self.pace = min(self.pace + 1, 250)
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
