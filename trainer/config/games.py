"""The games that can be named on the command line."""

import difflib
from pathlib import Path

import envs_c
from trainer.commands import VERBS
from trainer.config.config import GYM
from trainer.errors import ConfigError


def names() -> str:
    """What a game may be called, in words."""
    return "one of " + ", ".join(envs_c.games())


def checked_game(name: str) -> str:
    """The name of a game, or the whole path of its .pyx; raises ConfigError for anything else, with the nearest name."""
    if name.endswith(".pyx"):
        envs_c.load(name)
        return str(Path(name).expanduser().resolve())  # so that the run can be resumed from another folder
    if name.startswith(GYM):
        return name
    games = envs_c.games()
    if name not in games:
        near = difflib.get_close_matches(name, [*games, *VERBS], 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"there is no game {name!r}; {hint}it may be {names()}, or eval for a trained agent")
    return name
