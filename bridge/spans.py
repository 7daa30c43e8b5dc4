"""Named spans in a profiler's trace. They cost almost nothing while no trace is recorded."""

import contextlib
from collections.abc import Iterator

from torch.profiler import record_function

_NO_SPAN: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
recorded = False  # True within `recording()`


def span(name: str, batch: int | None = None) -> contextlib.AbstractContextManager[object]:
    """A context manager that appears as `name` in the trace of torch's profiler.

    batch: number of a batch, added to the name; None for none.
    """
    if not recorded:
        return _NO_SPAN
    return record_function(name if batch is None else f"{name}, batch {batch}")


@contextlib.contextmanager
def recording() -> Iterator[None]:
    """A context manager in which spans are recorded."""
    global recorded
    before, recorded = recorded, True
    try:
        yield
    finally:
        recorded = before
