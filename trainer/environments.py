"""What a run plays, made from its config: our games, or any Gymnasium environment that is named "gym:ID"."""

import importlib.util
import itertools

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv

import envs_c
from bridge.on_device.cartpole import CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors
from bridge.source import GameSource, GymnasiumSource
from trainer.config import EnvConfig
from trainer.config.config import GYM
from trainer.errors import ConfigError

SETTINGS = ("view", "frame_skip", "sticky", "noop_max", "time_limit")  # of our own games alone
# ale-py's vector environments: single frames, since the trainer stacks them, and raw rewards, since it clips them.
ATARI = {"stack_num": 1, "reward_clipping": False}


def make_env(game: str, env: EnvConfig, num_envs: int, seed: int, first: int = 0) -> envs_c.VecEnv:
    """`num_envs` environments of one of our games, as a config describes them; `first` is the number of the first one."""
    return envs_c.VecEnv(envs_c.game(game), num_envs, view=env.view, frame_skip=env.frame_skip, sticky=env.sticky,
                         noop_max=env.noop_max, time_limit=env.time_limit, reward_clip=env.reward_clip,
                         num_threads=env.num_threads, seed=seed, options=env.options, first=first)


def make_source(game: str, env: EnvConfig, num_envs: int, seed: int, num_batches: int = 1, first: int = 0):
    """The bridge's source of `num_envs` environments, in `num_batches` batches where they are Gymnasium's; `first` is the
    number of the first one, where they are a part of more that share a seed.

    Raises ConfigError where a Gymnasium environment is unknown or cannot be driven, or a setting does not apply to it.
    """
    if not game.startswith(GYM):
        return GameSource(make_env(game, env, num_envs, seed, first))
    default = EnvConfig()
    changed = [name for name in SETTINGS if getattr(env, name) != getattr(default, name)]
    if changed:
        raise ConfigError(f"{' and '.join(changed)}: settings of this suite's games, not of {game}; leave them out, or hand "
                          "the environment options of its own with --options")
    edges = [num_envs * k // num_batches for k in range(num_batches + 1)]
    made = [make_foreign(game, hi - lo, env.options) for lo, hi in itertools.pairwise(edges)]
    try:
        return GymnasiumSource(made, env.reward_clip, seed + first)
    except ValueError as error:
        raise ConfigError(f"{game}: {error}") from None


def make_simulation(game: str, env: EnvConfig, num_envs: int, seed: int, device: torch.device, first: int = 0):
    """`num_envs` environments on the device itself. Raises ConfigError for what it has not, DeviceError without a GPU."""
    default = EnvConfig()
    settings = ("view", "frame_skip", "noop_max", "options")
    changed = [name for name in settings if getattr(env, name) != getattr(default, name)]
    if game != "cartpole" or changed:
        raise ConfigError(f"sim is {env.sim!r}, which plays cartpole with the settings time_limit, reward_clip and sticky; not "
                          f"{game}{' with ' + ' and '.join(changed) if changed else ''}: use --sim host")
    made = {"device": CartPoleKernel, "tensors": CartPoleTensors}[env.sim]
    return made(num_envs, device, seed, time_limit=env.time_limit, reward_clip=env.reward_clip, sticky=env.sticky,
                     first=first)


def make_foreign(game: str, num_envs: int, options: dict) -> VectorEnv:
    """A Gymnasium vector environment for "gym:ID"."""
    name = game.removeprefix(GYM)
    if name.startswith("ALE/") and importlib.util.find_spec("ale_py"):
        import ale_py
        gymnasium.register_envs(ale_py)
    try:
        spec = gymnasium.spec(name)
        given = {**(ATARI if str(spec.vector_entry_point).startswith("ale_py.vector_env") else {}),
                 **{key: int(value) if float(value).is_integer() else value for key, value in options.items()}}
        return gymnasium.make_vec(name, num_envs, **given)
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        hint = " (ALE's games need ale-py: pip install 'insertcoin[oracle]')" if name.startswith("ALE/") else ""
        raise ConfigError(f"gymnasium.make_vec({name!r}) says: {error}{hint}") from None


def observation_scale(source) -> float:
    """What observations are multiplied by: bytes come to 0 .. 1, float32 features are scaled by their maker."""
    if source.observation_dtype != "uint8":
        return 1.0
    env = getattr(source, "env", None)
    highest = 255.0 if env is None or env.view == "pixels" else float(np.max(env.feature_high))
    return 1.0 / min(highest, 255.0)
