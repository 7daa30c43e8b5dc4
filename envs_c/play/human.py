"""render_mode="human": a window that shows environments at the game's own rate while a program steps them."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from envs_c.play.window import Window

GRID = 16   # the most environments in a window
GAP = 2     # pixels between them
WIDE = 1.6  # width : height that the grid comes nearest to


class Human:
    """A window with the first GRID environments. If the user closes it, they go on without it, and without waiting.

    title: of the window.
    num_envs: number of environments.
    render: returns the picture of one of them by its number, (height, width, 3) uint8.
    rate: steps a second.

    Raises NoScreen if pygame or a display is missing.
    """

    def __init__(self, title: str, num_envs: int, render: Callable[[int], np.ndarray], rate: float,
                 clock: Callable[[], float] = time.perf_counter):
        shown = min(num_envs, GRID)
        self.title = title if shown == num_envs else f"{title}  the first {shown} of {num_envs:,} environments"
        self.shown, self.render, self.period, self.clock = shown, render, 1 / rate, clock
        self.due: float | None = None  # the time of the next picture
        self.window: Window | None = Window(instead="use render_mode='rgb_array'")

    def show(self, *, paced: bool):
        """Show the environments, and handle the window's events; if `paced`, wait until the step's time has passed."""
        if self.window is None:
            return
        self.window.show(tiled([self.render(index) for index in range(self.shown)]), self.title)
        now = self.clock()
        if paced or self.due is None:
            self.due = now if self.due is None else max(self.due + self.period, now)  # delays are not made up for
        if not self.window.wait(self.due - now if paced else 0):
            self.close()

    def close(self):
        """Close the window."""
        if self.window is not None:
            self.window.close()
            self.window = None


def tiled(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Pictures (height, width, 3) uint8 of one size as one picture: a grid, row by row, about as wide as WIDE."""
    count, (height, width, _) = len(pictures), pictures[0].shape

    def cost(columns: int) -> float:
        """Of a wrong shape, and twice that of empty places."""
        rows = math.ceil(count / columns)
        return abs(math.log(columns * width / (rows * height) / WIDE)) + 2 * math.log(rows * columns / count)
    columns = min(range(1, count + 1), key=cost)
    rows = math.ceil(count / columns)
    grid = np.zeros((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), np.uint8)
    for index, picture in enumerate(pictures):
        y, x = index // columns * (height + GAP), index % columns * (width + GAP)
        grid[y:y + height, x:x + width] = picture
    return grid
