"""The games by name: `games()`, `game(name)`, `load(path)`, `make(name, ...)`, and their ids in Gymnasium's registry."""

import functools
import importlib
import pkgutil
from importlib.metadata import entry_points

import gymnasium
from gymnasium.envs.registration import registry

from envs_c import checks, outside
from envs_c.errors import InvalidArgument, UnknownGame
from envs_c.gymnasium_env import ArcadeVectorEnv

PACKAGE = importlib.import_module("envs_c.games")  # the folder; in `envs_c` itself that name is the function below
_registered = {}  # name -> Game, of games from outside


@functools.cache
def built_in() -> tuple[str, ...]:
    """The names of the games in envs_c/games."""
    return tuple(module.name for module in pkgutil.iter_modules(PACKAGE.__path__))


def installed() -> dict:
    """The games of other packages, by name: their entry points in the group "envs_c.games"."""
    return {point.name: point for point in entry_points(group="envs_c.games")}


def games() -> tuple[str, ...]:
    """The names of all games, sorted: the suite's own, those of installed packages, and those registered here."""
    return tuple(sorted({*built_in(), *installed(), *_registered}))


def game(name: str):
    """The `Game` of that name, or of a path to a .pyx (which is loaded); raises UnknownGame with the nearest name else."""
    if str(name).endswith(".pyx"):
        return load(name)
    if name in _registered:
        return _registered[name]
    if name not in built_in() and name in installed():
        register(loaded := installed()[name].load())
        return loaded
    if name not in built_in():
        raise UnknownGame(f"unknown game {name!r}{checks.nearest(name, games())} Games: {', '.join(games())}")
    return importlib.import_module(f"envs_c.games.{name}").GAME


def load(path):
    """Compile the game at `path`, a .pyx, unless that was done before, and register it; returns its `Game`.

    After that `make`, Gymnasium and the trainer know it by its name. Raises as `envs_c.outside.load` and `register`.
    """
    loaded = outside.load(path)
    register(loaded)
    return loaded


def make(name: str, num_envs: int = 1, *, view: str = "features", frame_skip: int | None = None, frame_stack: int = 1,
         sticky: float = 0.0, noop_max: int = 0, time_limit: int | None = None, reward_clip=None, num_threads: int = 0,
         autoreset="next_step", seed=None, copy: bool = True, **options) -> ArcadeVectorEnv:
    """`num_envs` environments of a game as one `gymnasium.vector.VectorEnv`.

    name: one of `games()`, or a path to a game's .pyx.
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
    """Make a game known by its name, here and in Gymnasium's registry; returns its id there, Arcade/TITLE-v0.

    A package with games of its own calls this when it is imported. A game from outside that is registered again takes the
    place of the former one. Raises InvalidArgument for the name of one of the games in envs_c/games, and for another game's
    title.
    """
    if game.name in built_in() and importlib.import_module(f"envs_c.games.{game.name}").GAME is not game:
        raise InvalidArgument(f"game {game.name!r} is one of the suite's own; give yours another name")
    name = f"Arcade/{game.title}-v0"
    other = registry[name].kwargs.get("name") if name in registry else game.name
    if other != game.name:
        raise InvalidArgument(f"game {game.name!r} has the title {game.title!r}, which is that of the game {other!r} already; "
                              "give yours another title")
    if game.name not in built_in():
        _registered[game.name] = game
    if name not in registry:
        gymnasium.register(id=name, entry_point="envs_c.gymnasium_env:make_single",
                           vector_entry_point="envs_c.gymnasium_env:make_vector", kwargs={"name": game.name})
    return name
