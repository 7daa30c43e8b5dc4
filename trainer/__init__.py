"""The trainer: PPO with recurrent policies for the games of envs_c and for Gymnasium, run as `python -m trainer GAME`.

Importing this package loads nothing else; its public names are loaded at their first use:

    from trainer import train, load, evaluate, preset, Session
"""

TYPE_CHECKING = False  # true for type checkers, as that of typing, which is not loaded here

if TYPE_CHECKING:
    from trainer.training.api import Agent, Session, evaluate, load, preset, train

__all__ = ["Agent", "Session", "evaluate", "load", "preset", "train"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    import_module("trainer.waiting").share_cores()
    try:
        return getattr(import_module("trainer.training.api"), name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in ("envs_c", "bridge", "trainer"):  # not built, or an error of ours
            raise
        advice = f"which is not installed: {import_module('envs_c.install').hint('train')}"
        raise ModuleNotFoundError(f"trainer.{name} needs {error.name}, {advice}", name=error.name) from None


def __dir__():
    return sorted([*globals(), *__all__])
