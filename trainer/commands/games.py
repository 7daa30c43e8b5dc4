"""`insertcoin games`, `new`, `check`, `replay` and `play`: verbs of `python -m envs_c`, which need only the games' packages."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import envs_c
from envs_c.__main__ import main, parse
from envs_c.catalog import hint_of
from envs_c.console.cartridges import PREFIX, names_a_file
from envs_c.errors import did_you_mean
from envs_c.outside import expanded
from envs_c.text import say
from trainer.errors import ConfigError, RunError
from trainer.files import may_write
from trainer.process import program_name
from trainer.runs.find import ROOT, find, holds_run, newest_first

FLAGS = ("--terminal", "--human", "--greedy", "--trust-code")  # options of `play` without a value; each also as --no-NAME
FOR_RUNS = ("--human", "--greedy", "--device", "--trust-code", "--game", "--wrap", "--encoder", "--memory")


def games(argv: list[str]) -> int:
    """List games with their views, actions, options and speed on this machine."""
    return main(["games", *argv], program_name())


def new(argv: list[str]) -> int:
    """Begin a game of the user's own. Raises ConfigError if its folder may not be written."""
    folder = expanded(parse(["new", *argv], program_name()).dir)
    there = next((one for one in (folder, *folder.parents) if os.access(one, os.F_OK)), folder)
    if not may_write(there):
        raise ConfigError(f"--dir must be a folder that you may write to, not {str(there)!r}: name another")
    return main(["new", *argv], program_name())


def check(argv: list[str]) -> int:
    """Check a game against the contract of games."""
    return main(["check", *argv], program_name())


def replay(argv: list[str]) -> int:
    """Replay a link of the arcade."""
    return main(["replay", *argv], program_name())


def play(argv: list[str]) -> int:
    """Play a game, if one of this name exists, or else watch a run.

    Raises RunError with similar names if there is neither.
    """
    name, helps = _named(argv), not {"-h", "--help"}.isdisjoint(argv)
    if name is None and not helps:
        raise ConfigError(f"GAME or RUN is missing; `{program_name()} play --help` lists the options")
    if name is None or not (name.endswith(".pyx") or name.startswith(PREFIX) or name in envs_c.games()):
        if name is None:
            with contextlib.suppress(SystemExit):
                main(["play", "--help"], program_name())
            print()
        elif not helps:
            _check_run(name)
        from trainer.commands import play as runs  # needs the trainer's packages
        runs.main(argv)
        return 0
    for text in argv:
        if (option := text.partition("=")[0].replace("_", "-")) in FOR_RUNS:
            raise ConfigError(f"{option} must be left out for the game {name}, which you play yourself: it is for runs, as in "
                              f"{program_name()} play last {option}")
    if runs := [path for path in (Path(name), *newest_first(ROOT)) if path.name.startswith(name) and holds_run(path)]:
        shown = f"./{runs[0]}" if runs[0] == Path(name) else runs[0]
        say(f"{name} is the game; to watch the run {runs[0].name}: {program_name()} play {shown}")
    return main(["play", *argv], program_name())


def _named(argv: Sequence[str]) -> str | None:
    """The game or the run in the arguments of `play`; None if there is none."""
    pairs = False  # NAME=VALUE behind --options; elsewhere a text with = is a name, such as runs/lr=0.1
    for before, text in zip(["-h", *argv], argv, strict=False):
        if text.startswith("-"):
            pairs = text.partition("=")[0] == "--options"
        elif not (pairs and "=" in text) and (not before.startswith("-") or "=" in before or _is_flag(before)):
            return text
    return None


def _is_flag(text: str) -> bool:
    """True for an option of `play` without a value. As in the parse, it may be written with underscores."""
    option = text.replace("_", "-")
    return option in ("-h", "--help", *FLAGS, *(f"--no-{name[2:]}" for name in FLAGS))


def _check_run(name: str) -> None:
    """Raises RunError if there is no such run, with the game of that folder or of a similar name."""
    if name.startswith("gym:"):
        raise RunError(f"{name} cannot be played with keys, since Gymnasium does not name its actions: play one of "
                       f"{', '.join(envs_c.games())}, or watch a run")
    try:
        if names_a_file(name) and Path(name).is_file():
            raise RunError(f"{name} is no run")
        find(name)
    except RunError as error:
        if hint := hint_of(name) or did_you_mean(name.lower(), envs_c.games(), 0.6):
            raise RunError(f"there is no game and no run {name!r}; {hint}") from error
        raise
