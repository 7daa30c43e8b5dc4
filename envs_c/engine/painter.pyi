from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from envs_c.game import Game

class Axis(NamedTuple):
    cell: int
    unit: int
    cells: npt.NDArray[np.int16]
    parts: npt.NDArray[np.int16]

def axis(length: int, small: int) -> Axis: ...
def cell_sums(pixels: npt.NDArray[np.int64], way: Axis) -> npt.NDArray[np.int64]: ...
def average(rgb: npt.NDArray[np.uint8], x: Axis, y: Axis) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]: ...

class Painter:
    def __init__(self, game: Game, options: npt.NDArray[np.float64]) -> None: ...
