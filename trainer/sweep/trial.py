"""A trial of a sweep: `python -m trainer GAME --preset FILE` in a process of its own, whose metrics are watched.

A process a trial: one that crashes, or is killed for its memory, takes nothing with it, and gives the device's memory back.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from trainer.config import Config
from trainer.config.preset import preset_text
from trainer.files import write_atomically
from trainer.runs.find import EVALUATION
from trainer.runs.metrics import METRICS

POLL = 0.5       # seconds between two looks at a trial's metrics
PATIENCE = 60.0  # seconds that a trial has to end by itself, with a checkpoint, once it is asked to
PRESET, OUTPUT = "preset.toml", "output.txt"


class TrialFailed(Exception):
    """A trial whose process ended without an evaluation; the text is its reason."""


class Outcome(NamedTuple):
    """How well a trial's agent plays."""

    score: float           # mean raw return of the evaluation's episodes
    standard_error: float  # of that mean


class Curve:
    """Reads metrics.jsonl of a run as it grows."""

    def __init__(self, folder: Path):
        self.path, self.position = folder / METRICS, 0

    def read(self) -> list[dict[str, Any]]:
        """The entries since the last call."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self.position)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self.position += len(whole)
        return [json.loads(line) for line in whole.splitlines()]


def run_trial(config: Config, folder: Path, watch: Callable[[dict[str, Any]], None]) -> Outcome:
    """Train as `config` says in `folder`, to the evaluation at its end.

    watch: is given each entry of metrics.jsonl; what it raises ends the training, with a checkpoint, and goes on to the caller,
    as Ctrl-C does. Raises TrialFailed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / PRESET, [preset_text(config, f"A trial of a sweep: {folder.name}.", own=True).encode()])
    command = [sys.executable, "-m", "trainer", config.game, "--preset", folder / PRESET, "--run-dir", folder]
    curve = Curve(folder)
    with (folder / OUTPUT).open("wb") as output:
        # a session of its own: a terminal's Ctrl-C comes to the sweep alone, which ends the trial
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            running = True
            while running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
                    running = False
                for entry in curve.read():
                    watch(entry)
        finally:
            _end(process)
    if process.returncode != 0 or not (folder / EVALUATION).exists():
        raise TrialFailed(_reason(process.returncode, folder / OUTPUT))
    result = json.loads((folder / EVALUATION).read_text(encoding="utf-8"))
    return Outcome(result["mean"], result["standard_error"])


def _end(process: subprocess.Popen) -> None:
    """Ask a training to end, and make it."""
    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()


def _reason(code: int, output: Path) -> str:
    """Why a training ended, in a line: the error that it told, or the signal that killed it."""
    if code < 0:
        return f"its process was killed by {signal.Signals(-code).name}"
    lines = [line for line in output.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("error: ")] or lines[-1:] or [f"its process ended with code {code}"]
    return told[-1].removeprefix("error: ").strip()
