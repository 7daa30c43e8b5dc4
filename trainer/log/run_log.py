"""The log of a run: metrics.jsonl on disk, trackers such as TensorBoard, and a dashboard or plain lines for whoever watches.

    with RunLog(folder, config, dashboard=True, facts={"device": "cpu"}) as log:
        log.iteration(step, {"score_mean": 12.5, "sps": 231_000.0, "time_env": 0.1})

Every iteration goes to metrics.jsonl; what is dearer is written less often, so that the log stays under 1% of the time.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.live import Live

from trainer.config import Config
from trainer.log.curves import draw_curves
from trainer.log.dashboard import Dashboard, plain_line
from trainer.log.figures import Figures
from trainer.log.trackers import open_trackers
from trainer.runs.folder import locked, new_run_folder, refuse_run, write_config, write_readme
from trainer.runs.metrics import MetricsFile, finite

__all__ = ["RunLog", "draw_curves", "new_run_folder"]

_PLAIN_SECONDS = 5.0     # between plain lines
_EVENT_SECONDS = 0.5     # between what trackers are told
_REFRESH_SECONDS = 0.25  # between refreshes of the dashboard, at least
_REFRESH_REST = 250      # after a refresh, at least this many times as long as it took without one


class RunLog:
    """Writes the log of one session of a run. A context manager: nothing is opened or shown before it is entered.

    folder: the run's folder, made if need be.
    dashboard: show it, if `console` is a terminal that can; plain lines otherwise.
    facts: shown and written to config.json, such as {"device": "cpu", "precision": "bfloat16", "threads": "2"}.
    start_seconds: what earlier sessions of the run took; `seconds` in metrics.jsonl counts on from there.
    resume_step: the step that the run goes on from; entries of later steps are cut off. None for a new run.

    `overhead_seconds` is the time that `iteration` took so far. Entering raises RunError when the folder belongs to
    another run (and resume_step is None) or to another process, TrackerError when a tracker does not take the run.
    """

    def __init__(self, folder: Path, config: Config, *, dashboard: bool, facts: dict[str, str],
                 start_seconds: float = 0.0, resume_step: int | None = None, console: Console | None = None,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.folder, self.config, self.facts = folder, config, facts
        self.overhead_seconds = 0.0
        goal = min(config.ppo.total_steps, config.run.stop_at or config.ppo.total_steps)
        self.figures = Figures(resume_step or 0, goal)
        self._start_seconds, self._resume_step, self._clock = start_seconds, resume_step, clock
        self._console = console or Console()
        self._live = None
        if dashboard and self._console.is_terminal and not self._console.is_dumb_terminal:
            shown = Dashboard(config.game, [str(folder), self._facts_line()], self.figures)
            self._live = Live(shown, console=self._console, auto_refresh=False)
        self._unwritten: tuple[int, dict[str, float | None]] | None = None  # what trackers have not seen yet
        self._told = self.figures.step  # the step of the last plain line
        self._next_event = self._next_line = self._next_refresh = 0.0

    def __enter__(self) -> "RunLog":
        with contextlib.ExitStack() as opened:
            self.folder.mkdir(parents=True, exist_ok=True)
            opened.enter_context(locked(self.folder))
            if self._resume_step is None:
                refuse_run(self.folder)
            write_config(self.folder, self.config, self.facts, self._resume_step or 0)
            write_readme(self.folder, self.config)
            self._metrics = opened.enter_context(contextlib.closing(MetricsFile(self.folder, self._resume_step)))
            self._trackers = open_trackers(self.folder, self.config, self.facts, self._resume_step, opened)
            for entry in self._metrics.kept:
                self.figures.history.add(entry.get("score_mean"))
                self._start_seconds = max(self._start_seconds, entry["seconds"])  # time never runs back
            if self._live:
                opened.enter_context(self._live)
            else:
                self.note(f"{self.config.game}  {self.folder}  {self._facts_line()}")
            self._opened = opened.pop_all()
        self._began = self._last = self._clock()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with self._opened:
            if self._unwritten:
                self._track()
            if not self._live and self._told != self.figures.step:
                self.note(plain_line(self.figures))

    def iteration(self, step: int, metrics: dict[str, float | None]) -> None:
        """Log an iteration that ended at `step` (all environments together, from the start of the run).

        metrics: see events.TAGS for the keys; other keys are logged too. NaN and infinities count as None.
        """
        now = self._clock()
        metrics = {key: finite(value) for key, value in metrics.items()}
        arrived = self.figures.step < self.figures.goal <= step
        self.figures.update(step, now - self._last, metrics)
        self._last = now
        seconds = round(self._start_seconds + now - self._began, 3)
        needed = {"sps": self.figures.sps, "score_mean": None, "length_mean": None}
        metrics = needed | metrics
        self._metrics.append({"step": step, "seconds": seconds} | metrics)
        self._unwritten = step, metrics
        if now >= self._next_event:
            self._track()
            self._next_event = now + _EVENT_SECONDS
        self._show(now, arrived)
        self.overhead_seconds += self._clock() - now

    def note(self, text: str) -> None:
        """Print a line: above the dashboard, or among the plain lines."""
        self._console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def _track(self) -> None:
        """Tell the trackers what they have not seen yet; one that fails is told of and left out from here on."""
        for tracker in [*self._trackers]:
            try:
                tracker.write(*self._unwritten)
            except Exception as error:  # whatever their code raises: none of it is worth a training
                self._trackers.remove(tracker)
                self.note(f"the tracker {type(tracker).__name__} failed and is left out from here on ({type(error).__name__}: "
                          f"{error}); metrics.jsonl goes on")
        self._unwritten = None

    def _show(self, now: float, arrived: bool) -> None:
        """Refresh the dashboard or print a line, if it is time or the goal was just reached."""
        if self._live and (arrived or now >= self._next_refresh):
            self._live.refresh()
            cost = self._clock() - now
            self._next_refresh = now + max(_REFRESH_SECONDS, _REFRESH_REST * cost)
        elif not self._live and (arrived or now >= self._next_line):
            self.note(plain_line(self.figures))
            self._next_line = now + _PLAIN_SECONDS
            self._told = self.figures.step

    def _facts_line(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.facts.items())
