"""The memory of observations.

It begins at a multiple of 64 bytes, so that other libraries can use it without a copy. NumPy arrays export themselves by
`__dlpack__`. torch takes any address; JAX copies an array with another address.
"""

import sys
import sysconfig
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

ALIGNMENT = 64  # bytes
MOST_TURNS = 3  # a learner's loop refers to the present and the next observations


def counts(version: tuple[int, ...], free_threaded: bool) -> bool:
    """True if a reference count tells whether somebody else refers to an object.

    Without the GIL another thread may change it meanwhile, and parts of it are kept apart. Since Python 3.14 a function's
    variables are borrowed: an array that the caller still uses may count as one that nobody has.
    """
    return version < (3, 14) and not free_threaded


COUNTED = counts(sys.version_info, bool(sysconfig.get_config_var("Py_GIL_DISABLED")))


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """An array of zeros, like `np.zeros`, at a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start: start + size].view(dtype).reshape(shape)


class Buffers(NamedTuple):
    """Where a step writes its observations, and the batch that does."""

    observation: np.ndarray
    """(N, *shape) float32 or uint8."""
    picture: np.ndarray | None
    """(N, *shape) uint8, under view "both"."""
    batch: Any

    def take(self, other: "Buffers"):
        """Copy the observations of other buffers."""
        for own, theirs in ((self.observation, other.observation), (self.picture, other.picture)):
            if own is not None and own is not theirs:
                np.copyto(own, theirs)

    def clear(self, rows):
        """Fill the observations of these environments with zeros."""
        for array in (self.observation, self.picture):
            if array is not None:
                array[rows] = 0

    def references(self) -> int:
        """The number of references to the memory: by this tuple, by views of the arrays, and by everybody else."""
        return sum(sys.getrefcount(array) + sys.getrefcount(array.base) for array in self[:2] if array is not None)


class Turns:
    """Buffers that are given away, and written again once nobody else refers to them: copies without copying.

    If references cannot be counted (`COUNTED`), there are none, and the caller copies.

    make: makes further buffers.
    """

    def __init__(self, make: Callable[[], Buffers]):
        self._make = make
        self._all: list[tuple[Buffers, int]] = []  # with the references to each while nobody else has it

    def free(self) -> Buffers | None:
        """Buffers that nobody else refers to; None if all are in use, or if that is not known."""
        if not COUNTED:
            return None
        for buffers, rest in self._all:
            if buffers.references() == rest:
                return buffers
        if len(self._all) == MOST_TURNS:
            return None
        buffers = self._make()
        self._all.append((buffers, buffers.references()))
        return buffers
