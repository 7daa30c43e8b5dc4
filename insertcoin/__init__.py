"""Fast arcade games for reinforcement learning, and the trainer that learns them. Three uses:

    >>> import insertcoin
    >>> env = insertcoin.make("breakout", num_envs=64, seed=1)         # play: a gymnasium.vector.VectorEnv
    >>> folder = insertcoin.train("breakout", total_steps=5_000_000)   # train an agent; needs the extra "train"
    >>> insertcoin.load(folder).evaluate(episodes=100)["mean"]         # load the agent and evaluate it

`games()` lists the names for `make` and `train`. `python -m insertcoin` is the command `insertcoin`.

This package only passes on names: `make`, `games` and `__version__` of `envs_c`, `train` and `load` of `trainer`, which have
more. It imports them at the first use of a name, so `import insertcoin` loads no other package. A file of the user's with
the name of one of them, such as trainer.py, is never taken for it: see own.py.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from insertcoin.own import bind

if TYPE_CHECKING:  # for type checkers and editors: the same names
    from envs_c import __version__, games, make
    from trainer import load, train

_HOMES = {"__version__": ("envs_c",), "games": ("envs_c",), "make": ("envs_c",),
          "load": ("trainer", "bridge", "envs_c"), "train": ("trainer", "bridge", "envs_c")}

__all__ = ["__version__", "games", "load", "make", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'insertcoin' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    home, *others = _HOMES[name]
    bind(home, *others)
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
