"""Fast arcade games for reinforcement learning: Cython rules, OpenMP's threads, Gymnasium's vector interface.

    >>> import envs_c
    >>> env = envs_c.make("breakout", num_envs=64, seed=1)
    >>> observation, info = env.reset()
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`games()` lists the names, `make` documents every setting, and each game is registered with Gymnasium as
"Arcade/TITLE-v0": `gymnasium.make_vec("envs_c:Arcade/Breakout-v0", num_envs=64)`. `VecEnv` is the layer below, which
writes to buffers of the caller. The package needs NumPy, Gymnasium and platformdirs.
"""

from envs_c import compiled, references  # noqa: F401  the modules are there; games can be pickled
from envs_c.asynchronous import make_async
from envs_c.catalog import built_in, game, games, load, make, register, register_cartridges
from envs_c.engine.vecenv import Batch, VecEnv
from envs_c.errors import (
    Busy,
    CannotCopy,
    Closed,
    CompileFailed,
    ContractError,
    EnvsError,
    InvalidArgument,
    InvalidState,
    NoScreen,
    NotReset,
    OtherVersion,
    OutOfTurn,
    UnknownGame,
    UnknownSetting,
)

__version__ = "0.1.0"

__all__ = ["Batch", "Busy", "CannotCopy", "Closed", "CompileFailed", "ContractError", "EnvsError", "InvalidArgument",
           "InvalidState", "NoScreen", "NotReset", "OtherVersion", "OutOfTurn", "UnknownGame", "UnknownSetting", "VecEnv",
           "__version__", "game", "games", "load", "make", "make_async", "register"]

for _name in built_in():
    register(game(_name))
register_cartridges()
