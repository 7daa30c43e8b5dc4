"""The games by name: `games()`, `game(name)`, `make(name, ...)`, and their ids in Gymnasium's registry."""

import importlib
import pkgutil

import gymnasium
from gymnasium.envs.registration import registry

from envs_c import checks
from envs_c.errors import UnknownGame
from envs_c.gymnasium_env import ArcadeVectorEnv

PACKAGE = importlib.import_module("envs_c.games")  # the folder; in `envs_c` itself that name is the function below


def games() -> tuple[str, ...]:
    """The names of all games, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(PACKAGE.__path__)))


def game(name: str):
    """The `Game` of that name; raises UnknownGame with the nearest name where there is none."""
    if name not in games():
        raise UnknownGame(f"unknown game {name!r}{checks.nearest(name, games())} Games: {', '.join(games())}")
    return importlib.import_module(f"envs_c.games.{name}").GAME


def make(name: str, num_envs: int = 1, *, view: str = "features", frame_skip: int | None = None, frame_stack: int = 1,
         sticky: float = 0.0, noop_max: int = 0, time_limit: int | None = None, reward_clip=None, num_threads: int = 0,
         autoreset="next_step", seed=None, copy: bool = True, **options) -> ArcadeVectorEnv:
    """`num_envs` environments of a game as one `gymnasium.vector.VectorEnv`.

    name: one of `games()`.
    num_envs: N, how many environments.
    view: "features", the game's compact vector, or "pixels", (84, 84) uint8 grey.
    frame_skip: frames a step, the action held; None is the game's own default.
    frame_stack: k > 1 puts the newest k observations in a new axis after N, oldest first; those before the episode's
        start are zeros.
    sticky: probability, for every frame, that the previous frame's action is repeated instead.
    noop_max: 1 .. noop_max frames of NOOP, drawn anew, open each episode; 0 none.
    time_limit: steps after which an episode is truncated; None is the game's own (CartPole's 500), 0 none.
    reward_clip: None, c for rewards clipped to [-c, c], or (low, high). Episode returns stay raw.
    num_threads: threads to step with; 0 is one a core.
    autoreset: "next_step", "same_step" or "disabled", or Gymnasium's AutoresetMode.
    seed: for resets without a seed of their own; None is the system's entropy.
    copy: False hands out the arrays that the next step overwrites, True fresh ones.
    options: the game's own numbers (`game(name).options` has their ranges).

    Raises UnknownGame, or InvalidArgument with what is wrong.
    """
    return ArcadeVectorEnv(game(name), num_envs, view=view, frame_skip=frame_skip, frame_stack=frame_stack,
                           sticky=sticky, noop_max=noop_max, time_limit=time_limit, reward_clip=reward_clip,
                           num_threads=num_threads, autoreset=autoreset, seed=seed, copy=copy, options=options)


def register(game) -> str:
    """Enter a game in Gymnasium's registry; returns its id, Arcade/TITLE-v0. Doing so again changes nothing."""
    name = f"Arcade/{game.title}-v0"
    if name not in registry:
        gymnasium.register(id=name, entry_point="envs_c.gymnasium_env:make_single",
                           vector_entry_point="envs_c.gymnasium_env:make_vector", kwargs={"name": game.name})
    return name
