"""Work that a stream repeats: done as it is at first, then captured once and replayed."""

import warnings
from collections.abc import Callable

WARM_UP = 2  # calls before the capture: libraries set themselves up in the first ones


class Graphs:
    """Whether work is captured; the first capture that fails ends it for all that share this, with one warning."""

    def __init__(self, enabled: bool = True):
        self.enabled = enabled

    def give_up(self, name: str, error: Exception):
        if self.enabled:
            self.enabled = False
            warnings.warn(f"{name} cannot be captured as a graph ({error}); it goes on without, more slowly", RuntimeWarning,
                          stacklevel=2)


class Captured:
    """`work`, which reads and writes the same memory at each call, on a stream.

    eager: what does it as it is; where None, handing `work` to the stream. name: for the warning.
    """

    def __init__(self, name: str, work: Callable[[], None], stream, graphs: Graphs | None = None,
                 eager: Callable[[], None] | None = None):
        self.name, self.work, self.stream = name, work, stream
        self.graphs = graphs or Graphs()
        self.eager = eager or (lambda: stream.run(work))
        self.calls = 0
        self.replay: Callable[[], None] | None = None

    def __call__(self):
        if self.replay is None and self.stream.captures and self.graphs.enabled:
            if self.calls >= WARM_UP:
                self._capture()
            self.calls += 1
        if self.replay is None:
            self.eager()
        else:
            self.replay()

    def _capture(self):
        try:
            self.replay = self.stream.capture(self.work)
        except RuntimeError as error:
            self.graphs.give_up(self.name, error)
