"""Vector clocks over streams and the host's threads, and the last accesses to each byte.

An actor is a stream or a thread of the host. Its operations have the epochs 1, 2, ... A clock holds for each actor the last
epoch whose operations are known to be finished. An access is ordered after another one if its clock covers the other's epoch.
See Lamport, 1978 ("Time, Clocks, and the Ordering of Events in a Distributed System"), and Flanagan and Freund, 2009
("FastTrack"), for the use on memory accesses.
"""

from typing import NamedTuple

import numpy as np

ACTORS = 48


class DeviceFault(AssertionError):
    """The host code did something that is wrong on a GPU. It is no RuntimeError: `Captured` would take it for a refusal."""


class Access(NamedTuple):
    """An access to memory: `view` gives the bytes of an array like them (see Bytes)."""

    actor: int
    epoch: int
    clock: np.ndarray
    name: str


class Span(NamedTuple):
    """Bytes at an offset: a contiguous piece (shape and strides are empty), or those of a strided tensor."""

    offset: int
    size: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()  # in bytes

    def view(self, array: np.ndarray) -> np.ndarray:
        """The elements of `array`, which has one for each byte of the memory."""
        if not self.shape:
            return array[self.offset: self.offset + self.size]
        item = array.itemsize
        strides = (*(stride * item for stride in self.strides), item)
        return np.ndarray((*self.shape, self.size), array.dtype, array, self.offset * item, strides)


def new_clock() -> np.ndarray:
    return np.zeros(ACTORS, np.int32)


class Shadow:
    """The last write and the last reads of each byte of a memory.

    size: of the memory in bytes.
    names: text of an access by (actor, epoch), shared by all memories.
    """

    def __init__(self, size: int, names: dict[tuple[int, int], str]):
        self.size, self.names = size, names
        self.writer, self.written = np.zeros(size, np.uint8), np.zeros(size, np.int32)
        self.read: dict[int, np.ndarray] = {}  # by actor: the epoch of its last read

    def reads(self, span: Span, access: Access, what: str):
        """Record a read of `what`. Raises DeviceFault if an unordered write came before."""
        self._after_writes(span, access, "reads", what)
        if access.actor not in self.read:
            self.read[access.actor] = np.zeros(self.size, np.int32)
        span.view(self.read[access.actor])[...] = access.epoch

    def writes(self, span: Span, access: Access, what: str):
        """Record a write of `what`. Raises DeviceFault if an unordered read or write came before."""
        self._after_writes(span, access, "writes", what)
        for actor, epochs in self.read.items():
            if actor != access.actor:
                epochs = span.view(epochs)
                late = epochs > access.clock[actor]
                if late.any():
                    self._fail(access, "writes", what, "read", actor, int(epochs[late][0]))
        span.view(self.writer)[...] = access.actor
        span.view(self.written)[...] = access.epoch

    def _after_writes(self, span: Span, access: Access, verb: str, what: str):
        actors, epochs = span.view(self.writer), span.view(self.written)
        late = epochs > access.clock[actors]
        if late.any():
            self._fail(access, verb, what, "written", int(actors[late][0]), int(epochs[late][0]))

    def _fail(self, access: Access, verb: str, what: str, done: str, actor: int, epoch: int):
        raise DeviceFault(f"nothing orders two uses of the same memory: {access.name} {verb} {what}, {done} by "
                          f"{self.names[actor, epoch]}")
