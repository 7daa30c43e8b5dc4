"""Types for annotations: of arguments and results of `make`, `reset` and `step`, and of the layers below."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt

# Observations, by the first axis N: (N, features), (N, planes, height, width), (N, 84, 84) or (N, height, width, 3). Under
# frame_stack=k there is an axis of k after N.
Features: TypeAlias = npt.NDArray[np.float32]
Cells: TypeAlias = npt.NDArray[np.uint8]   # features of the games in ByteGame
Pictures: TypeAlias = npt.NDArray[np.uint8]
AnyArray: TypeAlias = npt.NDArray[np.float32 | np.uint8]


class Both(TypedDict):
    """The observations of view "both"."""

    features: AnyArray
    pixels: Pictures


Observations = TypeVar("Observations")

Rewards: TypeAlias = npt.NDArray[np.float64]  # (N,)
Flags: TypeAlias = npt.NDArray[np.bool_]      # (N,)
Infos: TypeAlias = dict[str, Any]
Screen: TypeAlias = npt.NDArray[np.uint8]     # (height, width, 3)

Integers: TypeAlias = npt.NDArray[np.integer[Any]] | Sequence[SupportsIndex]
Actions: TypeAlias = Integers                 # (N,)
Mask: TypeAlias = npt.NDArray[np.bool_]       # (N,), True for the environments to step, reset or seed
Seed: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None] | npt.NDArray[np.integer[Any]] | None
RewardClip: TypeAlias = float | tuple[float, float] | None
FrameSkip: TypeAlias = int | tuple[int, int] | None
Size: TypeAlias = int | tuple[int, int] | None
Options: TypeAlias = Mapping[str, float] | None  # a game's own options, by name

Autoreset: TypeAlias = Literal["next_step", "same_step", "disabled"]
FloatGame: TypeAlias = Literal[
    "asterix", "asteroids", "breakout", "cartpole", "enduro", "freeway", "pacman", "platformer", "pong", "seaquest",
    "space_invaders", "tmaze"]
ByteGame: TypeAlias = Literal["g2048", "go", "snake", "tetris"]  # features are uint8
