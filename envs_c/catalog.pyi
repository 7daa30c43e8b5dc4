from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from os import PathLike
from types import ModuleType
from typing import Any, Final, Literal, overload

from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RenderCollection

from envs_c.game import Game
from envs_c.gymnasium_env import ArcadeEnv, ArcadeVectorEnv
from envs_c.types import (
    AnyArray,
    Autoreset,
    Both,
    ByteGame,
    Cells,
    Features,
    FloatGame,
    FrameSkip,
    Pictures,
    RewardClip,
    Seed,
    Size,
)

PACKAGE: Final[ModuleType]
GROUP: Final[str]
SYNONYMS: Final[dict[str, str]]

def built_in() -> tuple[str, ...]: ...
def installed() -> dict[str, EntryPoint]: ...
def games() -> tuple[str, ...]: ...
def game(name: str | PathLike[str]) -> Game: ...
def hint_of(name: str) -> str: ...
def load(path: str | PathLike[str]) -> Game: ...

# The dtype of observations depends on `view` and, for features, on the game. Each overload has all arguments, so that an
# editor shows them.
@overload
def make(  # pyright: ignore[reportOverlappingOverload]
    name: str | PathLike[str], num_envs: int = 1, *, view: Literal["pixels", "rgb"], picture_size: Size = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float,
) -> ArcadeVectorEnv[Pictures]: ...
@overload
def make(  # type: ignore[overload-overlap]  # a variable with the text "both" is not Literal["both"]
    name: str | PathLike[str], num_envs: int = 1, *, view: Literal["both"], picture_size: Size = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float,
) -> ArcadeVectorEnv[Both]: ...
@overload
def make(
    name: str | PathLike[str], num_envs: int = 1, *, view: Literal["ram"], picture_size: None = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float | str | PathLike[str],
) -> ArcadeVectorEnv[Cells]: ...
@overload
def make(
    name: FloatGame, num_envs: int = 1, *, view: Literal["features"] = "features", picture_size: Size = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float,
) -> ArcadeVectorEnv[Features]: ...
@overload
def make(
    name: ByteGame, num_envs: int = 1, *, view: Literal["features"] = "features", picture_size: Size = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float,
) -> ArcadeVectorEnv[Cells]: ...
@overload
def make(
    name: str | PathLike[str], num_envs: int = 1, *, view: str = "features", picture_size: Size = None,
    frame_skip: FrameSkip = None, frame_stack: int = 1, keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0,
    time_limit: int | None = None, reward_clip: RewardClip = None, episodic_life: bool = False, life_loss_info: bool = False,
    num_threads: int = 0, autoreset: Autoreset | AutoresetMode = "next_step", seed: Seed = None, copy: bool = True,
    render_mode: Literal["human", "rgb_array"] | None = None, **options: float | str | PathLike[str],
) -> ArcadeVectorEnv[AnyArray]: ...
def takes_rom(name: object) -> bool: ...
def cartridge_at(name: str, rom: str | PathLike[str] | None) -> Game: ...
def register_cartridges() -> None: ...
def make_vector(
    name: str, num_envs: int = 1, render_mode: str | None = None, **settings: Any
) -> ArcadeVectorEnv[Any]: ...
def make_single(
    name: str, render_mode: str | None = None, **settings: Any
) -> ArcadeEnv[Any] | RenderCollection[Any, Any]: ...
def make_for(maker: str, more: Sequence[str], name: str, num_envs: int, **given: Any) -> ArcadeVectorEnv[Any]: ...
def check_names(game: Game, options: Mapping[str, float], maker: str, more: Sequence[str] = ()) -> None: ...
def register(game: Game) -> str: ...
