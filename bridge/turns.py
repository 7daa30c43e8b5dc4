"""Turns of all batches in one call, without Python between them: envs_c/engine/turns.pyx with CUDA's driver.

That is possible if each batch's work is a captured graph, and its step is a step of our own games. Python's work between two
launches, and torch's, is then left out; the operations on the streams are the same.
"""

from collections.abc import Sequence

from bridge.errors import TransferError
from bridge.interfaces import Bound, Stream, Work
from envs_c.engine.turns import Turns


def without_python(streams: Sequence[Stream], replays: Sequence[Work | None], bounds: Sequence[Bound]) -> Turns | None:
    """Return the turns of these batches, or None if they need Python.

    streams: of each batch.
    replays: of each batch, what `stream.capture` has returned for its work; None if the work is not captured.
    bounds: of each batch, what the source has bound.
    """
    pairs = zip(streams, replays, strict=True)
    calls = [one for one in (replay and stream.driver_calls(replay) for stream, replay in pairs) if one]
    batches = [one for one in (bound.batch_alone() for bound in bounds) if one is not None]
    if not len(calls) == len(batches) == len(streams):
        return None
    return Turns(batches, [(one.graph, one.stream, one.event) for one in calls], calls[0][:3])


def driver_error(code: int, call: str) -> TransferError:
    """Return the error for what a function of the driver has returned. call: what the function does."""
    return TransferError(f"CUDA's driver has returned error {code} at {call}")
