"""Instructions that access memory: loads, stores, atomic operations, and conversions of addresses."""

import numpy as np

from ptx.decoder import DTYPES, Decoder, family, modifiers, unknown
from ptx.memory import LOCAL, SHARED, WINDOW, Space
from ptx.parser import SIZES, Instruction
from ptx.races import ATOMIC, READ, VERBS, WRITE

SPACES = {"global": "global", "shared": "shared", "shared:cta": "shared", "local": "local", "param": "param"}
HINTS = ("nc", "volatile", "weak", "relaxed", "cta", "gpu", "ca", "cg", "cs")  # they change no value here
VECTORS = {"v2": 2, "v4": 4}
UPDATES = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
           "xor": np.bitwise_xor, "exch": lambda old, new: new,
           "cas": lambda old, wanted, new: np.where(old == wanted, new, old)}


def address_of(decoder: Decoder, instruction: Instruction, operand):
    """A function of a frame that returns the addresses of `[register + offset]` or `[variable + offset]` as uint64."""
    if not isinstance(operand, tuple) or operand[0] != "at":
        raise unknown(instruction)
    _, base, offset = operand
    kind = "u32" if SIZES.get(decoder.kinds.get(base, "u64")) == 4 else "u64"
    read, step = decoder.source(instruction, base, kind), np.uint64(offset % (1 << 64))
    return lambda frame: read(frame).astype(np.uint64) + step


def parts(frame, instruction: Instruction, space: str | None, address: np.ndarray):
    """Split an access by spaces: yields (Space, threads, positions in `address` or None for all, addresses for the Space)."""
    active = frame.active()
    frame.site.instruction = instruction
    windows = (address >> np.uint64(60)).astype(int)
    names = [space] if space else [("global", "shared", "local")[window] for window in np.unique(windows).tolist()]
    for name in names:
        positions = None if len(names) == 1 else np.flatnonzero(windows == ("global", "shared", "local").index(name))
        threads = active if positions is None else active[positions]
        here = address if positions is None else address[positions]
        frame.site.threads = threads
        yield frame.spaces[name], threads, positions, here


def cells(frame, space: Space, threads: np.ndarray, address: np.ndarray, width: int, kind: int):
    """Check an access of the kind READ, WRITE or ATOMIC to `width` bytes: bounds, alignment and races.

    Yields (allocation, positions or None for all, phase, index).
    """
    if space is not frame.spaces["global"]:
        owner = frame.threads.block[threads] if space is frame.spaces["shared"] else threads
        address = space.located(np.broadcast_to(address, len(threads)), owner, width)
    for allocation, positions, phase, index in space.access(address, width):
        if space is not frame.spaces["local"]:
            who = threads if positions is None else threads[positions]
            if len(index) == 1 and kind == READ:
                who = who[[0, -1]]  # all read one address: the first and the last thread have its widest spread
            actors = frame.threads.actors(who, frame.timed)
            start = np.broadcast_to(index * width + phase, len(who))
            if found := allocation.shadow.note(kind, start, width, actors):
                position, other, verb = found
                frame.site.threads = who
                frame.fault(position, f"{VERBS[kind]} {width} bytes of {allocation.name}, {int(start[position])} bytes after "
                            f"its begin, which {frame.threads.name(other)} {verb} without a barrier between")
        yield allocation, positions, phase, index


def read(frame, instruction: Instruction, space: str | None, address: np.ndarray, width: int) -> np.ndarray:
    """Values of `width` bytes as unsigned integers, one for each active thread, or one if all read the same address."""
    result = None
    for memory, threads, chosen, here in parts(frame, instruction, space, address):
        for allocation, positions, phase, index in cells(frame, memory, threads, here, width, READ):
            frame.site.threads = threads
            values = memory.read(allocation, positions, phase, index, width)
            if chosen is None and positions is None:
                return values
            if result is None:
                result = np.zeros(len(address), values.dtype)
            place = positions if chosen is None else chosen if positions is None else chosen[positions]
            result[place] = values
    return result


def write(frame, instruction: Instruction, space: str | None, address: np.ndarray, values: np.ndarray):
    """Store a value for each active thread."""
    address, values = frame.spread(address), frame.spread(values)
    width = values.itemsize
    for memory, threads, chosen, here in parts(frame, instruction, space, address):
        for allocation, positions, phase, index in cells(frame, memory, threads, here, width, WRITE):
            mine = values if chosen is None else values[chosen]
            memory.write(allocation, phase, index, width, mine if positions is None else mine[positions])


def aligned(frame, instruction: Instruction, address: np.ndarray, width: int):
    """Check the alignment of a vector access."""
    rest = address % np.uint64(width)
    if rest.any():
        frame.site.instruction, frame.site.threads = instruction, frame.active()
        bad = int((rest != 0).argmax())
        frame.fault(bad, f"accesses {width} bytes at {int(address[bad]):#x}, which is not aligned")


def shape_of(instruction: Instruction, *more: str) -> tuple[str | None, int, str]:
    """Space (None if generic), number of values and type of a load or store."""
    found = modifiers(instruction, *SPACES, *VECTORS, *HINTS, *more)
    space = next((SPACES[part] for part in found if part in SPACES), None)
    return space, next((VECTORS[part] for part in found if part in VECTORS), 1), instruction.opcode[-1]


@family("ld", "ldu")
def load(decoder: Decoder, instruction: Instruction):
    """Loads of one value or a vector."""
    space, count, kind = shape_of(instruction)
    names = instruction.operands[0][1] if count > 1 else [instruction.operands[0]]
    if kind not in DTYPES or len(names) != count:
        raise unknown(instruction)
    targets, width, dtype = [decoder.target(instruction, name, kind) for name in names], SIZES[kind], DTYPES[kind]
    if space == "param":
        _, name, offset = instruction.operands[1]
        if name not in decoder.parameters or count > 1:
            raise unknown(instruction)
        return lambda frame: targets[0](frame, frame.parameters[name][offset:offset + width].view(dtype))
    address = address_of(decoder, instruction, instruction.operands[1])

    def step(frame):
        base = address(frame)
        if count > 1:
            aligned(frame, instruction, base, width * count)
        for k, target in enumerate(targets):
            target(frame, read(frame, instruction, space, base + np.uint64(k * width), width).view(dtype))
    return step


@family("st")
def store(decoder: Decoder, instruction: Instruction):
    """Stores of one value or a vector."""
    space, count, kind = shape_of(instruction)
    names = instruction.operands[1][1] if count > 1 else [instruction.operands[1]]
    if kind not in DTYPES or len(names) != count or space == "param":
        raise unknown(instruction)
    reads, width = [decoder.source(instruction, name, kind) for name in names], SIZES[kind]
    address = address_of(decoder, instruction, instruction.operands[0])

    def step(frame):
        base = address(frame)
        if count > 1:
            aligned(frame, instruction, base, width * count)
        for k, value in enumerate(reads):
            write(frame, instruction, space, base + np.uint64(k * width), value(frame).view(f"u{width}"))
    return step


@family("atom", "red")
def atomic(decoder: Decoder, instruction: Instruction):
    """Atomic operations; threads that meet at an address take turns in the order of their numbers."""
    space, _, kind = shape_of(instruction, *UPDATES, "acquire", "release", "acq_rel", "sys")
    operation = next((part for part in instruction.opcode if part in UPDATES), None)
    operands, dtype = list(instruction.operands), DTYPES.get(kind)
    target = decoder.target(instruction, operands.pop(0) if instruction.opcode[0] == "atom" else "_", kind)
    if dtype is None or operation is None or len(operands) != (3 if operation == "cas" else 2):
        raise unknown(instruction)
    address = address_of(decoder, instruction, operands[0])
    reads = [decoder.source(instruction, text, kind) for text in operands[1:]]

    def step(frame):
        values = [frame.spread(value(frame)) for value in reads]
        old = np.zeros(len(frame.active()), dtype)
        for memory, threads, chosen, here in parts(frame, instruction, space, frame.spread(address(frame))):
            for allocation, positions, phase, index in cells(frame, memory, threads, here, dtype.itemsize, ATOMIC):
                frame.site.threads = threads
                memory.read(allocation, positions, phase, index, dtype.itemsize)
                place = np.arange(len(here)) if positions is None else positions
                place = place if chosen is None else chosen[place]
                view = allocation.view(dtype.itemsize, phase).view(dtype)
                for turn in turns(index):
                    at = index[turn]
                    old[place[turn]] = now = view[at]
                    mine = [value[place[turn]] for value in values]
                    view[at] = UPDATES[operation](now, *mine)
        target(frame, old)
    return step


def turns(index: np.ndarray):
    """Positions of `index` in groups without equal elements: first the first one of each value, then the second one, ..."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(len(index)) - np.repeat(begins, np.diff(np.r_[begins, len(index)]))
    by_rank = np.argsort(rank, kind="stable")
    return np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])


@family("cvta")
def convert_address(decoder: Decoder, instruction: Instruction):
    """Addresses of a space to generic ones, or back with `to`."""
    found = modifiers(instruction, "to", "global", "shared", "local")
    base = np.uint64({"shared": SHARED, "local": LOCAL}.get(found[-1], 0))
    back = found[0] == "to"
    return decoder.function(instruction, ["u64"], "u64", lambda a: (a & WINDOW) if back and base else a | base)
