"""A trial of a sweep: `python -m trainer GAME --preset FILE` in a process of its own, with an eye on its metrics.

Each trial has its own process: a crash or a lack of memory ends only this trial, and the device's memory is free afterwards.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trainer.config import Config
from trainer.config.preset import preset_text
from trainer.files import open_file, read_json, write_atomically
from trainer.process import PARENT, program_command
from trainer.runs.evaluation import EVALUATION
from trainer.runs.metrics import METRICS, entries_of

POLL = 0.5       # seconds between two reads of a trial's metrics
PATIENCE = 60.0  # seconds after SIGINT for a trial to write a checkpoint and end; then it is killed
PRESET, OUTPUT = "preset.toml", "output.txt"


class TrialFailed(Exception):
    """A trial whose process ended without an evaluation; the text is the reason."""


class Outcome(NamedTuple):
    """The evaluation of a trial's agent."""

    score: float           # mean raw return of the episodes
    standard_error: float  # of this mean


class MetricsReader:
    """Reads metrics.jsonl of a run while the run appends to it."""

    def __init__(self, folder: Path):
        self.path, self.position = folder / METRICS, 0

    def read(self) -> list[dict[str, Any]]:
        """The entries written since the last call; an unfinished line is left for the next call."""
        if not self.path.exists():
            return []
        with open_file(self.path) as file:
            file.seek(self.position)
            text = file.read()
        lines = text[: text.rfind(b"\n") + 1]
        self.position += len(lines)
        return entries_of(lines.splitlines(keepends=True))


def run_trial(config: Config, folder: Path, watch: Callable[[dict[str, Any]], None],
              options: Sequence[str] = ()) -> Outcome:
    """Train an agent with the settings in `config`, and evaluate it.

    folder: the folder of the run.
    watch: called with each entry of metrics.jsonl. If it raises, or after Ctrl-C, the training writes a checkpoint and ends,
        and the exception reaches the caller.
    options: more arguments of the command.
    Raises TrialFailed if the process ends without an evaluation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / PRESET, [preset_text(config, f"A trial of a sweep: {folder.name}.", own=True).encode()])
    command = [*program_command(), config.game, "--preset", folder.resolve() / PRESET, "--run-dir", folder, *options]
    metrics = MetricsReader(folder)
    with (folder / OUTPUT).open("wb") as output:
        # start_new_session: the terminal sends Ctrl-C only to the sweep, which then ends the trial
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, env=os.environ | {PARENT: str(os.getpid())})
        try:
            running = True
            while running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
                    running = False
                for entry in metrics.read():
                    watch(entry)
        finally:
            _end(process)
    if process.returncode != 0 or not (folder / EVALUATION).exists():
        raise TrialFailed(_reason(process.returncode, folder / OUTPUT))
    try:
        result = read_json(folder / EVALUATION)
        return Outcome(float(result["mean"]), float(result["standard_error"]))
    except (OSError, ValueError, TypeError, LookupError, OverflowError):
        raise TrialFailed(f"its {EVALUATION} is damaged") from None


def _end(process: subprocess.Popen) -> None:
    """End a training: with SIGINT, and after PATIENCE seconds with SIGKILL."""
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
    """The reason of a training's end in one line: its signal if it was killed, its error, or its last line."""
    if code < 0:
        return f"its process was killed by {signal.Signals(-code).name}"
    lines = [line for line in output.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("error: ")] or lines[-1:] or [f"its process ended with code {code}"]
    return reasons[-1].removeprefix("error: ").strip()
