"""The games by name: `games()`, `game(name)`, `load(path)`, `make(name, ...)`, and their ids in Gymnasium's registry."""

import contextlib
import functools
import importlib
import inspect
import os
import pkgutil
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

import gymnasium
from gymnasium.envs.registration import registry
from gymnasium.wrappers import RenderCollection

from envs_c import outside
from envs_c.console import cartridges
from envs_c.engine import checks
from envs_c.errors import ContractError, EnvsError, InvalidArgument, UnknownGame, UnknownSetting, did_you_mean
from envs_c.game import Game
from envs_c.gymnasium_env import ArcadeEnv, ArcadeVectorEnv, MaskedArcadeEnv, ale

PACKAGE = importlib.import_module("envs_c.games")  # the folder; the name `games` is the function below
GROUP = "envs_c.games"  # of entry points, by which installed packages offer games
SYNONYMS = {"max_episode_steps": "time_limit", "stack_num": "frame_stack", "n_stack": "frame_stack",
            "grayscale_newaxis": "keepdim"}  # names that other packages give to settings, too different for did_you_mean
_registered = {}  # name -> Game, without the built-in games


@functools.cache
def built_in() -> tuple[str, ...]:
    """The names of the games in envs_c/games."""
    return tuple(module.name for module in pkgutil.iter_modules(PACKAGE.__path__))


def installed() -> dict:
    """The entry points of games in other installed packages, by name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def games() -> tuple[str, ...]:
    """The names of all games, sorted: the built-in ones, those of installed packages, and those registered here."""
    return tuple(sorted({*built_in(), *installed(), *_registered}))


def game(name: str):
    """The `Game` of that name.

    name: one of `games()`; a path to a .pyx, which is loaded; or atari:NAME or atari:PATH.bin, a cartridge of the user's for
        the console.
    Raises UnknownGame, which suggests the most similar name, and ContractError if an installed package's game cannot be
    imported.
    """
    name = os.fspath(name) if isinstance(name, os.PathLike) else name
    if isinstance(name, str) and name.endswith(".pyx"):
        return load(name)
    if isinstance(name, str) and name.startswith(cartridges.PREFIX):
        return cartridges.cartridge(name)
    if not isinstance(name, str):
        raise UnknownGame(f"unknown game {checks.shown(name)}: a name must be a str. The games are {', '.join(games())}")
    if name in _registered:
        return _registered[name]
    if name not in built_in() and name in installed():
        return _installed_game(name)
    if name == cartridges.ANY:
        return cartridges.cartridge(name)  # which says how one is named
    if name not in built_in():
        hint = hint_of(name) or did_you_mean(name, games())
        hint = " ".join(filter(None, [hint, f"The games are {', '.join(games())}"]))
        raise UnknownGame(f"unknown game {checks.shown(name)}: {hint}")
    return _built_in_game(name)


def _installed_game(name: str):
    point = installed()[name]
    try:
        loaded = point.load()
    except EnvsError:
        raise
    except Exception as error:
        raise ContractError(f"game {name!r} of an installed package cannot be imported from {point.value}: "
                            f"{type(error).__name__}: {error}; install that package again, or remove it") from error
    if isinstance(loaded, Game) and loaded.name != name:
        raise ContractError(f"game {name!r} of an installed package must have its entry point's name, not {loaded.name!r}: "
                            f"in that package's setup.py, write the line {loaded.name} = {point.value}")
    register(loaded)
    return loaded


def _built_in_game(name: str):
    return importlib.import_module(f"{PACKAGE.__name__}.{name}").GAME


def hint_of(name: str) -> str:
    """A hint for a name that is no game's: how the cartridge or the file that it names is written; empty if there is none."""
    if name in cartridges.table():
        return f"the console plays a cartridge of this name, {cartridges.PREFIX}{name}."
    with contextlib.suppress(OSError, ValueError):  # the name is none that a file can have
        if cartridges.names_a_file(name) and Path(name).is_file():
            return f"the console plays this file as {cartridges.PREFIX}{name}."
    return outside.hint_of_path(name)


def load(path):
    """Compile the game at `path`, a .pyx, unless the cache holds it, and register it. Returns its `Game`.

    Then `make`, Gymnasium and the trainer find it by its name. Raises the errors of `envs_c.outside.load` and
    `register`.
    """
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise InvalidArgument(f"a game's path must be a str or Path without NUL characters, not {checks.shown(path)}")
    loaded = outside.load(path)
    register(loaded)
    return loaded


def make(name: str, num_envs: int = 1, *, view: str = "features", picture_size=None, frame_skip=None, frame_stack: int = 1,
         keepdim: bool = False, sticky: float = 0.0, noop_max: int = 0, time_limit: int | None = None, reward_clip=None,
         episodic_life: bool = False, life_loss_info: bool = False, num_threads: int = 0, autoreset="next_step", seed=None,
         copy: bool = True, render_mode=None, **options) -> ArcadeVectorEnv:
    """Make N environments of a game as one `gymnasium.vector.VectorEnv`.

    name: one of `games()`, a path to a game's .pyx, or atari:NAME or atari:PATH.bin, a cartridge for the console.
    num_envs: N, the number of environments.
    view: "features", the game's compact vector; "pixels", an (84, 84) uint8 grey picture; "rgb", the screen in colour,
        (height, width, 3) uint8; "both", a dict of "features" and "pixels"; or "ram", the RAM of a cartridge, (128,) uint8.
    picture_size: of the pictures, an integer for squares or (height, width), up to 1,024; None is the size above.
    frame_skip: frames of a step, with the action repeated; (low, high) for a random number from low to high - 1; None is the
        game's default.
    frame_stack: k > 1 adds an axis after N with the newest k observations, oldest first; those from before the episode's
        start are zeros.
    keepdim: True gives grey pictures an axis of one channel, (84, 84, 1), which VecFrameStack of stable-baselines3 stacks.
    sticky: probability, for each frame, that the previous frame's action is repeated instead (Machado et al., 2018).
    noop_max: each episode begins with 1 .. noop_max frames of NOOP, a random number; 0 is none.
    time_limit: steps after which an episode is truncated; None is the game's default (500 for CartPole), 0 is no limit.
    reward_clip: None, c for rewards clipped to [-c, c], or (low, high). Episode returns are not clipped.
    episodic_life: True ends an episode, and resets the game, when a life is lost.
    life_loss_info: True reports a lost life as terminated, while the game and the episode go on.
    num_threads: the most threads to step with; 0 is one for each core. A call has all of them or one, as
        measured times decide.
    autoreset: "next_step", "same_step" or "disabled", or Gymnasium's AutoresetMode.
    seed: for resets without a seed of their own; None is a seed from the operating system.
    copy: True returns arrays that no later call changes while somebody has them, False the same arrays, which the next step
        overwrites.
    render_mode: None or "rgb_array", with which `render()` returns pictures, or "human": a window shows the first 16
        environments at the game's own rate.
    options: the game's own options; `game(name).options` has their ranges. ALE's names are known too: frameskip,
        repeat_action_probability, obs_type, full_action_space, mode, difficulty and max_num_frames_per_episode
        (envs_c/gymnasium_env/ale.py). A cartridge may have `rom`, the path of its file; the name "atari" needs it.

    Raises UnknownGame, InvalidArgument, or UnknownSetting, which is a TypeError too and suggests the most similar name.
    """
    settings = {"view": view, "picture_size": picture_size, "frame_skip": frame_skip, "frame_stack": frame_stack,
                "keepdim": keepdim, "sticky": sticky, "noop_max": noop_max, "time_limit": time_limit,
                "reward_clip": reward_clip, "episodic_life": episodic_life, "life_loss_info": life_loss_info,
                "num_threads": num_threads, "autoreset": autoreset, "seed": seed, "copy": copy, "render_mode": render_mode}
    return _made(name, num_envs, settings, options, "make")


def make_for(maker: str, more: Sequence[str], name: str, num_envs: int, **given) -> ArcadeVectorEnv:
    """As `make`, for the function `maker` that has `more` settings: the error about an unknown one names these."""
    defaults = {one.name: one.default for one in inspect.signature(make).parameters.values() if one.kind is one.KEYWORD_ONLY}
    settings = {setting: given.pop(setting, default) for setting, default in defaults.items()}
    return _made(name, num_envs, settings, given, maker, more)


def _made(name: str, num_envs: int, settings: dict, options: dict, maker: str, more: Sequence[str] = ()) -> ArcadeVectorEnv:
    chosen = cartridge_at(name, options.pop("rom")) if "rom" in options and takes_rom(name) else game(name)
    ale.translate(chosen, settings, options)
    check_names(chosen, options, maker, more)
    return ArcadeVectorEnv(chosen, num_envs, options=options, **settings)


def takes_rom(name) -> bool:
    """True if the setting `rom` is for this name."""
    return isinstance(name, str) and (name == cartridges.ANY or name.startswith(cartridges.PREFIX))


def cartridge_at(name: str, rom):
    """The `Game` of a cartridge whose file is given. rom: its path, or None to look for it."""
    if rom is not None and not (isinstance(rom, (str, os.PathLike)) and isinstance(os.fspath(rom), str)):
        raise InvalidArgument(f"rom must be the path of a cartridge, a str or Path, not {checks.shown(rom)}")
    return cartridges.cartridge(name, None if rom is None else os.fspath(rom))


def check_names(game: Game, options: dict, maker: str, more: Sequence[str] = ()):
    """Raise UnknownSetting if one of `options`, the arguments that are no settings, is no option of the game.

    maker: the function with these arguments.
    more: its settings that `make` does not have.
    """
    for name in options:
        if name not in game.options:
            known = [setting for setting in inspect.signature(make).parameters if setting not in ("name", "options")]
            known[1:1] = more  # behind num_envs
            similar = SYNONYMS.get(name, "")
            hint = f"did you mean {similar}?" if similar in known else did_you_mean(name, [*known, *game.options], 0.6)
            if name == "options":
                named = ", ".join(f"{one}={checks.shown(value)}" for one, value in checks.mapping(name, options[name]).items())
                hint = f"pass the options of a game by name, as in {maker}({game.name!r}, {named or 'NAME=VALUE'})."
            own = f"the options of {game.name} are {', '.join(game.options)}" if game.options else f"{game.name} has no options"
            raise UnknownSetting(" ".join(filter(None, [
                f"{maker}() got an unexpected keyword argument {checks.shown(name)}:", hint,
                f"The settings are {', '.join(known)}; {own}"])))


def make_vector(name: str, num_envs: int = 1, render_mode=None, **settings) -> ArcadeVectorEnv:
    """Called by `gymnasium.make_vec` for the ids of the games."""
    return make(name, num_envs, render_mode=render_mode, **settings)


def make_single(name: str, render_mode=None, **settings) -> ArcadeEnv | RenderCollection:
    """Called by `gymnasium.make` for the ids of the games. With render_mode "rgb_array_list", `render` gives all frames."""
    for setting in ("num_envs", "autoreset"):
        if setting in settings:
            raise InvalidArgument(f"{setting} must be left out, not {checks.shown(settings[setting])}: gymnasium.make gives "
                                  "one environment that its caller resets; use gymnasium.make_vec for more")
    if settings.get("life_loss_info"):
        raise InvalidArgument(f"life_loss_info must be False, not {checks.shown(settings['life_loss_info'])}: gymnasium.make "
                              "gives one environment, whose caller resets it after a lost life, which begins a new game; use "
                              "gymnasium.make_vec, or episodic_life")
    collected = isinstance(render_mode, str) and render_mode == "rgb_array_list"
    shown = "rgb_array" if collected else render_mode
    vector = make(name, 1, autoreset="disabled", render_mode=shown, **settings)
    env = (MaskedArcadeEnv if vector.game.has_mask else ArcadeEnv)(vector, shown)
    return RenderCollection(env) if collected else env


def register(game) -> str:
    """Make a game known by its name, here and in Gymnasium's registry. Returns its Gymnasium id, Arcade/TITLE-v0.

    A package with games of its own calls this when it is imported. A second registration of a name replaces the first one.
    Raises InvalidArgument if it is no described `Game`, if a built-in game has this name or another game this title, or if an
    option has the name of a setting of `make`.
    """
    if not isinstance(game, Game) or not game.name:
        raise InvalidArgument(f"game must be a Game(...) with a name, not {checks.shown(game)}")
    if game.name in built_in() and _built_in_game(game.name) is not game:
        raise InvalidArgument(f"game {game.name!r} has the name of a built-in game; choose another name")
    if taken := sorted({*game.options} & _settings()):
        raise InvalidArgument(f"game {game.name!r} has an option {taken[0]!r}, which is a setting of make; choose another name")
    name = game.gym_id
    other = registry[name].kwargs.get("name") if name in registry else game.name
    if other != game.name:
        raise InvalidArgument(f"game {game.name!r} has the title {game.title!r}, which the game {other!r} has already; choose "
                              "another title")
    if game.name not in built_in():
        _registered[game.name] = game
    if name not in registry:
        known = game.name if game.name in built_in() else _Name(game.name)
        gymnasium.register(id=name, entry_point="envs_c.catalog:make_single",
                           vector_entry_point="envs_c.catalog:make_vector", kwargs={"name": known})
    return name


def _settings() -> set[str]:
    """The names of the settings of `make`, here and in Gymnasium: an option of such a name would never get its value."""
    return {"rom", *SYNONYMS, *(name for function in (make, gymnasium.make, gymnasium.make_vec)
                                for name in inspect.signature(function).parameters)}


class _Name(str):
    """The name of a registered game in Gymnasium's registry. A process that reads it from a pickle registers the game too.

    So `gymnasium.make_vec(..., vectorization_mode="async")` finds it also in processes that are spawned or come from a fork
    server.
    """

    def __reduce__(self):
        return _known, (game(str(self)),)

    def __deepcopy__(self, memo):
        return self


def _known(loaded) -> _Name:
    register(loaded)
    return _Name(loaded.name)


def register_cartridges():
    """Make the cartridges of the table known in Gymnasium's registry. Their files are looked for when they are made."""
    for gym_id, name in cartridges.ids().items():
        gymnasium.register(id=gym_id, entry_point="envs_c.catalog:make_single",
                           vector_entry_point="envs_c.catalog:make_vector", kwargs={"name": name})
