"""Tetris's rules a second time, on a plain Python dict of cells, with the same random numbers.

Pieces are rotated by their coordinates in a box, and kicks are differences of SRS's published offsets, so no table of the game
is copied here. x counts to the right, y down from the topmost visible row.
"""

import numpy as np
from pcg32 import Pcg32

ACTIONS = ("NOOP", "LEFT", "RIGHT", "ROTATE", "DOWN", "DROP")
PIECES = {  # columns of the box (0: no rotation), and the cells (x, y) at entry
    "I": (4, [(0, 1), (1, 1), (2, 1), (3, 1)]), "O": (0, [(1, 0), (2, 0), (1, 1), (2, 1)]),
    "T": (3, [(1, 0), (0, 1), (1, 1), (2, 1)]), "S": (3, [(1, 0), (2, 0), (0, 1), (1, 1)]),
    "Z": (3, [(0, 0), (1, 0), (1, 1), (2, 1)]), "J": (3, [(0, 0), (0, 1), (1, 1), (2, 1)]),
    "L": (3, [(2, 0), (0, 1), (1, 1), (2, 1)])}
NAMES = "".join(PIECES)
OFFSETS = {  # by orientation, y up, as published
    "I": [[(0, 0), (-1, 0), (2, 0), (-1, 0), (2, 0)], [(-1, 0), (0, 0), (0, 0), (0, 1), (0, -2)],
          [(-1, 1), (1, 1), (-2, 1), (1, 0), (-2, 0)], [(0, 1), (0, 1), (0, 1), (0, -1), (0, 2)]],
    "": [[(0, 0)] * 5, [(0, 0), (1, 0), (1, -1), (0, 2), (1, 2)],
         [(0, 0)] * 5, [(0, 0), (-1, 0), (-1, -1), (0, 2), (-1, 2)]]}


def cells_of(name, rotation):
    """Cells (x, y) of a piece in its box."""
    size, cells = PIECES[name]
    for _ in range(rotation if size else 0):
        cells = [(size - 1 - y, x) for x, y in cells]
    return cells


def kicks(name, rotation):
    """The five moves (x, y down) to try after a clockwise turn; the first is (0, 0)."""
    table = OFFSETS["I" if name == "I" else ""]
    pairs = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(table[rotation], table[(rotation + 1) % 4], strict=True)]
    return [(x - pairs[0][0], -(y - pairs[0][1])) for x, y in pairs]


class Board:
    """One environment.

    seed, index: of the random numbers, as those of environment `index`.
    level, drop_points: the game's options.
    """

    def __init__(self, seed: int = 0, index: int = 0, level: int = 1, drop_points: int = 1):
        self.random, self.start, self.kicked = Pcg32(seed, index), level, set()
        self.drop_points = drop_points
        self.reset()

    def reset(self):
        self.stack, self.bag, self.lines = {}, "", 0
        self.next = self.draw()
        self.enter()

    @property
    def level(self):
        return min(self.start + self.lines // 10, 15)

    def draw(self):
        self.bag = self.bag or NAMES
        name = self.bag[self.random.below(len(self.bag))]
        self.bag = self.bag.replace(name, "")
        return name

    def enter(self):
        self.piece, self.next = self.next, self.draw()
        self.rotation, self.x, self.y = 0, 3, -1 if self.piece == "I" else 0
        self.lowest, self.fall, self.rest, self.resets = self.y, 0, 0, 0

    def cells(self, rotation=None, x=None, y=None):
        rotation, x, y = (own if given is None else given
                          for own, given in ((self.rotation, rotation), (self.x, x), (self.y, y)))
        return [(x + a, y + b) for a, b in cells_of(self.piece, rotation)]

    def free(self, cells):
        return all(0 <= x < 10 and y < 20 and (x, y) not in self.stack for x, y in cells)

    def try_to(self, rotation, x, y):
        """Put the piece there if it has room; True if it has."""
        if y < -2 or not self.free(self.cells(rotation, x, y)):
            return False
        self.rotation, self.x, self.y = rotation, x, y
        return True

    def stands(self):
        return not self.free(self.cells(y=self.y + 1))

    def step(self, action):
        """One step; returns the reward and whether the episode has ended."""
        action, points = ACTIONS[action], 0
        if action == "DROP":
            while self.try_to(self.rotation, self.x, self.y + 1):
                points += 2 * self.drop_points
            gained, over = self.lock()
            return points + gained, over
        if action == "DOWN":
            points = self.drop_points * self.try_to(self.rotation, self.x, self.y + 1)
        moved = (action == "LEFT" and self.try_to(self.rotation, self.x - 1, self.y)) or (
            action == "RIGHT" and self.try_to(self.rotation, self.x + 1, self.y)) or (
            action == "ROTATE" and self.turn())
        if moved and self.resets < 15:
            self.resets, self.rest = self.resets + 1, 0
        self.gravitate()
        if self.rest == 8:
            gained, over = self.lock()
            return points + gained, over
        return points, False

    def turn(self):
        """Rotate clockwise with kicks; True if the piece turned."""
        before = self.rotation
        for dx, dy in kicks(self.piece, before):
            if self.try_to((before + 1) % 4, self.x + dx, self.y + dy):
                self.kicked.add((self.piece == "I", before, dx, dy))
                return True
        return False

    def gravitate(self):
        self.fall += round(1024 / (15 * (0.8 - 0.007 * (self.level - 1)) ** (self.level - 1)))
        while self.fall >= 1024 and self.try_to(self.rotation, self.x, self.y + 1):
            self.fall -= 1024
        if self.y > self.lowest:
            self.lowest, self.rest, self.resets = self.y, 0, 0
        if self.stands():
            self.fall, self.rest = 0, self.rest + 1

    def lock(self):
        """Lock the piece; returns the points for lines and whether the episode has ended."""
        self.stack.update(dict.fromkeys(self.cells(), self.piece))
        full = [y for y in range(20) if all((x, y) in self.stack for x in range(10))]
        for row in full:
            self.stack = {(x, y + (y < row)): name for (x, y), name in self.stack.items() if y != row}
        points = (0, 100, 300, 500, 800)[len(full)] * self.level
        self.lines += len(full)
        self.enter()
        return points, any(y < 0 for _, y in self.stack) or not self.free(self.cells())

    def landing(self):
        """Cells of the piece after a drop."""
        y = self.y
        while self.free(self.cells(y=y + 1)):
            y += 1
        return self.cells(y=y)

    def features(self):
        """The features, as those of the game."""
        planes = np.zeros((2, 20, 10), np.uint8)
        for plane, cells in enumerate((self.stack, self.landing())):
            for x, y in cells:
                if y >= 0:
                    planes[plane, y, x] = 1
        ones = [(7, NAMES.index(self.piece)), (4, self.rotation), (11, self.x + 2), (21, self.y + 2),
                (7, NAMES.index(self.next)), (1, 0 if self.stands() else 1), (15, self.level - 1), *self.outcome()]
        return np.concatenate([planes.ravel(), *(np.arange(n) == k for n, k in ones)]).astype(np.uint8)

    def outcome(self):
        """One-hot sizes and indices after a drop: (4, columns with a gap below the piece), (4, rows that vanish - 1)."""
        landing = self.landing()
        filled = {*self.stack, *landing}
        gaps = sum(y < 19 and (x, y + 1) not in filled for x, y in landing)
        return (4, gaps), (4, sum(all((x, y) in filled for x in range(10)) for y in {y for _, y in landing}) - 1)

    def plan(self, well=False):
        """(rotation, x) of the best drop by height, holes and bumps; `well` keeps column 9 free for four lines at once."""
        best, found = None, (self.rotation, self.x)
        filled = np.zeros((24, 10), bool)
        for x, y in self.stack:
            filled[y + 4, x] = True
        for rotation in range(4 if self.piece != "O" else 1):
            for x in range(-2, 9):
                if not self.free(self.cells(rotation, x, 0)):
                    continue
                y = 0
                while self.free(self.cells(rotation, x, y + 1)):
                    y += 1
                after = filled.copy()
                for a, b in self.cells(rotation, x, y):
                    after[b + 4, a] = True
                after = after[~after.all(1)]
                if well and len(after) > 20 and not filled[:14].any() and any(a == 9 for a, _ in self.cells(rotation, x, y)):
                    continue
                after = np.concatenate([np.zeros((24 - len(after), 10), bool), after])
                heights = np.where(after.any(0), 24 - after.argmax(0), 0)
                holes, bumps = heights.sum() - after.sum(), np.abs(np.diff(heights[: 9 if well else 10])).sum()
                cost = 0.5 * heights.sum() + 4 * holes + bumps
                if best is None or cost < best:
                    best, found = cost, (rotation, x)
        return found
