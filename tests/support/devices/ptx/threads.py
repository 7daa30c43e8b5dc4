"""The threads of a chunk of blocks: numbers, registers, and the frame through which a step sees the active ones."""

import numpy as np

from ptx.faults import Fault
from ptx.memory import Space
from ptx.parser import Instruction
from ptx.races import Actors

WARP = 32


class Threads:
    """The threads of some blocks of a grid, in the order of blocks.

    grid, block: three numbers each.
    first, blocks: the number of the first block, and how many there are.
    """

    def __init__(self, grid: tuple, block: tuple, first: int, blocks: int):
        self.per_block = block[0] * block[1] * block[2]
        self.count, self.blocks, self.first = self.per_block * blocks, blocks, first
        within = np.tile(np.arange(self.per_block, dtype=np.uint32), blocks)
        self.block = np.repeat(np.arange(blocks, dtype=np.int32), self.per_block)
        self.warps_per_block = -(-self.per_block // WARP)
        self.lane = within % WARP
        self.warp = self.block * self.warps_per_block + (within // WARP).astype(np.int32)
        self.slot = self.warp.astype(np.int64) * WARP + self.lane  # place among complete warps
        self.warps = blocks * self.warps_per_block
        self.block_time, self.warp_time = np.zeros(blocks, np.int32), np.zeros(self.warps, np.int32)
        number = (first + self.block).astype(np.uint32)
        one = [np.array([size], np.uint32) for size in (*block, *grid)]
        self.special = {"%laneid": self.lane}
        for names, index, sizes in ((("tid", "ntid"), within, one[:3]), (("ctaid", "nctaid"), number, one[3:])):
            places = index % sizes[0], index // sizes[0] % sizes[1], index // sizes[0] // sizes[1]
            for name, values in zip(names, (places, sizes), strict=True):
                self.special.update({f"%{name}.{axis}": value for axis, value in zip("xyz", values, strict=True)})

    def actors(self, index: np.ndarray, timed: bool) -> Actors:
        """Threads for the record of races; their numbers are those in the grid."""
        block, warp = self.block[index], self.warp[index]
        times = (self.block_time[block], self.warp_time[warp]) if timed else (None, None)
        thread = (index + self.first * self.per_block).astype(np.int32)
        return Actors(thread, block + self.first, warp + self.first * self.warps_per_block, *times)

    def name(self, thread: int) -> str:
        """A thread by its number in the grid, for messages."""
        return f"thread {thread % self.per_block} of block {thread // self.per_block}"


class Site:
    """The instruction that accesses memory now, and its threads."""

    instruction: Instruction | None = None
    threads = np.zeros(0, np.int64)


class Frame:
    """The registers of the active threads during some steps.

    all: the registers of all threads, by place; None if never written.
    index: numbers of the active threads in the chunk, or None if all are active.
    now: the active threads' registers.
    timed: whether the kernel has barriers.
    """

    def __init__(self, threads: Threads, parameters: dict[str, np.ndarray], places: dict[str, int], timed: bool):
        self.threads, self.parameters, self.timed = threads, parameters, timed
        self.spaces: dict[str, Space] = {}
        self.copies: list[tuple] = []                    # of cp.async, not yet waited for; see copies.py
        self.groups = np.zeros(threads.count, np.int64)  # that each thread has committed
        self.site = Site()
        self.all: list[np.ndarray | None] = [None] * len(places)
        for name, value in threads.special.items():
            self.all[places[name]] = value
        self.index: np.ndarray | None = None
        self.now = self.all
        self.everyone = np.arange(threads.count)

    def activate(self, index: np.ndarray | None):
        """Choose the active threads; None for all."""
        self.index = index
        self.now = self.all if index is None else [None] * len(self.all)

    def active(self) -> np.ndarray:
        """Numbers of the active threads in the chunk."""
        return self.everyone if self.index is None else self.index

    def narrowed(self, index: np.ndarray) -> "Frame":
        """A frame of the same memory for some of the threads, for accesses only."""
        frame = Frame.__new__(Frame)
        frame.__dict__.update(self.__dict__)
        frame.index = index
        return frame

    def fetch(self, place: int, name: str, instruction: Instruction) -> np.ndarray:
        """The active threads' values of a register that no step of this frame has written."""
        value = self.all[place]
        if value is None:
            raise Fault(f"reads the register {name}, which was never written (line {instruction.line}: {instruction.text})")
        if self.index is not None:
            value = self.now[place] = value if len(value) == 1 else value[self.index]
        return value

    def commit(self, written: set[int]):
        """Store the registers that the steps wrote, if not all threads are active."""
        if self.index is None:
            return
        for place in written:
            value, before = self.now[place], self.all[place]
            if value is None:
                continue
            if before is None:
                self.all[place] = before = np.zeros(self.threads.count, value.dtype)
            elif len(before) == 1 and self.threads.count > 1:
                self.all[place] = before = np.repeat(before, self.threads.count)
            before = before.view(value.dtype)
            before[self.index] = value
            self.all[place] = before

    def spread(self, value: np.ndarray) -> np.ndarray:
        """A value for each active thread."""
        return np.broadcast_to(value, len(self.active())) if len(value) == 1 else value

    def fault(self, position: int, text: str):
        """Raise the fault of one of the accessing threads."""
        thread = int(self.site.threads[position]) + self.threads.first * self.threads.per_block
        raise Fault(f"{self.threads.name(thread)} {text}", self.site.instruction)
