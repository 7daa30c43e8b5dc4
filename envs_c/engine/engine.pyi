from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from envs_c.game import Game
from envs_c.types import Flags, FrameSkip, Mask, Options, RewardClip, Seed, Size
from envs_c.views import VIEWS as VIEWS

def restored(kind: type[Engine], args: tuple[Any, ...], settings: dict[str, Any], state: bytes | None) -> Engine: ...

class Engine:
    game: Final[Game]
    num_envs: Final[int]
    first: Final[int]
    view: Final[str]
    autoreset: Final[str]
    picture_size: Final[tuple[int, int] | None]
    frame_skip: Final[int | tuple[int, int]]
    noop_max: Final[int]
    time_limit: Final[int]
    sticky: Final[float]
    reward_clip: Final[tuple[float, float]]
    episodic_life: Final[bool]
    life_loss_info: Final[bool]
    num_threads: Final[int]
    chunk_size: Final[int]
    options: Final[dict[str, float]]
    actions: Final[tuple[str, ...]]
    feature_low: Final[npt.ArrayLike]
    feature_high: Final[npt.ArrayLike]
    observation_shape: Final[tuple[int, ...]]
    observation_dtype: Final[np.dtype[np.float32] | np.dtype[np.uint8]]
    picture_shape: Final[tuple[int, ...] | None]
    ended: Final[npt.NDArray[np.uint8]]
    ended_return: Final[npt.NDArray[np.float64]]
    ended_length: Final[npt.NDArray[np.int32]]
    lives: Final[npt.NDArray[np.int32] | None]
    final_lives: Final[npt.NDArray[np.int32] | None]
    closed: Final[bool]
    stride: Final[int]
    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        view: str = "features",
        picture_size: Size = None,
        frame_skip: FrameSkip = None,
        sticky: float = 0.0,
        noop_max: int = 0,
        time_limit: int | None = None,
        reward_clip: RewardClip = None,
        episodic_life: bool = False,
        life_loss_info: bool = False,
        num_threads: int = 0,
        autoreset: str | AutoresetMode = "next_step",
        seed: Seed = None,
        chunk_size: int = 0,
        options: Options = None,
        first: int = 0,
        count_lives: bool = False,
    ) -> None: ...
    def close(self) -> None: ...
    def seed(self, seed: Seed = None, mask: Mask | None = None, anew: bool = False) -> None: ...
    def over(self) -> Flags: ...
