"""The memory of the device and the page-locked memory of the host: one array of bytes each, so that addresses are real.

The device's memory is allocated as by torch's caching allocator: sizes are multiples of 512 bytes, freed memory is used again
by the same stream only, and each captured graph has a pool of its own. Freed memory of a graph's pool stays the graph's.
"""

import bisect
from dataclasses import dataclass

import numpy as np
import torch

from cuda_double.ordering import DeviceFault, Shadow, Span

GRANULE = 512  # bytes


@dataclass
class Allocation:
    """A piece of memory. size: with the rest of its last granule. pool: the number of a graph, or None."""

    offset: int
    bytes: int
    size: int
    stream: int
    pool: int | None
    asked: str          # by whom: text for messages
    live: bool = True


class Owner:
    """Keeps an allocation; without any owner it is freed."""

    def __init__(self, memory: "Memory", allocation: Allocation):
        self.memory, self.allocation = memory, allocation

    def __del__(self):
        self.memory.free(self.allocation)


class Memory:
    """`size` bytes.

    live, peak: allocated bytes now, and at most so far. reserved: bytes that the allocator has taken from the device.
    """

    def __init__(self, name: str, size: int, names: dict[tuple[int, int], str]):
        raw = torch.zeros(size + GRANULE, dtype=torch.uint8)
        begin = -raw.data_ptr() % GRANULE
        self.name, self.bytes = name, raw[begin: begin + size]
        self.address = self.bytes.data_ptr()
        self.storage = self.bytes.untyped_storage().data_ptr()
        self.skip = begin  # of the storage, before the first byte
        self.shadow = Shadow(size, names)
        self.written = np.zeros(size, bool)  # since the allocation
        self.size, self.reserved, self.live, self.peak = size, 0, 0, 0
        self.unused: dict[tuple[int | None, int], list[tuple[int, int]]] = {}  # by pool and stream: sizes and offsets
        self.at: list[Allocation | None] = [None] * (size // GRANULE)        # the last allocation of each granule

    def allocate(self, size: int, stream: int, pool: int | None, asked: str) -> Owner:
        """Memory for use on a stream. Raises MemoryError if there is too little."""
        count, size = size, max(1, -(-size // GRANULE)) * GRANULE
        unused = self.unused.setdefault((pool, stream), [])
        place = bisect.bisect_left(unused, (size, 0))
        if place < len(unused):
            room, offset = unused.pop(place)
            if room > size:
                bisect.insort(unused, (room - size, offset + size))
        else:
            offset = self.reserved
            if offset + size > self.size:
                raise MemoryError(f"the {self.name} has {self.size:,} bytes, and {size:,} more were asked for")
            self.reserved += size
        allocation = Allocation(offset, count, size, stream, pool, asked)
        self.written[offset: offset + size] = False
        for granule in range(offset // GRANULE, (offset + size) // GRANULE):
            self.at[granule] = allocation
        self.live += size
        self.peak = max(self.peak, self.live)
        return Owner(self, allocation)

    def free(self, allocation: Allocation):
        """Give memory back to its pool."""
        allocation.live = False
        self.live -= allocation.size
        bisect.insort(self.unused[allocation.pool, allocation.stream], (allocation.size, allocation.offset))

    def holds(self, address: int) -> bool:
        """True if this is an address of the memory."""
        return self.address <= address < self.address + self.size

    def allocation(self, address: int) -> Allocation:
        """The allocation at an address. Raises DeviceFault if there never was one."""
        found = self.at[(address - self.address) // GRANULE]
        if found is None:
            raise DeviceFault(f"address {address:#x} of the {self.name} was never allocated")
        return found

    def array(self, offset: int, size: int) -> np.ndarray:
        """(size,) uint8 at an offset."""
        return self.bytes.numpy()[offset: offset + size]

    def tensor(self, offset: int, shape, strides, dtype: torch.dtype) -> torch.Tensor:
        """A tensor of the host in this memory."""
        whole = self.bytes.view(dtype)
        return whole.as_strided(shape, strides, offset // dtype.itemsize + whole.storage_offset())

    def span(self, tensor: torch.Tensor) -> Span:
        """The bytes of a tensor in this memory."""
        offset, item = tensor.data_ptr() - self.address, tensor.element_size()
        if tensor.is_contiguous():
            return Span(offset, tensor.numel() * item)
        return Span(offset, item, tuple(tensor.shape), tuple(stride * item for stride in tensor.stride()))
