"""Memory of a device: allocations by address, and the bytes of the three spaces that kernels access.

Each access is checked: it must lie inside one live allocation, be aligned to its size, and read only written bytes.
"""

import bisect
from collections.abc import Callable

import numpy as np

from ptx.races import Shadow

SHARED, LOCAL = 1 << 60, 2 << 60  # generic addresses of a block's shared memory and a thread's local memory
WINDOW = np.uint64((1 << 60) - 1)


class Allocation:
    """A live allocation.

    base: address of its first byte.
    data: uint8 array of its bytes.
    written: bool array, False for bytes that were never written; None if all bytes were.
    name: for messages.
    """

    def __init__(self, base: int, data: np.ndarray, written: np.ndarray | None = None, name: str = "an allocation"):
        self.base, self.data, self.written, self.name = base, data, written, name
        self.end = base + len(data)
        self._views: dict[tuple[int, int], np.ndarray] = {}
        self.shadow: Shadow | None = None  # accesses of the kernel that runs

    def view(self, width: int, phase: int) -> np.ndarray:
        """The bytes from `phase` on as unsigned integers of `width` bytes."""
        key = width, phase
        if key not in self._views:
            count = (len(self.data) - phase) // width
            part = self.data[phase:phase + count * width]
            self._views[key] = part.view(f"u{width}")
        return self._views[key]


class Memory:
    """The live allocations of a device. `find` is all that the emulator needs."""

    def __init__(self):
        self._bases: list[int] = []
        self._by_base: dict[int, Allocation] = {}

    def add(self, address: int, data: np.ndarray, written: np.ndarray | None = None, name: str = "an allocation") -> Allocation:
        """Make `data` a live allocation at an address. Raises ValueError if it overlaps another one."""
        before = self.find(address) or (self.find(address + len(data) - 1) if len(data) else None)
        if before is not None:
            raise ValueError(f"{name} overlaps {before.name} at {before.base:#x}")
        self._by_base[address] = Allocation(address, data, written, name)
        bisect.insort(self._bases, address)
        return self._by_base[address]

    def add_array(self, array: np.ndarray, written: np.ndarray | None = None, name: str = "an array") -> np.uint64:
        """Make a contiguous array a live allocation at its own address, which is returned. Raises ValueError as `add`."""
        self.add(array.ctypes.data, array.reshape(-1).view(np.uint8), written, name)
        return np.uint64(array.ctypes.data)

    def remove(self, address: int):
        """End the allocation that begins at an address."""
        del self._by_base[address]
        self._bases.remove(address)

    def find(self, address: int) -> Allocation | None:
        """The live allocation with the byte at an address."""
        place = bisect.bisect_right(self._bases, address) - 1
        if place < 0:
            return None
        allocation = self._by_base[self._bases[place]]
        return allocation if address < allocation.end else None


class Space:
    """One of the three spaces, for the threads of a chunk of blocks.

    fault: set by the launch: raises an error about a thread, given by its position among the accessing ones and a text.
    """

    fault: Callable[[int, str], None]

    def pieces(self, address: np.ndarray, width: int):
        """Split an access: yields (allocation, positions of the threads in `address` or None for all, byte offsets)."""
        raise NotImplementedError

    def access(self, address: np.ndarray, width: int):
        """As `pieces`, with indexes into `Allocation.view(width, phase)`, as (allocation, positions, phase, index)."""
        rest = address % np.uint64(width)
        if rest.any():
            bad = int((rest != 0).argmax())
            self.fault(bad, f"accesses {width} bytes at {int(address[bad]):#x}, which is not aligned")
        for allocation, positions, offset in self.pieces(address, width):
            phase = -allocation.base % width
            yield allocation, positions, phase, (offset - phase) // width

    def read(self, allocation: Allocation, positions, phase: int, index: np.ndarray, width: int) -> np.ndarray:
        """The values, after the check that they were written."""
        if allocation.written is not None and not allocation.written.all():
            start = index * width + phase
            good = allocation.written[start]
            for byte in range(1, width):
                good = good & allocation.written[start + byte]
            if not good.all():
                bad = int(good.argmin())
                self.fault(bad if positions is None else int(positions[bad]),
                           f"reads {width} bytes of {allocation.name} that were never written, "
                           f"{int(start[bad])} bytes after its begin")
        return allocation.view(width, phase)[index]

    def write(self, allocation: Allocation, phase: int, index: np.ndarray, width: int, values: np.ndarray):
        """Store values of `width` bytes each."""
        allocation.view(width, phase)[index] = values
        if allocation.written is not None:
            start = index * width + phase
            for byte in range(width):
                allocation.written[start + byte] = True


class GlobalSpace(Space):
    """Global memory. find: returns the allocation with the byte at an address, or None."""

    def __init__(self, find: Callable[[int], Allocation | None]):
        self.find = find
        self.touched: list[Allocation] = []
        self._last: Allocation | None = None

    def pieces(self, address: np.ndarray, width: int):
        low, high = int(address.min()), int(address.max())
        allocation = self._last
        if allocation is None or not allocation.base <= low < allocation.end:
            allocation = self._find(address, low, width)
        if high + width <= allocation.end:
            yield allocation, None, (address - np.uint64(allocation.base)).view(np.int64)
            return
        left = np.arange(len(address))
        while len(left):
            here = address[left]
            allocation = self._find(address, int(here[0]), width)
            inside = (here >= np.uint64(allocation.base)) & (here < np.uint64(allocation.end))
            positions = left[inside]
            offset = (here[inside] - np.uint64(allocation.base)).view(np.int64)
            over = offset + width > len(allocation.data)
            if over.any():
                self._outside(address, int(positions[over.argmax()]), width)
            yield allocation, positions, offset
            left = left[~inside]

    def _find(self, address: np.ndarray, wanted: int, width: int) -> Allocation:
        """The allocation of an address; it is the first guess for the next access."""
        allocation = self.find(wanted)
        if allocation is None:
            self._outside(address, int((address == np.uint64(wanted)).argmax()), width)
        if not any(other is allocation for other in self.touched):
            self.touched.append(allocation)
            allocation.shadow = Shadow(len(allocation.data), allocation.base)
        self._last = allocation
        return allocation

    def _outside(self, address: np.ndarray, position: int, width: int):
        place = int(address[position])
        below = next((found for back in (1, 4, 16, 64, 256, 1024, 4096) if (found := self.find(place - back))), None)
        near = f", {place + width - below.end} bytes too far for {below.name} of {len(below.data)} bytes" if below else ""
        self.fault(position, f"accesses {width} bytes at {place:#x}, outside every live allocation{near}")


class PrivateSpace(Space):
    """Shared memory of each block, or local memory of each thread: one allocation, with `size` bytes for each owner.

    owners: number of blocks or threads.
    """

    def __init__(self, name: str, size: int, owners: int):
        self.name, self.size, self.stride = name, size, -(-size // 16) * 16
        data = np.zeros(self.stride * owners, np.uint8)
        self.allocation = Allocation(0, data, np.zeros(len(data), bool), name)
        self.allocation.shadow = Shadow(len(data))

    def located(self, address: np.ndarray, owner: np.ndarray, width: int) -> np.ndarray:
        """Addresses in the one allocation, from addresses in each owner's part."""
        address = address & WINDOW
        over = address > np.uint64(max(0, self.size - width)) if self.size >= width else np.ones(len(address), bool)
        if over.any():
            bad = int(over.argmax())
            self.fault(bad, f"accesses {width} bytes at {int(address[bad])} of {self.name}, which has {self.size} bytes")
        return address + owner.astype(np.uint64) * np.uint64(self.stride)

    def pieces(self, address: np.ndarray, width: int):
        yield self.allocation, None, address.view(np.int64)
