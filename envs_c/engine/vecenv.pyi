from typing import Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from envs_c.engine.engine import Engine
from envs_c.types import Integers, Mask

BUFFERS: Final[tuple[str, ...]]
HEAD_SIZE: Final[int]

class Batch:
    env: Final[Engine]
    lo: Final[int]
    hi: Final[int]
    buffers: Final[tuple[npt.NDArray[np.generic] | None, ...]]
    def __init__(
        self,
        env: Engine,
        lo: SupportsIndex,
        hi: SupportsIndex,
        actions: npt.NDArray[np.int32],
        observation: npt.NDArray[np.float32 | np.uint8],
        reward: npt.NDArray[np.float32],
        terminated: npt.NDArray[np.float32],
        truncated: npt.NDArray[np.float32],
        final_observation: npt.NDArray[np.float32 | np.uint8] | None,
        action_mask: npt.NDArray[np.uint8] | None,
        final_action_mask: npt.NDArray[np.uint8] | None,
        picture: npt.NDArray[np.uint8] | None,
        final_picture: npt.NDArray[np.uint8] | None,
    ) -> None: ...
    def reset(self, mask: Mask | None = None) -> None: ...
    def step(self, mask: Mask | None = None) -> int: ...
    def copy_ended(
        self,
        returns: npt.NDArray[np.float64],
        lengths: npt.NDArray[np.int32],
        environments: npt.NDArray[np.int64],
        at: SupportsIndex,
    ) -> None: ...
    def observe(self) -> None: ...
    def _step_unchecked(self) -> None: ...

class VecEnv(Engine):
    def bind(
        self,
        lo: SupportsIndex,
        hi: SupportsIndex,
        *,
        actions: npt.NDArray[np.int32],
        observation: npt.NDArray[np.float32 | np.uint8],
        reward: npt.NDArray[np.float32],
        terminated: npt.NDArray[np.float32],
        truncated: npt.NDArray[np.float32],
        final_observation: npt.NDArray[np.float32 | np.uint8] | None = None,
        action_mask: npt.NDArray[np.uint8] | None = None,
        final_action_mask: npt.NDArray[np.uint8] | None = None,
        picture: npt.NDArray[np.uint8] | None = None,
        final_picture: npt.NDArray[np.uint8] | None = None,
    ) -> Batch: ...
    def render(self, index: SupportsIndex = 0, grey: bool = False) -> npt.NDArray[np.uint8]: ...
    def get_state(self, indices: Integers | None = None) -> bytes: ...
    def set_state(self, state: bytes, indices: Integers | None = None) -> None: ...
