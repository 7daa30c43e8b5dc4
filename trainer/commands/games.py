"""`insertcoin games`, `new` and `check`: the verbs of `python -m envs_c`. They need only the packages of the games."""

from envs_c.__main__ import main
from trainer.process import program_name


def games(argv: list[str]) -> int:
    """List games with their views, actions, options and speed on this machine."""
    return main(["games", *argv], program_name())


def new(argv: list[str]) -> int:
    """Begin a game of the user's own."""
    return main(["new", *argv], program_name())


def check(argv: list[str]) -> int:
    """Check a game against the contract of games."""
    return main(["check", *argv], program_name())
