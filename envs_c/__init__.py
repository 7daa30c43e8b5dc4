"""Fast arcade games for reinforcement learning: Cython rules, OpenMP threads, Gymnasium's vector interface.

    >>> import envs_c
    >>> env = envs_c.make("breakout", num_envs=64, seed=1)
    >>> observation, info = env.reset()
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`games()` lists the names, `make` explains every setting, and each game is registered with Gymnasium as
"Arcade/TITLE-v0": `gymnasium.make_vec("envs_c:Arcade/Breakout-v0", num_envs=64)`. `VecEnv` is the core beneath, for
those who bring their own buffers. Needs NumPy and Gymnasium only.
"""

from envs_c.catalog import built_in, game, games, load, make, register
from envs_c.errors import Closed, CompileFailed, ContractError, EnvsError, InvalidArgument, InvalidState, NotReset, UnknownGame
from envs_c.vecenv import Batch, VecEnv

__version__ = "0.1.0"

__all__ = ["Batch", "Closed", "CompileFailed", "ContractError", "EnvsError", "InvalidArgument", "InvalidState", "NotReset",
           "UnknownGame", "VecEnv", "__version__", "game", "games", "load", "make", "register"]

for _name in built_in():
    register(game(_name))
