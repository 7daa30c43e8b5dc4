"""Runs the threads of a chunk: always those at the lowest instruction, so that divergent branches meet again.

An entry is cut into straight runs of steps. Each ends with a branch, a return, a barrier, or the beginning of the next run. A
thread that waits for others, at a barrier of its block or at an instruction of its warp, is parked until they have come. If
all are parked and none can go on, that is a fault.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ptx.decoder import Decoder, Step, unknown
from ptx.faults import Fault
from ptx.functions import ENTRY_OF
from ptx.instructions.warp import member_mask
from ptx.parser import Entry, Instruction
from ptx.threads import Frame

PARKED, DONE = 1 << 29, 1 << 30
LIMIT = 20_000_000  # runs of steps before a kernel counts as endless


@dataclass
class Run:
    """Steps without a branch between.

    instruction: the last one.
    mask: for an instruction of a warp, a function of the frame that returns the mask of its threads.
    condition: of the branch at the end or of the only instruction, or None if it always holds. `negated` inverts it.
    to: the run after a branch; DONE for a return; None if there is no branch.
    barrier: True if a barrier of the block ends the run.
    call: of a call at the end: the function's first run and its name.
    back: of a function's return: its name.
    table: of an indexed branch at the end: the runs, and a function of the frame that returns the index.
    """

    instruction: Instruction | None
    steps: list[tuple[Instruction, Step]] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    mask: Callable | None = None
    condition: Callable | None = None
    negated: bool = False
    to: int | None = None
    barrier: bool = False
    call: tuple[int, str] | None = None
    back: str | None = None
    table: tuple[np.ndarray, Callable] | None = None


def runs_of(entry: Entry, decoder: Decoder) -> list[Run]:
    """Cut and decode an entry. Raises UnknownInstruction."""
    starts = {0, len(entry.instructions), *entry.labels.values()}
    for place, instruction in enumerate(entry.instructions):
        alone = instruction.guard is not None or member_mask(decoder, instruction) is not None
        if alone or instruction.opcode[0] in ("bra", "brx", "call", "ret", "exit", "bar", "barrier"):
            starts |= {place + 1} | ({place} if alone else set())
    begins = sorted(starts)
    number = {place: run for run, place in enumerate(begins)}
    labels = {label: number[place] for label, place in entry.labels.items()}
    runs = []
    for begin, end in itertools.pairwise(begins):
        decoder.written = set()
        run = Run(entry.instructions[end - 1])
        for instruction in entry.instructions[begin:end]:
            _add(run, instruction, decoder, labels, entry.tables)
        run.written = decoder.written
        runs.append(run)
    return [*runs, Run(None, to=DONE)]


def _add(run: Run, instruction: Instruction, decoder: Decoder, labels: dict[str, int], tables: dict[str, list[str]]):
    """Decode an instruction into its run. A guarded one that is no branch is alone in its run."""
    name = instruction.opcode[0]
    if instruction.guard:
        run.condition = decoder.source(instruction, instruction.guard[0], "pred")
        run.negated = instruction.guard[1]
    if name == "bra":
        if instruction.operands[0] not in labels or instruction.opcode[1:] not in ([], ["uni"]):
            raise unknown(instruction)
        run.to = labels[instruction.operands[0]]
    elif name in ("call", "brx") or (name == "ret" and instruction.operands):
        if instruction.guard:
            raise unknown(instruction)
        if name == "call":
            run.call = labels[ENTRY_OF + instruction.operands[0]], instruction.operands[0]
        elif name == "ret":
            run.back = instruction.operands[0]
        else:
            index, table = instruction.operands
            run.table = np.array([labels[one] for one in tables[table]]), decoder.source(instruction, index, "u32")
    elif name in ("ret", "exit"):
        run.to = DONE
    elif name in ("bar", "barrier") and instruction.opcode[1] != "warp":
        if instruction.opcode[1:] != ["sync"] or len(instruction.operands) != 1 or instruction.guard:
            raise unknown(instruction)
        run.barrier = True
    else:
        run.mask = member_mask(decoder, instruction)
        run.steps.append((instruction, decoder.decode(instruction)))
        if instruction.guard and run.mask:
            raise unknown(instruction)


class Scheduler:
    """Runs the threads of a frame to their end."""

    def __init__(self, runs: list[Run], frame: Frame):
        self.runs, self.frame, self.threads = runs, frame, frame.threads
        self.place = np.zeros(frame.threads.count, np.int32)  # each thread's run, PARKED + its run, or DONE
        self.returns: dict[str, np.ndarray] = {}              # by function: the run at which each thread goes on

    def finish(self):
        """Run until all threads have returned."""
        for _ in range(LIMIT):
            lowest = int(self.place.min())
            if lowest == DONE:
                return
            if lowest >= PARKED:
                self._release()
            else:
                self._run(lowest)
        raise Fault(f"does not end: {LIMIT} runs of steps are done", self.runs[lowest % PARKED].instruction)

    def _run(self, number: int):
        """Run the threads that are at a run of steps."""
        run, frame = self.runs[number], self.frame
        here = self.place == number
        if run.mask:
            index = self._arrived(run, np.flatnonzero(here | (self.place == PARKED + number)), number)
            if not len(index):
                return
        else:
            index = None if here.all() else np.flatnonzero(here)
        frame.activate(None if index is not None and len(index) == self.threads.count else index)
        active, following = frame.active(), number + 1
        if run.condition and run.to is None:  # a guarded instruction
            active = active[frame.spread(run.condition(frame) ^ run.negated)]
            self.place[frame.active()] = following
            if not len(active):
                return
            frame.activate(None if len(active) == self.threads.count else active)
        for instruction, step in run.steps:
            try:
                step(frame)
            except Fault as fault:
                raise fault.at(instruction) from None
        if run.barrier:
            following = PARKED + number
        elif run.call:
            start, name = run.call
            self.returns.setdefault(name, np.zeros(self.threads.count, np.int32))[active] = following
            following = start
        elif run.back:
            following = self.returns[run.back][active]
        elif run.table:
            table, index = run.table
            following = table[index(frame)]
        elif run.to is not None:
            following = np.where(run.condition(frame) ^ run.negated, run.to, following) if run.condition else run.to
        self.place[active] = following
        frame.commit(run.written)

    def _arrived(self, run: Run, index: np.ndarray, number: int) -> np.ndarray:
        """The threads of `index` whose masks are complete; parks the others."""
        frame, warp = self.frame, self.threads.warp[index]
        frame.activate(index)
        mask, bit = frame.spread(run.mask(frame)), np.uint32(1) << self.threads.lane[index]
        there = np.zeros(self.threads.warps, np.uint32)
        np.bitwise_or.at(there, warp, bit)
        if not (mask & bit).all():
            self._fault(int(index[(mask & bit).argmin()]), "is not in its own mask", run.instruction)
        complete = (there[warp] & mask) == mask
        self.place[index[~complete]] = PARKED + number
        return index[complete]

    def _release(self):
        """Let the blocks go on in which all threads wait at one barrier. Raises Fault if there is none."""
        places = self.place.reshape(self.threads.blocks, -1)
        waits = np.array([run.barrier for run in self.runs])
        first = places[:, 0]
        free = (places == first[:, None]).all(axis=1) & (first < DONE)
        free[free] = waits[first[free] - PARKED]
        if not free.any():
            waiting = int((self.place < DONE).argmax())
            others = places[self.threads.block[waiting]]
            other = int((others != self.place[waiting]).argmax())
            missing = f"thread {other} of its block {'has returned' if others[other] == DONE else 'waits elsewhere'}"
            if others[other] == self.place[waiting]:
                missing = "its mask has threads that are not there"
            self._fault(waiting, f"waits for ever: {missing}", self.runs[self.place[waiting] - PARKED].instruction)
        places[free] -= PARKED - 1
        self.threads.block_time[free] += 1
        self.threads.warp_time.reshape(self.threads.blocks, -1)[free] += 1

    def _fault(self, thread: int, text: str, instruction: Instruction):
        number = thread + self.threads.first * self.threads.per_block
        raise Fault(f"{self.threads.name(number)} {text}", instruction)
