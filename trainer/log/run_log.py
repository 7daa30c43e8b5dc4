"""The log of one session of a run: metrics.jsonl, trackers such as TensorBoard, and a dashboard or plain lines.

    with RunLog(folder, "breakout", goal=10_000_000, facts={"device": "cpu"}, dashboard=True) as log:
        log.iteration(step, {"score_mean": 12.5, "sps": 231_000.0, "time_env": 0.1})

Every iteration is written to metrics.jsonl. The trackers and the terminal cost more and are updated less often: the log
takes less than 1% of the time. The trackers get the newest iteration, and those with a metric that the next one lacks.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live

from envs_c.text import printable
from trainer.errors import RunError
from trainer.log.console import LogConsole
from trainer.log.dashboard import Dashboard, plain_line
from trainer.log.progress import Progress
from trainer.log.ticker import Ticker
from trainer.log.trackers import open_trackers
from trainer.runs.metrics import MetricsFile, finite

_PLAIN_SECONDS = 5.0     # between plain lines
_TRACK_SECONDS = 0.5     # between writes to the trackers
_REFRESH_SECONDS = 0.25  # between refreshes of the dashboard, at least
_REFRESH_REST = 250      # and at least this many times the duration of the last refresh


class RunLog:
    """Writes the log of one session. A context manager: nothing is opened or shown before it is entered.

    folder: the run's folder, which exists.
    title: the game.
    goal: last step of the session.
    facts: shown, and given to the trackers, such as {"device": "cpu", "precision": "bfloat16", "threads": "2"}.
    dashboard: show the dashboard if `console` is a capable terminal; otherwise plain lines.
    trackers: names in trainer.log.trackers.TRACKERS, or import paths.
    settings: the run's config as nested dicts, for the trackers.
    start_seconds: duration of the earlier sessions; `seconds` in metrics.jsonl continues from there.
    resume_step: the step of the checkpoint of a resumed run; later entries of metrics.jsonl are removed, with later
        checkpoints in the folder only by the first `before_save`. None for a new run.

    `overhead_seconds` is the total duration of all calls of `iteration`.
    Entering raises TrackerError if a tracker refuses the run.
    """

    def __init__(self, folder: Path, title: str, *, goal: int, facts: dict[str, str], dashboard: bool,
                 trackers: Sequence[str] = (), settings: dict[str, Any] | None = None, start_seconds: float = 0.0,
                 resume_step: int | None = None, console: Console | None = None,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.folder, self.title, self.facts = folder, title, facts
        self.overhead_seconds = 0.0
        self.progress = Progress(resume_step or 0, goal)
        self._tracker_names, self._settings = trackers, (settings or {}) | {"facts": facts}
        self._start_seconds, self._resume_step, self._clock = start_seconds, resume_step, clock
        self._console = console or LogConsole()
        self._live = None
        if dashboard and self._console.is_terminal and not self._console.is_dumb_terminal:
            shown = Dashboard(printable(title), [printable(folder), printable(self._facts_line())], self.progress)
            self._live = Live(shown, console=self._console, auto_refresh=False)
        self._screen = contextlib.ExitStack()  # the dashboard while it is live
        self._unwritten: list[tuple[int, dict[str, float | None]]] = []  # steps and metrics for the next write to trackers
        self._printed = self.progress.step  # the step of the last plain line
        self._next_track = self._next_line = self._next_refresh = 0.0

    def __enter__(self) -> "RunLog":
        with contextlib.ExitStack() as opened:
            self._metrics = opened.enter_context(contextlib.closing(MetricsFile(self.folder, self._resume_step)))
            self._trackers = open_trackers(self._tracker_names, self.folder, self._settings, self._resume_step, opened,
                                           self.note)
            self._metrics.begin()
            for entry in self._metrics.kept:
                self.progress.history.add(entry.get("score_mean"))
                self.progress.entropies.add(entry.get("entropy"))
                self._start_seconds = max(self._start_seconds, entry["seconds"])  # the seconds never decrease
            if self._live:
                self._screen = opened.enter_context(contextlib.ExitStack())
                self._screen.enter_context(self._live)
            else:
                self.note(f"{self.title}  {self.folder}  {self._facts_line()}")
            self._opened = opened.pop_all()
        self._began = self._last = self._clock()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            with self._opened:
                if self._unwritten and not isinstance(error, RunError):  # without its folder a tracker has no place to write
                    self._track()
                self.end_training()
        except Exception:  # it must not hide the error of the training
            if error is None:
                raise

    def iteration(self, step: int, metrics: dict[str, float | None]) -> None:
        """Log an iteration.

        step: steps at its end, all environments together, from the start of the run.
        metrics: by key; the keys in trainer.log.tensorboard.TAGS are usual, others are logged too. NaN and infinities
            become None.
        """
        now = self._clock()
        metrics = {key: finite(value) for key, value in metrics.items()}
        arrived = self.progress.step < self.progress.goal <= step
        self.progress.update(step, now - self._last, metrics)
        self._last = now
        seconds = round(self._start_seconds + now - self._began, 3)
        needed = {"sps": self.progress.sps, "score_mean": None, "length_mean": None}
        metrics = needed | metrics
        self._metrics.append({"step": step, "seconds": seconds} | metrics)
        if self._unwritten and not _lacks(metrics, self._unwritten[-1][1]):
            self._unwritten.pop()
        self._unwritten.append((step, metrics))
        if now >= self._next_track:
            self._track()
            self._next_track = now + _TRACK_SECONDS
        self._show(now, arrived)
        self.overhead_seconds += self._clock() - now

    @property
    def reader_gone(self) -> bool:
        """True if what reads the output has ended, such as `head -1`: nothing is printed any more."""
        return getattr(self._console, "reader_gone", False)

    def before_save(self) -> None:
        """A checkpoint is about to be written: metrics of steps that it gives up are removed.

        Raises RunError if the run's folder was removed, moved or replaced, as `iteration` does.
        """
        self._metrics.cut()

    def end_training(self) -> None:
        """Print the last plain line, or leave the last picture of the dashboard: later notes stand below it."""
        self._screen.close()
        if not self._live and self._printed != self.progress.step:
            self._print_line()

    def ticker(self, text: str) -> Ticker:
        """A context manager that shows the progress of a long task after the training, such as an evaluation."""
        return Ticker(text, self._console, line_seconds=_PLAIN_SECONDS, clock=self._clock)

    def note(self, text: str) -> None:
        """Print a line: above the dashboard, or between the plain lines."""
        self._console.print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)

    def _track(self) -> None:
        """Write what is unwritten to the trackers. A failing tracker is reported and dropped."""
        for tracker in [*self._trackers]:
            try:
                for step, metrics in self._unwritten:
                    tracker.write(step, metrics)
            except Exception as error:  # any error of another package: a training must not end because of a tracker
                self._trackers.remove(tracker)
                self.note(f"the tracker {type(tracker).__name__} failed ({type(error).__name__}: {error}) and gets no more "
                          "metrics; metrics.jsonl continues")
        self._unwritten.clear()

    def _show(self, now: float, arrived: bool) -> None:
        """Refresh the dashboard or print a line, if it is time to or if the goal was just reached."""
        if self._live and (arrived or now >= self._next_refresh):
            self._live.refresh()
            cost = self._clock() - now
            self._next_refresh = now + max(_REFRESH_SECONDS, _REFRESH_REST * cost)
        elif not self._live and (arrived or now >= self._next_line):
            self._print_line()
            self._next_line = now + _PLAIN_SECONDS

    def _print_line(self) -> None:
        self.note(plain_line(self.progress))
        self._printed = self.progress.step

    def _facts_line(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.facts.items())


def _lacks(metrics: dict[str, float | None], before: dict[str, float | None]) -> bool:
    """True if `before` has a value of a metric that has none in `metrics`."""
    return any(value is not None and metrics.get(key) is None for key, value in before.items())
