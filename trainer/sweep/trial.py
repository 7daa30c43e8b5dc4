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

from envs_c.files import open_new, write_atomically
from trainer.config import Config
from trainer.config.preset import preset_text
from trainer.errors import RunError
from trainer.files import open_file
from trainer.process import PARENT, TRIAL, program_command
from trainer.runs.evaluation import EVALUATION, read_evaluations
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


class Training:
    """A training in a process of its own, which is started at once.

    folder: of its run; it exists. Output goes to its output.txt.
    arguments: of the command, after `python -m trainer`.
    mark: in its environment, by which a later session of a killed sweep knows it.
    The process ends with this one, and with the thread that made this object; see `trainer.process.end_with_parent`.
    """

    def __init__(self, folder: Path, arguments: Sequence[str | Path], mark: str = ""):
        self.folder, self._metrics, self._interrupted = folder, MetricsReader(folder), False
        with open_new(folder / OUTPUT) as output:
            # start_new_session: the terminal sends Ctrl-C only to the caller, which then ends the training
            self._process = subprocess.Popen([*program_command(), *arguments], stdin=subprocess.DEVNULL, stdout=output,
                                             stderr=subprocess.STDOUT, start_new_session=True,
                                             env=os.environ | {PARENT: str(os.getpid()), TRIAL: mark})

    def ended(self, seconds: float) -> bool:
        """True if it has ended; waits for that up to `seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def entries(self) -> list[dict[str, Any]]:
        """The entries of metrics.jsonl since the last call."""
        return self._metrics.read()

    def interrupt(self) -> None:
        """Let it write a checkpoint and end. Only the first call counts: a second SIGINT would end it without a checkpoint."""
        if not self._interrupted and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._interrupted = True

    def end(self) -> None:
        """Interrupt it if it is not yet, and kill it after PATIENCE seconds. A second Ctrl-C kills it at once."""
        try:
            self.interrupt()
            self.ended(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluations at its end. Raises TrialFailed if it ended without one."""
        if self._process.returncode != 0 or not (self.folder / EVALUATION).exists():
            raise TrialFailed(_reason(self._process.returncode, self.folder / OUTPUT))
        try:
            found = read_evaluations(self.folder)
        except RunError:
            found = []
        if not found or "standard_error" not in found[0]:
            raise TrialFailed(f"its {EVALUATION} is damaged")
        return found


def run_trial(config: Config, folder: Path, watch: Callable[[dict[str, Any]], None],
              options: Sequence[str] = (), mark: str = "") -> Outcome:
    """Train an agent with the settings in `config`, and evaluate it.

    folder: the folder of the run.
    watch: called with each entry of metrics.jsonl. If it raises, or after Ctrl-C, the training writes a checkpoint and ends,
        and the exception reaches the caller.
    options: more arguments of the command.
    mark: as for `Training`.
    Raises TrialFailed if the process ends without an evaluation.
    """
    training = Training(folder, new_training(config, folder, f"A trial of a sweep: {folder.name}.", options), mark)
    try:
        running = True
        while running:
            running = not training.ended(POLL)
            for entry in training.entries():
                watch(entry)
    finally:
        training.end()
    result = training.evaluations()[0]
    return Outcome(result["mean"], result["standard_error"])


def new_training(config: Config, folder: Path, comment: str, options: Sequence[str] = ()) -> list[str | Path]:
    """The arguments of a new training in `folder`, which is made; its preset.toml has the settings, below a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / PRESET, [preset_text(config, comment, own=True).encode()])
    return [config.game, "--preset", folder.resolve() / PRESET, "--run-dir", folder, *options]


def _reason(code: int, output: Path) -> str:
    """The reason of a training's end in one line: its signal if it was killed, its error, or its last line."""
    if code < 0:
        return f"its process was killed by {signal.Signals(-code).name}"
    lines = [line for line in output.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("error: ")] or lines[-1:] or [f"its process ended with code {code}"]
    return reasons[-1].removeprefix("error: ").strip()
