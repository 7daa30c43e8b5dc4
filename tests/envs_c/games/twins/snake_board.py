"""Snake's rules a second time, on plain Python lists, with the same random numbers."""

import numpy as np
from pcg32 import Pcg32

UP, LEFT, DOWN, RIGHT = range(4)
STEP = {UP: (0, -1), LEFT: (-1, 0), DOWN: (0, 1), RIGHT: (1, 0)}
BACK = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}


class Board:
    """One environment; `snake` is a list of cells (x, y), the head last.

    seed, index: of the random numbers, as those of environment `index`.
    size, wrap, patience: the game's options.
    """

    def __init__(self, seed: int, index: int = 0, size: int = 10, wrap: int = 0, patience: int = 2):
        self.random = Pcg32(seed, index)
        self.size, self.wrap, self.limit = size, wrap, patience * size * size
        self.reset()

    def reset(self):
        middle = self.size // 2
        self.snake = [(middle - 2, middle), (middle - 1, middle), (middle, middle)]
        self.heading, self.hunger = RIGHT, 0
        self.lay_food()

    def lay_food(self):
        free = [(x, y) for y in range(self.size) for x in range(self.size) if (x, y) not in self.snake]
        self.food = free[self.random.below(len(free))] if free else None

    def ahead(self, way):
        """The cell next to the head in a direction, or None beyond a wall."""
        x, y = (a + b for a, b in zip(self.snake[-1], STEP[way], strict=True))
        if self.wrap:
            return x % self.size, y % self.size
        return (x, y) if 0 <= x < self.size and 0 <= y < self.size else None

    def deadly(self, way):
        """True if moving in a direction ends the episode."""
        return self.ahead(way) is None or self.ahead(way) in self.snake[1:]

    def step(self, action):
        """One move; returns the reward and whether the episode has ended."""
        if action != BACK[self.heading]:
            self.heading = action
        if self.deadly(self.heading):
            return 0, True
        self.snake.append(self.ahead(self.heading))
        if self.snake[-1] == self.food:
            self.hunger = 0
            self.lay_food()
            return 1, self.food is None
        self.snake.pop(0)
        self.hunger += 1
        return 0, self.hunger == self.limit

    def food_lies(self, way):
        """True if the food is in this direction, by the shorter way round; if both are equal, by its coordinates."""
        axis, sign = (0, STEP[way][0]) if STEP[way][0] else (1, STEP[way][1])
        target = self.snake[-1] if self.food is None else self.food
        gap = (target[axis] - self.snake[-1][axis]) * sign
        if not self.wrap or gap == 0:
            return gap > 0
        forth, back = gap % self.size, -gap % self.size
        return forth < back or (forth == back and gap > 0)

    def features(self):
        """The features, as those of the game."""
        planes = np.zeros((3, self.size, self.size), np.uint8)
        for x, y in self.snake:
            planes[0, y, x] = 1
        planes[1][self.snake[-1][::-1]] = 1
        if self.food:
            planes[2][self.food[::-1]] = 1
        flags = [[self.heading == way, self.deadly(way), self.food_lies(way)] for way in range(4)]
        return np.concatenate([np.array(flags, np.uint8).T.ravel(), planes.ravel()])
