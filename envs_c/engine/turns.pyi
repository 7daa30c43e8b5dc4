from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from envs_c.engine.vecenv import Batch

STAGES: Final[tuple[str, ...]]

class Turns:
    batches: Final[tuple[Batch, ...]]
    waited: Final[float]
    stepped: Final[float]
    def __init__(
        self,
        batches: Sequence[Batch],
        calls: Sequence[tuple[int, int, int]],
        functions: tuple[int, int, int],
    ) -> None: ...
    def run(self, count: int, pending: Sequence[bool]) -> tuple[int, int, str, int] | None: ...
    def take_ended(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...
