"""Names for stretches of work in a profiler's trace; free while nobody records."""

import contextlib

from torch.profiler import record_function

_NOTHING = contextlib.nullcontext()
recorded = False  # whether somebody records


def span(name: str, batch: int | None = None):
    """A context that shows as `name`, of a batch, in the trace of torch's profiler."""
    if not recorded:
        return _NOTHING
    return record_function(name if batch is None else f"{name}, batch {batch}")


@contextlib.contextmanager
def recording():
    """While entered, spans are recorded."""
    global recorded
    before, recorded = recorded, True
    try:
        yield
    finally:
        recorded = before
