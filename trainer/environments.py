"""The environments of a run, made from its settings: our own games, or any Gymnasium environment (see config/games.py)."""

import contextlib
import importlib.util
import inspect
import itertools
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

import envs_c
from bridge.errors import raised
from bridge.gymnasium_checks import check_spaces
from bridge.gymnasium_named import PIPE_ERRORS, NamedEnv, close
from bridge.gymnasium_source import GymnasiumSource
from bridge.on_device.cartpole import CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors
from bridge.on_device.games import DeviceGame
from bridge.source import GameSource
from envs_c import install
from envs_c.numbers import is_number
from envs_c.views import VIEWS, names
from trainer import imports
from trainer.config import EnvConfig
from trainer.config.fields import choices
from trainer.config.games import GameName, find_game, load_environments
from trainer.config.preset import Spaces
from trainer.errors import ConfigError, SettingError, TrainerError

SETTINGS = ("view", "frame_skip", "sticky", "noop_max", "time_limit", "life_loss_info")  # only for our own games
GYM_SETTINGS = ("vectorization", "wrap")  # only for Gymnasium's environments
SIMULATIONS = {"device": CartPoleKernel, "tensors": CartPoleTensors}  # by value of the setting `sim`, except host
# For ale-py's vector environments: single frames, since the trainer stacks them, and raw rewards, since it clips them.
ATARI = {"stack_num": 1, "reward_clipping": False}
PICTURE = 36           # least height and width of a picture
SEED_OFFSET = 1 << 62  # added to a run's seed for its evaluations
# The same for Gymnasium, whose environment i gets seed + i. ALE's seeds have 31 bits, so reduced seeds start below GYM_SEEDS.
GYM_OFFSET, GYM_SEEDS = 1 << 30, (1 << 31) - (1 << 20)
GYM_RATE = 15          # steps per second of an environment without `render_fps`: a console's 60 frames, four per step


def make_env(game: GameName, env: EnvConfig, num_envs: int, seed: int, first: int = 0) -> envs_c.VecEnv:
    """Environments of one of our games.

    num_envs: number of environments, in place of env.num_envs.
    first: number of the first environment, if these are a part of the run's environments.

    Raises SettingError for a view that the game does not have, and for a setting that does not fit the game.
    """
    if VIEWS[env.view].of_ram and not game.is_cartridge:
        others = choices(names(lambda view: view.trained and not view.of_ram))
        raise SettingError("view", f"must be {others} for {game}, not {env.view!r}: only a cartridge of the console has a RAM")
    chosen = find_game(game)
    try:
        return envs_c.VecEnv(chosen, num_envs, num_threads=env.num_threads, seed=seed, first=first, **_of_own_games(env))
    except envs_c.InvalidArgument as error:
        name, _, problem = str(error).partition(" ")
        if name not in SETTINGS:
            raise
        raise SettingError(name, problem) from None  # the command line names the option


def _of_own_games(env: EnvConfig) -> dict[str, Any]:
    """The settings that our own games take on the CPU and on a device."""
    return {name: getattr(env, name) for name in (*SETTINGS, "reward_clip", "options")}


def make_source(game: GameName, env: EnvConfig, num_envs: int, seed: int, num_batches: int = 1, first: int = 0):
    """The bridge's source of environments of any game. num_envs, first: as in `make_env`.

    num_batches: number of batches for Gymnasium's environments; the pipeline divides our own games into batches.
    Raises ConfigError if a Gymnasium environment is unknown or unsuitable, or if a setting does not apply to it.
    """
    if not game.is_gym:
        if changed := _changed(env, GYM_SETTINGS):
            raise SettingError(" and ".join(changed), f"must be left out for {game}: it is for environments of Gymnasium")
        return GameSource(make_env(game, env, num_envs, seed, first))
    changed = _changed(env, SETTINGS)
    if changed:
        raise SettingError(" and ".join(changed), f"must be left out for {game}: only our own games have this; --options "
                                                  "passes an environment's own options")
    edges, made = [num_envs * k // num_batches for k in range(num_batches + 1)], []
    with contextlib.ExitStack() as failed:
        for lo, hi in itertools.pairwise(edges):
            made.append(make_gymnasium(game, hi - lo, env))
            failed.callback(made[-1].close)
        try:
            source = GymnasiumSource(made, env.reward_clip, _gym_seed(seed, first + num_envs) + first, owned=True,
                                     plain=env.observations == "plain")
        except ValueError as error:
            raise ConfigError(f"{game.short}: {error}") from None
        failed.pop_all()
    return source


def spaces_of(game: GameName, env: EnvConfig) -> Spaces:
    """The facts that decide the preset of an environment of Gymnasium. Raises ConfigError as `make_source`."""
    with contextlib.closing(make_source(game, env, 1, 0)) as source:
        shape, numbers = source.observation_shape, source.observation_dtype == "float32"
        pictures = len(shape) in (2, 3) and min(shape[-2:]) >= PICTURE
        return Spaces("pictures" if pictures else "continuous" if source.action_space.kind == "box" else "discrete",
                      numbers and not pictures)


def make_simulation(game: GameName, env: EnvConfig, num_envs: int, seed: int, device: torch.device, first: int = 0):
    """Environments simulated on the device itself. num_envs, first: as in `make_env`.

    Raises ConfigError for a game or a setting without a simulation, and for sim "device" without a GPU.
    """
    changed = _changed(env, ("view", "frame_skip", "noop_max", "life_loss_info", "options"))
    others = game != "cartpole" or bool(changed)
    if game.is_gym:
        raise SettingError("sim", f"must be host for {game}, not {env.sim!r}: only our own games are played on the device")
    if env.sim == "tensors" and others:
        given = f" with {' and '.join(changed)}" if changed else ""
        raise SettingError("sim", f"must be host or device for {game}{given}, not 'tensors': only cartpole is simulated in "
                                  "tensors, with the settings time_limit, reward_clip and sticky")
    if device.type not in SIMULATIONS[env.sim].device_types:
        raise SettingError("sim", f"must be host{'' if others else ' or tensors'} on the device {device}, not 'device': its "
                                  "kernel needs a GPU")
    if others:
        return DeviceGame(find_game(game), num_envs, device, seed=seed, first=first, **_of_own_games(env))
    return SIMULATIONS[env.sim](num_envs, device, seed, time_limit=env.time_limit, reward_clip=env.reward_clip,
                                sticky=env.sticky, first=first)


def make_gymnasium(game: GameName, num_envs: int, env: EnvConfig) -> VectorEnv:
    """A vector environment of Gymnasium with the options, the wrappers and the vectorization of `env`.

    Raises ConfigError if it cannot be made.
    """
    wrappers, spec = [_wrapper(path) for path in env.wrappers], None
    try:
        spec = _spec(game)
        native = env.vectorization == "native" or (env.vectorization == "auto" and not wrappers and spec.vector_entry_point)
        if native and (wrappers or spec.vector_entry_point is None):
            reason = "with wrappers" if wrappers else f"for {game.short}, which has no vector environment of its own"
            raise SettingError("vectorization", f"must be auto, sync or async {reason}, not 'native'")
        atari = ATARI if native and str(spec.vector_entry_point).startswith("ale_py.vector_env") else {}
        kind = "vector_entry_point" if native else "async" if env.vectorization == "async" else "sync"
        named = [NamedEnv] if kind == "async" else []  # a process tells only the text of an error; sync's are named later
        made = gymnasium.make_vec(spec, num_envs, kind, wrappers=[*wrappers, *named], **{**atari, **env.keywords})
    except TrainerError:
        raise
    except (Exception, SystemExit) as error:  # of the environment's code
        raise _not_made(game, env, spec and spec.entry_point, error) from error
    if getattr(made, "num_envs", num_envs) != num_envs:
        close(made, f"a vector environment of {game.short}")
        raise ConfigError(f"{game.short} must make as many environments as its argument num_envs says, {num_envs} here, but "
                          f"made {made.num_envs}: correct its class")
    return made


def _not_made(game: GameName, env: EnvConfig, made: Any, error: BaseException) -> ConfigError:
    """The error about an environment that cannot be made. made: its class, or what else makes it."""
    if type(error).__module__ != "builtins":
        text = str(error)
    elif isinstance(error, PIPE_ERRORS):
        text = "one of its processes ended while it was made; what it printed may say why"
    else:
        text = raised(error)
    place = imports.line_of(error, inspect.getsourcefile(made)) if inspect.isclass(made) else ""
    given = " ".join(f"{name}={value}" for name, value in env.keywords.items())
    hint = f" (ALE's games need ale-py: {install.hint('oracle')})" if game.is_ale else ""
    if missing := re.search(r"missing \d+ required [a-z-]+ arguments?: '(\w+)'", text):
        hint += f"; give it as an option, as in --options {missing[1]}=VALUE"
    given = given and f" with --options {given}"
    return ConfigError(f"{game.short} cannot be made{given}: {' '.join(text.split())}{place}{hint}")


def _spec(game: GameName) -> EnvSpec:
    """The specification of an environment; its module or file is loaded.

    Raises gymnasium.error.Error for an unknown ID, and ConfigError if a file or a module cannot be loaded or has no such name.
    """
    if game.is_ale and importlib.util.find_spec("ale_py"):
        import ale_py
        gymnasium.register_envs(ale_py)
    if game.env_file is not None:
        with imports.user_errors("game", game, "running the file", game.env_file):
            module = load_environments(game)
    elif game.env_module is not None:
        module = imports.load("game", game, game.env_module)
    else:
        return gymnasium.spec(game.gym_id)
    try:
        made = operator.attrgetter(game.env_name)(module)
    except AttributeError:
        if game.env_name in gymnasium.registry or not game.env_name.isidentifier():
            return gymnasium.spec(game.env_name)
        raise ConfigError(f"{game}: {module.__file__} has no environment {game.env_name}; it has "
                          f"{', '.join(_environments(module)) or 'no class of an environment'}") from None
    if not callable(made):
        raise ConfigError(f"{game} must be a class or a function that makes an environment, not {imports.describe(made)}")
    is_vector = isinstance(made, type) and issubclass(made, VectorEnv)
    return EnvSpec(game.env_name, **{"vector_entry_point" if is_vector else "entry_point": made})


def _environments(module: ModuleType) -> list[str]:
    """The names of the classes of environments that a module defines."""
    classes = inspect.getmembers(module, inspect.isclass)
    return [name for name, one in classes if issubclass(one, (gymnasium.Env, VectorEnv)) and one.__module__ == module.__name__]


def _wrapper(path: str) -> Callable[[gymnasium.Env], gymnasium.Env]:
    """The function of an import path, which takes an environment and returns one. Raises SettingError."""
    function = imports.find("wrap", path, (), positional=1)

    def wrapped(env: gymnasium.Env) -> gymnasium.Env:
        with imports.user_errors("wrap", path, "wrapping the environment"):
            made = function(env)
        if not isinstance(made, gymnasium.Env):
            raise SettingError("wrap", f"{path!r} must return a gymnasium.Env, not {imports.describe(made)}")
        return made
    return wrapped


def episode_seed(game: GameName, seed: int) -> int:
    """The seed for an evaluation's environments: its episodes differ from those of a training with the same seed."""
    return (seed + GYM_OFFSET) % GYM_SEEDS if game.is_gym else seed + SEED_OFFSET


def _gym_seed(seed: int, num_envs: int) -> int:
    """The seed for Gymnasium's environments: reduced if that of the last one, seed + num_envs - 1, would have over 31 bits."""
    return seed if seed + num_envs <= 1 << 31 else seed % GYM_SEEDS


def resumed_seed(seed: int, step: int) -> int:
    """The seed of Gymnasium's environments in a run with `seed` that is resumed at `step`.

    They cannot be saved, so they begin new episodes: other ones than at the start, and others at each step. Resuming twice at
    the same step gives the same episodes.
    """
    return int(np.random.SeedSequence((seed, step)).generate_state(1)[0]) % GYM_SEEDS


def rate_of(source) -> float:
    """Steps per second at the normal speed of a source's game."""
    if source.saves:
        return source.env.game.fps / source.env.frame_skip
    rate = source.envs[0].metadata.get("render_fps")
    return float(rate) if is_number(rate) and rate > 0 else GYM_RATE


def single(game: GameName, env: EnvConfig) -> EnvConfig:
    """The settings for whole episodes, such as those of an evaluation: without ends at lost lives, and with vectorization
    sync, if that plays the same game.

    An environment with a vector environment of its own is taken by itself if its spaces are the same (ALE's are not). Each of
    its episodes then depends on its seed and its actions alone, so that it can be replayed, and is not stepped after its end.
    """
    if not game.is_gym:
        return replace(env, life_loss_info=False)
    if game.is_ale or env.vectorization != "auto":
        return env
    by_itself = replace(env, vectorization="sync")
    try:
        if _spec(game).vector_entry_point is None:
            return by_itself
        with (contextlib.closing(make_gymnasium(game, 1, env)) as own,
              contextlib.closing(make_gymnasium(game, 1, by_itself)) as one):
            check_spaces(one, own.single_observation_space, own.single_action_space)
    except (gymnasium.error.Error, ValueError):
        return env  # there is none by itself, or it shows something else
    return by_itself


def observation_scale(source) -> float:
    """The factor for observations: bytes are scaled to 0 .. 1; float32 features are scaled by the game. Gymnasium's are scaled
    by the bounds of their space."""
    if isinstance(source, GymnasiumSource):
        return source.observations.scale
    if source.observation_dtype != "uint8":
        return 1.0
    env = getattr(source, "env", None)
    highest = 255.0 if env is None or VIEWS[env.view].main.dtype else float(np.max(env.feature_high))
    return 1.0 / min(highest, 255.0)


def _changed(env: EnvConfig, names: tuple[str, ...]) -> list[str]:
    """The settings among `names` with values other than the defaults."""
    default = EnvConfig()
    return [name for name in names if getattr(env, name) != getattr(default, name)]
