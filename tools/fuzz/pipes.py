"""Readers that go away: a command whose output breaks at any character ends with 141, or has written all before."""

import contextlib
import io
import os
from random import Random

from tools.fuzz import runs
from tools.fuzz.case import Box, Fault
from trainer.commands.main import run

BROKEN = 141


class Breaking(io.StringIO):
    """An output that takes some characters, and then is a pipe without a reader."""

    def __init__(self, room: int):
        super().__init__()
        self.room, self.broken = room, False
        self.descriptor = os.open(os.devnull, os.O_WRONLY)

    def write(self, text: str) -> int:
        self.room -= len(text)
        if self.room < 0:
            self.broken = True
            raise BrokenPipeError(32, "Broken pipe")
        return super().write(text)

    def fileno(self) -> int:
        return self.descriptor


def setup(box: Box) -> None:
    """Make a run."""
    os.chdir(box.folder)
    runs.setup(box)


def case(rng: Random, box: Box) -> None:
    """Run a command whose output breaks."""
    with runs.copied(box) as folder:
        words = list(runs.NEW) if (new := rng.random() < 0.05) else runs.chosen(rng, folder)
        if new:
            words[-1] = "--run-dir=fresh"
        out, errors = Breaking(rng.choice([0, 1, rng.randrange(200), rng.randrange(5000)])), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                code = run(words)
        except SystemExit as ended:  # of a help text
            code = ended.code or 0
        finally:
            os.close(out.descriptor)
        box.counts["refused" if code else "accepted"] += 1
        if code not in (BROKEN,) if out.broken else code not in (0, 2):
            raise Fault(f"{words} must end with {BROKEN} if its output breaks, not with {code}: {errors.getvalue()[:2000]}")
        if "Traceback" in errors.getvalue():
            raise Fault(f"{words}: {errors.getvalue()[:3000]}")
        if new and not list((box.folder / "fresh").glob("step_*.safetensors")):
            raise Fault(f"{words} must save what it has")
    box.tidy()
