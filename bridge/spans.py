"""Names for stretches of work in a profiler's trace; free while nobody records."""

import contextlib

from torch.profiler import record_function

_NOTHING = contextlib.nullcontext()
_recording = False


def span(name: str, batch: int | None = None):
    """A context that shows as `name`, of a batch, in the trace of torch's profiler."""
    if not _recording:
        return _NOTHING
    return record_function(name if batch is None else f"{name}, batch {batch}")


@contextlib.contextmanager
def recording():
    """While entered, spans are recorded."""
    global _recording
    before, _recording = _recording, True
    try:
        yield
    finally:
        _recording = before
