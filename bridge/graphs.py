"""Repeated work on a stream: run directly at first, then captured as a graph and replayed."""

import warnings
from collections.abc import Callable

from bridge.interfaces import Stream

WARM_UP = 2  # calls before the capture; libraries initialize themselves in the first calls


class Graphs:
    """Switch for capturing, shared by several `Captured`. The first failed capture turns it off, with one warning."""

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled

    def give_up(self, name: str, error: Exception) -> None:
        """Stop capturing because the capture of `name` failed with `error`."""
        if self.enabled:
            self.enabled = False
            warnings.warn(f"{name} cannot be captured as a graph ({error}); it runs without one, which is slower",
                          RuntimeWarning, stacklevel=2)


class Captured:
    """A call that queues the same work on a stream each time. From call WARM_UP + 1 on it replays a graph, if possible.

    name: shown in the warning if the capture fails.
    work: queues the work. It must use the same memory in each call, allocated before the first one and not freed after.
    stream: stream of a device (bridge.device).
    graphs: the shared switch; default: a new one.
    eager: called before the capture, and if there is none; default: `stream.run(work)`.
    """

    def __init__(self, name: str, work: Callable[[], None], stream: Stream, graphs: Graphs | None = None,
                 eager: Callable[[], None] | None = None) -> None:
        self.name, self.work, self.stream = name, work, stream
        self.graphs = graphs or Graphs()
        self.eager = eager or (lambda: stream.run(work))
        self.calls = 0
        self.replay: Callable[[], None] | None = None

    def __call__(self) -> None:
        if self.replay is None and self.stream.captures and self.graphs.enabled:
            if self.calls >= WARM_UP:
                self._capture()
            self.calls += 1
        if self.replay is None:
            self.eager()
        else:
            self.replay()

    def _capture(self) -> None:
        try:
            self.replay = self.stream.capture(self.work)
        except RuntimeError as error:
            self.graphs.give_up(self.name, error)
