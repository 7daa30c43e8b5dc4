"""The progress of a task between the training's own lines, such as an evaluation: on the terminal's last line, or as lines."""

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from envs_c.text import printable

_REFRESH_SECONDS = 0.25


class Ticker:
    """A context manager that shows `TEXT: DONE of TOTAL NOTE`. The last line of a terminal is cleared at the end.

    text: the task, such as "evaluating 100 episodes".
    line_seconds: seconds between the lines in a file or a pipe; the first one comes after this time. None: no lines.
    """

    def __init__(self, text: str, console: Console, *, line_seconds: float | None = None,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self._text, self._console, self._seconds, self._clock = printable(text), console, line_seconds, clock
        live = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(Text(self._text), console=console, auto_refresh=False, transient=True) if live else None
        self._next = 0.0

    def __enter__(self) -> "Ticker":
        if self._live:
            self._live.start(refresh=True)
        self._next = self._clock() + (_REFRESH_SECONDS if self._live else self._seconds or 0.0)
        return self

    def __call__(self, done: int, total: int, note: str) -> None:
        """Show that `done` parts of `total` are done, if it is time to."""
        now = self._clock()
        if now < self._next:
            return
        text = f"{self._text}: {done} of {total} {printable(note)}"
        if self._live:
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
            self._next = self._clock() + _REFRESH_SECONDS
        elif self._seconds is not None:
            self._console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)
            self._next = now + self._seconds

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()
