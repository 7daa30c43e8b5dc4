from typing import Final

import numpy as np
import numpy.typing as npt

from envs_c.engine.vecenv import VecEnv

FLAG: Final[np.dtype[np.bool_]]
LENGTH: Final[np.dtype[np.int32]]

class Results:
    def __init__(
        self,
        actions: npt.NDArray[np.int32],
        outputs: npt.NDArray[np.float32],
        core: VecEnv,
        started: npt.NDArray[np.float64],
    ) -> None: ...
    def take(self, actions: npt.NDArray[np.integer]) -> int: ...
    def outcome(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]: ...
    def episodes(
        self, now: float
    ) -> tuple[npt.NDArray[np.bool_], dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int32]]]: ...
