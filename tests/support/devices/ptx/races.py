"""Races: two threads access the same bytes, one of them writes, and no barrier orders them.

Each access leaves its thread and time in a shadow of the allocation. Times count barriers: `bar.sync` orders the threads of a
block, `bar.warp.sync` those of a warp (of all its threads, whatever its mask); nothing orders threads of two blocks. Atomic
operations do not race with each other. A cell of a shadow stands for as many bytes as the narrowest access so far.
"""

from dataclasses import dataclass

import numpy as np

READ, WRITE, ATOMIC = 0, 1, 2
AGAINST = {READ: (WRITE, ATOMIC), WRITE: (WRITE, READ, ATOMIC), ATOMIC: (WRITE, READ)}
VERBS = ("reads", "writes", "updates")
PAST = ("read", "wrote", "updated")
ONE, WARP, BLOCK, GRID = 0, 1, 2, 3  # how far the threads that accessed a cell lie apart


@dataclass
class Actors:
    """The threads of an access: arrays of their numbers in the grid, and the barriers that they passed, or None."""

    thread: np.ndarray
    block: np.ndarray
    warp: np.ndarray
    block_time: np.ndarray | None
    warp_time: np.ndarray | None

    def take(self, positions) -> "Actors":
        """Some of them."""
        if positions is None:
            return self
        times = (None if time is None else time[positions] for time in (self.block_time, self.warp_time))
        return Actors(self.thread[positions], self.block[positions], self.warp[positions], *times)


class Traces:
    """The last accesses of one kind to each cell: a thread of the latest ones, its times, and their spread."""

    def __init__(self, cells: int, timed: bool):
        self.thread, self.spread = np.full(cells, -1, np.int32), np.zeros(cells, np.uint8)
        self.block, self.warp = np.zeros(cells, np.int32), np.zeros(cells, np.int32)
        self.times = [np.zeros(cells, np.int32) for _ in range(2)] if timed else []

    def refine(self, factor: int):
        """Replace each cell by several."""
        for name in ("thread", "spread", "block", "warp"):
            setattr(self, name, np.repeat(getattr(self, name), factor))
        self.times = [np.repeat(time, factor) for time in self.times]

    def conflicts(self, cell: np.ndarray, who: Actors) -> np.ndarray:
        """True for each thread whose access is not ordered with these accesses to its cell."""
        thread = self.thread[cell]
        strangers = (thread >= 0) & (thread != who.thread)
        spread = self.spread[cell]
        strangers |= spread > ONE
        if not self.times or not strangers.any():
            return strangers
        far = (self.block[cell] != who.block) | (spread == GRID)
        ordered = self.times[0][cell] != who.block_time
        in_warp = (self.warp[cell] == who.warp) & (spread <= WARP)
        ordered |= in_warp & (self.times[1][cell] != who.warp_time)
        return strangers & (far | ~ordered)

    def add(self, cell: np.ndarray, who: Actors) -> np.ndarray:
        """Record accesses. True for each thread that accesses a cell at once with another thread."""
        before, block, warp, spread = self.thread[cell], self.block[cell], self.warp[cell], self.spread[cell]
        new = np.where((before < 0) | (before == who.thread), ONE, np.where(block != who.block, GRID, np.where(
            warp != who.warp, BLOCK, WARP))).astype(np.uint8)
        if self.times:  # accesses before a barrier of the block need no record beside those after it
            in_warp = (warp == who.warp) & (spread <= WARP)
            old = (self.times[0][cell] != who.block_time) | (in_warp & (self.times[1][cell] != who.warp_time))
            old &= (block == who.block) & (spread < GRID)
            spread, new = np.where(old, ONE, spread), np.where(old, ONE, new)
            self.times[0][cell], self.times[1][cell] = who.block_time, who.warp_time
        self.spread[cell] = np.maximum(spread, new)
        self.thread[cell], self.block[cell], self.warp[cell] = who.thread, who.block, who.warp
        together = self.thread[cell] != who.thread
        if together.any():
            apart = np.where(self.block[cell] != who.block, GRID, np.where(self.warp[cell] != who.warp, BLOCK, WARP))
            for distance in (WARP, BLOCK, GRID):
                here = cell[together & (apart == distance)]
                self.spread[here] = np.maximum(self.spread[here], distance)
        return together


class Shadow:
    """The accesses of a kernel to an allocation of `size` bytes that begins at the address `base`."""

    def __init__(self, size: int, base: int = 0):
        self.phase, self.size, self.grain = base % 16, size + base % 16, 0
        self.traces: dict[int, Traces] = {}

    def note(self, kind: int, start: np.ndarray, width: int, who: Actors) -> tuple[int, int, str] | None:
        """Record an access to `width` bytes from byte `start` on. Returns None, or the position of a thread that races, the
        other thread, and that one's verb."""
        if not self.grain or width < self.grain:
            for traces in self.traces.values():
                traces.refine(self.grain // width)
            self.grain = width
        for part in range(0, width, self.grain):
            cell = (start + (self.phase + part)) // self.grain
            for other in AGAINST[kind]:
                if other in self.traces:
                    bad = self.traces[other].conflicts(cell, who)
                    if bad.any():
                        position = int(bad.argmax())
                        return position, int(self.traces[other].thread[cell[position]]), PAST[other]
            if kind not in self.traces:
                self.traces[kind] = Traces(-(-self.size // self.grain), who.block_time is not None)
            together = self.traces[kind].add(cell, who)
            if kind == WRITE and together.any():
                position = int(together.argmax())
                return position, int(self.traces[kind].thread[cell[position]]), PAST[kind]
        return None
