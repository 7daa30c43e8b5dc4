"""A tiny run for the surfaces that damage one: a copy for each case, and the commands that read and write it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tools.fuzz.case import Box, Fault, captured
from tools.fuzz.lines import TINY, make_run
from trainer.commands.main import run

MADE, COPY = "made", "run"
# Each with its weight: those that play or train take longest.
COMMANDS = {("list", "--root=."): 6, ("report", "RUN"): 6, ("compare", "RUN", MADE): 4, ("compare", "RUN", MADE, "--group"): 3,
            ("compare", "RUN", MADE, "--json"): 2, ("export", "RUN", "--format=safetensors"): 2, ("watch", "nowhere"): 1,
            ("eval", "RUN", "--episodes=1", "--device=cpu"): 1, ("record", "RUN", "--episodes=1", "--device=cpu"): 1,
            ("--resume", "RUN", "--total-steps=96"): 1}
NEW = ("cartpole", *TINY, f"--run-dir={COPY}")


def setup(box: Box) -> None:
    """Make the run."""
    make_run(box.folder / MADE)


@contextmanager
def copied(box: Box, name: str = COPY) -> Iterator[Path]:
    """A copy of the run, under this name."""
    folder = box.folder / name
    shutil.copytree(box.folder / MADE, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def chosen(rng: Random, folder: Path) -> list[str]:
    """A command about the copy."""
    words = rng.choices(list(COMMANDS), list(COMMANDS.values()))[0]
    return [word.replace("RUN", folder.name) for word in words]


def call(words: list[str], box: Box) -> tuple[int, str, str]:
    """Run a command: its exit code, output and errors. Raises Fault unless it works, or is an error of one line."""
    code, out, errors = captured(lambda: run(list(words)))
    box.counts["accepted" if code == 0 else "refused"] += 1
    if "Traceback" in errors or code not in (0, 2):
        raise Fault(f"{words} must work or be an error of one line; it ended with {code}\n{errors[:3000]}")
    if code and not (errors.startswith("error: ") and len(errors.splitlines()) == 1):
        raise Fault(f"the error of {words} must be one line: {errors[:3000]}")
    return code, out, errors

