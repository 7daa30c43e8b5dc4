"""Fast arcade games for reinforcement learning: Cython rules, OpenMP's threads, Gymnasium's vector interface.

    >>> import envs_c
    >>> env = envs_c.make("breakout", num_envs=64, seed=1)
    >>> observation, info = env.reset()
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`games()` lists the names, `make` documents every setting, and each game is registered with Gymnasium as
"Arcade/TITLE-v0": `gymnasium.make_vec("envs_c:Arcade/Breakout-v0", num_envs=64)`. `VecEnv` is the layer below, which
writes to buffers of the caller. The package needs NumPy, Gymnasium and platformdirs.

    game.pxd                        the contract between a game and the engine; game.pyx describes a game
    rng.pxd, screen.pxd, stamp.pxd  random numbers and drawing, for games
    engine.pyx, vecenv.pyx          states, threads, batches; painter.pyx draws the screens
    checks.py, errors.py            arguments and errors
    state.py                        the format of snapshots
    catalog.py                      games by name; outside.py, flags.py compile games from other folders
    gymnasium_env/, sb3.py          the interfaces to Gymnasium and stable-baselines3
    asynchronous/                   `make_async`: environments that threads step while Python does something else
    testing/                        the contract suite
    play/                           windows, terminals and keys for people
    new.py, template/               `python -m envs_c new`
    machine.py                      cores and CPU
    types.py, *.pyi                 types for annotations, and of the compiled modules
    install.py                      the command that installs an extra
    games/                          the built-in games
"""

from envs_c import references  # noqa: F401  games can be pickled
from envs_c.asynchronous import make_async
from envs_c.catalog import built_in, game, games, load, make, register
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
