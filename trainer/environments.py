"""The environments of a run, made from its settings: our own games, or any Gymnasium environment named "gym:ID"."""

import contextlib
import importlib.util
import itertools

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv

import envs_c
from bridge.gymnasium_source import GymnasiumSource
from bridge.on_device.cartpole import CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors
from bridge.source import GameSource
from envs_c import install
from trainer.config import EnvConfig
from trainer.config.games import GameName, find_game
from trainer.config.preset import Spaces
from trainer.errors import ConfigError, SettingError

SETTINGS = ("view", "frame_skip", "sticky", "noop_max", "time_limit")  # only for our own games
SIMULATIONS = {"device": CartPoleKernel, "tensors": CartPoleTensors}   # by value of the setting `sim`, except host
# For ale-py's vector environments: single frames, since the trainer stacks them, and raw rewards, since it clips them.
ATARI = {"stack_num": 1, "reward_clipping": False}
PICTURE = 36           # least height and width of a picture
SEED_OFFSET = 1 << 62  # added to a run's seed for its evaluations
# The same for Gymnasium, whose environment i gets seed + i. ALE's seeds have 31 bits, so seeds start below GYM_SEEDS.
GYM_OFFSET, GYM_SEEDS = 1 << 30, (1 << 31) - (1 << 20)
GYM_RATE = 15          # steps per second of Gymnasium's environments: a console's 60 frames, four per step


def make_env(game: str, env: EnvConfig, num_envs: int, seed: int, first: int = 0) -> envs_c.VecEnv:
    """Environments of one of our games.

    num_envs: number of environments, in place of env.num_envs.
    first: number of the first environment, if these are a part of the run's environments.
    """
    return envs_c.VecEnv(find_game(game), num_envs, view=env.view, frame_skip=env.frame_skip, sticky=env.sticky,
                         noop_max=env.noop_max, time_limit=env.time_limit, reward_clip=env.reward_clip,
                         num_threads=env.num_threads, seed=seed, options=env.options, first=first)


def make_source(game: str, env: EnvConfig, num_envs: int, seed: int, num_batches: int = 1, first: int = 0):
    """The bridge's source of environments of any game. num_envs, first: as in `make_env`.

    num_batches: number of batches for Gymnasium's environments; the pipeline divides our own games into batches.
    Raises ConfigError if a Gymnasium environment is unknown or unsuitable, or if a setting does not apply to it.
    """
    name = GameName.parse(game)
    if not name.is_gym:
        return GameSource(make_env(game, env, num_envs, seed, first))
    changed = _changed(env, SETTINGS)
    if changed:
        raise ConfigError(f"{' and '.join(changed)} cannot be set for {game}: only our own games have these settings; leave "
                          "them out, or pass the environment's own options with --options")
    edges, made = [num_envs * k // num_batches for k in range(num_batches + 1)], []
    with contextlib.ExitStack() as failed:
        for lo, hi in itertools.pairwise(edges):
            made.append(make_gymnasium(name, hi - lo, env.options))
            failed.callback(made[-1].close)
        try:
            source = GymnasiumSource(made, env.reward_clip, seed + first, owned=True)
        except ValueError as error:
            raise ConfigError(f"{game}: {error}") from None
        failed.pop_all()
    return source


def spaces_of(game: str, env: EnvConfig) -> Spaces:
    """What decides the preset of an environment of Gymnasium. Raises ConfigError as `make_source`."""
    with contextlib.closing(make_source(game, env, 1, 0)) as source:
        shape, numbers = source.observation_shape, source.observation_dtype == "float32"
        pictures = len(shape) in (2, 3) and min(shape[-2:]) >= PICTURE
        return Spaces("pictures" if pictures else "continuous" if source.action_space.kind == "box" else "discrete",
                      numbers and not pictures)


def make_simulation(game: str, env: EnvConfig, num_envs: int, seed: int, device: torch.device, first: int = 0):
    """Environments simulated on the device itself. num_envs, first: as in `make_env`.

    Raises ConfigError for a game or a setting without a simulation, and for sim "device" without a GPU.
    """
    changed = _changed(env, ("view", "frame_skip", "noop_max", "options"))
    if game != "cartpole" or changed:
        raise SettingError("sim", f"must be host for {game}{' with ' + ' and '.join(changed) if changed else ''}, not "
                                  f"{env.sim!r}: only cartpole has a simulation, with the settings time_limit, reward_clip and "
                                  "sticky")
    if env.sim == "device" and device.type != "cuda":
        raise SettingError("sim", f"must be host or tensors on the device {device}, not 'device': its kernel needs a GPU")
    return SIMULATIONS[env.sim](num_envs, device, seed, time_limit=env.time_limit, reward_clip=env.reward_clip,
                                sticky=env.sticky, first=first)


def make_gymnasium(name: GameName, num_envs: int, options: dict[str, float]) -> VectorEnv:
    """A vector environment of Gymnasium. options: keyword arguments of the environment."""
    if name.is_ale and importlib.util.find_spec("ale_py"):
        import ale_py
        gymnasium.register_envs(ale_py)
    try:
        spec = gymnasium.spec(name.gym_id)
        given = {**(ATARI if str(spec.vector_entry_point).startswith("ale_py.vector_env") else {}),
                 **{key: int(value) if float(value).is_integer() else value for key, value in options.items()}}
        return gymnasium.make_vec(name.gym_id, num_envs, **given)
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        hint = f" (ALE's games need ale-py: {install.hint('oracle')})" if name.is_ale else ""
        raise ConfigError(f"gymnasium.make_vec({name.gym_id!r}) failed: {error}{hint}") from None


def episode_seed(game: str, seed: int) -> int:
    """The seed for an evaluation's environments: its episodes differ from those of a training with the same seed."""
    return (seed + GYM_OFFSET) % GYM_SEEDS if GameName.parse(game).is_gym else seed + SEED_OFFSET


def resumed_seed(seed: int, step: int) -> int:
    """The seed of Gymnasium's environments in a run with `seed` that is resumed at `step`.

    They cannot be saved, so they begin new episodes: other ones than at the start, and others at each step. Resuming twice at
    the same step gives the same episodes.
    """
    return int(np.random.SeedSequence((seed, step)).generate_state(1)[0]) % GYM_SEEDS


def rate_of(source) -> float:
    """Steps per second at the normal speed of a source's game."""
    return source.env.game.fps / source.env.frame_skip if source.saves else GYM_RATE


def observation_scale(source) -> float:
    """The factor for observations: bytes are scaled to 0 .. 1; float32 features are scaled by the game."""
    if source.observation_dtype != "uint8":
        return 1.0
    env = getattr(source, "env", None)
    highest = 255.0 if env is None or env.view == "pixels" else float(np.max(env.feature_high))
    return 1.0 / min(highest, 255.0)


def _changed(env: EnvConfig, names: tuple[str, ...]) -> list[str]:
    """The settings among `names` with values other than the defaults."""
    default = EnvConfig()
    return [name for name in names if getattr(env, name) != getattr(default, name)]
