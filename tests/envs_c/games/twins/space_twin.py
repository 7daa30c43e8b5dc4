"""Space Invaders in plain Python: one frame of the rules, on the fields of the struct. The game must equal it."""

import numpy as np

PLAY, SHOW, BURN, CLEAR = range(4)
FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE = range(1, 6)
WHOLE = [60, 126, 126, 126, 126, 255, 255, 255, 195]
SHAPES = [  # invaders by row in pose 0, then in pose 1
    [128, 66, 37, 25, 124, 86, 126, 126, 66, 198], [60, 126, 90, 255, 165, 153, 90, 90, 90, 66],
    [0, 24, 90, 189, 153, 153, 165, 36, 66, 36], [60, 126, 215, 126, 60, 36, 66, 90, 36, 0],
    [60, 126, 207, 207, 255, 58, 34, 34, 34, 238], [24, 126, 219, 255, 66, 66, 34, 17, 17, 9],
    [1, 66, 164, 152, 62, 107, 126, 126, 66, 231], [60, 126, 90, 255, 165, 153, 153, 165, 165, 165],
    [129, 129, 165, 189, 90, 24, 24, 24, 36, 195], [60, 126, 235, 126, 60, 36, 36, 66, 66, 129],
    [60, 126, 243, 243, 255, 92, 68, 68, 68, 119], [24, 90, 219, 255, 66, 66, 68, 136, 136, 144]]
CANNON, SAUCER = [16, 56, 56, 124, 56, 56, 254, 124, 254, 254], [56, 124, 254, 170, 254, 254, 124, 56]
TABLE = [1, 3, 5, 5, 2, 4, 3, 0, 3, 5, 4, 1, 4, 1, 0, 2, 5, 2, 1, 3, 0, 0, 2, 4, 0, 1, 3, 5, 0, 2, 4, 5]
CIRCLES = [[0, 1, 2, 3, 4, 5], [0, 3, 1, 4, 2, 5], [0, 5, 2, 4, 1, 3], [5, 4, 3, 2, 1, 0]]
STRIDE = [0, 5, 4, 3, 3, 3, 3, 3] + [2] * 14 + [1] * 15
NO_SAUCER, NO_BOMBS, UNAIMED = 4, 8, 16  # bits of `rules`


def marches(count: int, clock: int) -> bool:
    """Whether `count` invaders march in a frame."""
    clock %= 64
    if count < 4:
        return clock % 4 == 0 if count == 1 else clock % 7 == 0 and clock < 63
    return clock % 11 == 0 and clock < 55 if count == 4 else clock % (32 if count > 21 else 21 if count > 7 else 16) == 0 and \
        clock != 63


def pixels(bits: list[int], x: int, y: int) -> set[tuple[int, int]]:
    """The pixels of a shape at (x, y)."""
    return {(x + column, y + line) for line, row in enumerate(bits) for column in range(8) if row & 128 >> column}


class Twin:
    """A game; its attributes are the fields of the struct."""

    def __init__(self, fields: dict):
        for name, value in fields.items():
            setattr(self, name, np.asarray(value).tolist())

    def random(self) -> int:
        self.seed = (5 * self.seed + 89) % 256
        return self.seed

    def columns(self) -> list[int]:
        return [column for column in range(6) if any(bits >> column & 1 for bits in self.row)]

    def lowest(self) -> int:
        return self.y + 18 * max(row for row in range(6) if self.row[row])

    def step(self, action: int) -> tuple[int, bool]:
        """Play a frame; returns the points and whether the episode has ended."""
        self.over, before, saucer = False, self.phase, self.saucer_x >= 0
        self.clock = (self.clock - 1) % 256
        if self.clock == 0:
            self.turn_of_the_clock()
        even = self.clock % 2 == 0
        self.drop(before) if even else self.fall()
        self.emptied = 0
        if self.count and self.first != self.columns()[0]:
            self.first, self.blast = self.columns()[0], 0
        if even and self.shot_y:
            self.shot_y -= 4
            self.shot_y = 0 if self.shot_y in (6, 242) else self.shot_y
        elif not even and not self.shot_y and self.phase in (PLAY, CLEAR) and action in (FIRE, RIGHT_FIRE, LEFT_FIRE):
            self.shot_x, self.shot_y = self.cannon + 4, 174
        if self.phase == PLAY and marches(self.count, self.clock):
            self.march()
        if self.count and self.lowest() >= 145:
            self.sheltered = 0
        self.shown, points = self.cannon, 0
        if even:
            self.bombs_hit()
            if self.phase in (PLAY, CLEAR):
                move = (action in (RIGHT, RIGHT_FIRE)) - (action in (LEFT, LEFT_FIRE))
                self.cannon = min(max(self.cannon + move, 34), 116)
        elif 0 < self.shot_y <= 174:
            points = self.shot_hits()
        self.pass_time(saucer)
        self.score += points
        return points, self.over

    def turn_of_the_clock(self):
        if self.phase == PLAY:
            self.saucer_wait = (self.saucer_wait - 1) % 256
            if self.saucer_wait == 0 and self.count >= 7 and not self.rules & NO_SAUCER:
                if self.random() & 1:
                    self.saucer_way *= -1
                self.saucer_x = 0 if self.saucer_way > 0 else 150
            return
        self.clock = 64
        if self.phase == SHOW:
            self.phase, self.saucer_wait = PLAY, 4
            return
        lost = self.phase == BURN
        if self.count == 0:
            self.wave = min(self.wave + 1, 255)
            self.row, self.count, self.first, self.sheltered, self.way = [63] * 6, 36, 0, 1, 1
            self.x, self.y = 22, 31 + 10 * min(self.wave, 4)
            self.shield, self.gone = [list(WHOLE) for _ in range(3)], [0] * 24
            self.shot_y, self.bomb_y = 0, [0, 0]
        if lost:
            self.lives -= 1
            self.over = self.lives == 0
        self.phase, self.cannon, self.saucer_x = SHOW, 34, -1

    def pass_time(self, saucer: bool):
        hit = self.blast and self.blast_row == 6
        if self.clock % 4 == 0 and saucer and self.saucer_x >= 0 and not hit:
            self.saucer_x += self.saucer_way
            if not 0 <= self.saucer_x <= 150:
                self.saucer_x, self.saucer_wait = -1, 4
        if self.clock % 8 == 0 and self.blast:
            self.blast -= 1
            if hit and not self.blast:
                self.saucer_x = -1

    def fall(self):
        self.random()
        self.bomb_y = [0 if y in (0, 218) else y + 2 for y in self.bomb_y]

    def drop(self, before: int):
        (first, second), columns = self.bomb_y, [
            column - self.first for column in range(6) if column in self.columns() or self.emptied >> column & 1]
        if second and not first:
            self.bomb_y, self.bomb_x[0] = [second, 0], self.bomb_x[1]
        if second or before != PLAY or not self.clock or not columns or self.rules & NO_BOMBS:
            return
        column = self.column(columns, self.random())
        if column is None or column + self.first not in self.columns():
            return
        column += self.first
        y = self.y + 18 * max(row for row in range(6) if self.row[row] >> column & 1) + 1
        if first and abs(y - first) < 32:
            return
        falling = [(x, y) for x, y in zip(self.bomb_x, self.bomb_y, strict=True) if y]
        falling = sorted([*falling, (self.x + 16 * column + 3, y)], key=lambda bomb: bomb[1])
        for k, (x, y) in enumerate(falling):
            self.bomb_x[k], self.bomb_y[k] = x, y

    def column(self, columns: list[int], luck: int) -> int | None:
        if luck & 128 or self.rules & UNAIMED:
            circle = CIRCLES[luck & 3]
            at = circle.index(TABLE[luck & 31])
            return next(circle[(at + k) % 6] for k in range(6) if circle[(at + k) % 6] in columns)
        near = min(max((self.cannon - self.x - 16 * self.first + 2) // 16, -1), 5)
        tried = list(range(near, -1, -1)) or [0]
        if not luck & 16:
            tried = [*range(near + 1, 6), *tried]
        return next((column for column in tried if column in columns), None)

    def march(self):
        stride, places = STRIDE[self.count], [self.x + 16 * column for column in self.columns()]
        self.pose ^= 1
        turn = places[-1] + stride >= 129 if self.way > 0 else places[0] - stride < 22
        self.x += min(stride, 129 - places[-1]) if self.way > 0 else -min(stride, places[0] - 22)
        if turn:
            self.way *= -1
            self.y += 10
            self.over = self.lowest() >= 169
            self.y += 183 - self.lowest() if self.over else 0

    def bombs_hit(self):
        for k in (0, 1):
            if self.crumbles(self.bomb_x[k], self.bomb_y[k], False):
                self.bomb_y[k] = 0
        cannon = pixels(CANNON, self.cannon, 185)
        if self.phase in (PLAY, CLEAR) and any(y and cannon & {(x, y + (2 if x < 112 else 1) + line) for line in range(8)}
                                      for x, y in zip(self.bomb_x, self.bomb_y, strict=True)):
            self.phase, self.clock = BURN, 128

    def shot_hits(self) -> int:
        points, saucer = 0, {(self.shot_x, self.shot_y - (3 if self.shot_x < 52 else 4) + line) for line in range(8)}
        if self.saucer_x >= 0 and not (self.blast and self.blast_row == 6) and saucer & pixels(SAUCER, self.saucer_x, 12):
            self.blast, self.blast_row, self.blast_column, self.saucer_wait, points = 4, 6, 0, 4, 200
        shot = {(self.shot_x, self.shot_y + 1 + line) for line in range(8)}
        for row in range(6):
            for column in range(6):
                shape = pixels(SHAPES[row + 6 * self.pose], self.x + 16 * column, self.y + 18 * row)
                if self.row[row] >> column & 1 and shot & shape:
                    self.row[row] ^= 1 << column
                    self.emptied = 0 if column in self.columns() else 1 << column
                    self.count -= 1
                    if self.blast and self.blast_row == 6:
                        self.saucer_x = -1  # its blast ends with the invader's
                    self.blast, self.blast_row, self.blast_column, self.shot_y = 4, row, column, 0
                    if not self.count:
                        self.phase, self.clock = BURN if self.phase == BURN else CLEAR, 97
                    return points + 5 * (6 - row)
        if self.crumbles(self.shot_x, self.shot_y, True):
            self.shot_y = 258
        return points

    def crumbles(self, x: int, y: int, above: bool) -> bool:
        """Let a shot or bomb hit a shield; returns whether it did."""
        shield, column = divmod(x - 42, 32)
        if not y or not self.sheltered or not 0 <= shield < 3 or column > 7:
            return False
        rows, bit = self.shield[shield], 128 >> column
        there = [row for row in range(9) if rows[row] & bit]
        if not any({157 + 2 * row, 158 + 2 * row} & set(range(y, y + 8)) for row in there):
            return False
        row = there[-1] if above else there[0]
        for k in (row, row - 1, row + 1):
            if 0 <= k < 9:
                luck = self.random()
                bits = bit | (bit >> 1 if luck >= 224 else bit << 1 & 255 if luck >= 192 else 0)
                for place in range(8):
                    self.gone[8 * shield + place] += (bits & rows[k]) >> (7 - place) & 1
                rows[k] &= ~bits
        return True
