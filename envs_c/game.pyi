from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

class Option(NamedTuple):
    default: float
    low: float
    high: float
    help: str
    integer: bool = True
    @property
    def span(self) -> str: ...
    def check(self, game: str, name: str, value: object) -> float: ...

class Feature(NamedTuple):
    name: str
    low: float
    high: float
    count: int = 1  # type: ignore[assignment]  # tuple has a method of this name
    help: str = ""

class TwoPlayers(NamedTuple):
    both: Mapping[str, float]
    opponents: Mapping[str, Mapping[str, float]]

class Game:
    name: Final[str]
    title: Final[str]
    summary: Final[str]
    version: Final[int]
    actions: Final[tuple[str, ...]]
    feature_shape: Final[tuple[int, ...]]
    feature_low: Final[npt.ArrayLike]
    feature_high: Final[npt.ArrayLike]
    features: Final[tuple[Feature, ...]]
    described: Final[tuple[Any, Any, Any, Any]]  # each a value, or a function of the options
    feature_dtype: Final[np.dtype[np.float32] | np.dtype[np.uint8]]
    screen: Final[tuple[int, int]]
    frame_skip: Final[int]
    fps: Final[int]
    time_limit: Final[int | None]
    options: Final[dict[str, Option]]
    two_players: Final[TwoPlayers | None]
    compared_with: Final[str]
    state_size: Final[int]
    has_mask: Final[bool]
    has_valid: Final[bool]
    has_lives: Final[bool]
    @property
    def gym_id(self) -> str: ...
    @property
    def has_ram(self) -> bool: ...
    def __init__(
        self,
        *,
        name: str,
        title: str,
        summary: str,
        version: int,
        actions: Sequence[str] | Callable[[dict[str, float]], Sequence[str]],
        feature_shape: Sequence[int] | Callable[[dict[str, float]], Sequence[int]],
        feature_dtype: str = "float32",
        feature_low: npt.ArrayLike | Callable[[dict[str, float]], npt.ArrayLike] = ...,
        feature_high: npt.ArrayLike | Callable[[dict[str, float]], npt.ArrayLike] = ...,
        screen: tuple[int, int] = (160, 210),
        frame_skip: int = 1,
        time_limit: int | None = None,
        options: Mapping[str, Option] | None = None,
        fps: int = 60,
        two_players: TwoPlayers | None = None,
        features: Sequence[Feature] = (),
        compared_with: str = "",
    ) -> None: ...
    def describe(self, options: dict[str, float]) -> tuple[tuple[str, ...], tuple[int, ...], npt.ArrayLike, npt.ArrayLike]: ...
    def check_options(self, given: Mapping[str, float]) -> dict[str, float]: ...
