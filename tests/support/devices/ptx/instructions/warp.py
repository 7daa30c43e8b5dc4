"""Instructions of a whole warp: shuffles, votes, matrix products.

The scheduler runs them once all threads of the mask have arrived.
"""

import numpy as np

from ptx.decoder import Decoder, family, modifiers, unknown
from ptx.instructions.conversions import from_bf16
from ptx.parser import Instruction
from ptx.threads import WARP


def member_mask(decoder: Decoder, instruction: Instruction):
    """A function of a frame that returns the mask of the threads that must arrive; None if the instruction waits for none."""
    if instruction.opcode[:2] in (["mma", "sync"], ["ldmatrix", "sync"]):
        return lambda frame: np.array([0xFFFFFFFF], np.uint32)
    if instruction.opcode[:2] in (["shfl", "sync"], ["vote", "sync"]) or instruction.opcode == ["bar", "warp", "sync"]:
        return decoder.source(instruction, instruction.operands[-1], "b32")
    return None


@family("shfl")
def shuffle(decoder: Decoder, instruction: Instruction):
    """Reads a register of another thread of the warp."""
    if len(instruction.opcode) != 4 or instruction.opcode[1] != "sync" or instruction.opcode[3] != "b32":
        raise unknown(instruction)
    mode, (first, *texts) = instruction.opcode[2], instruction.operands
    names = first[1:] if isinstance(first, tuple) else (first, "_")
    target, inside = decoder.target(instruction, names[0], "b32"), decoder.target(instruction, names[1], "pred")
    value, by, limits, _ = (decoder.source(instruction, text, "b32") for text in texts)
    move = {"up": lambda lane, b, low, seg: lane - b, "down": lambda lane, b, low, seg: lane + b,
            "bfly": lambda lane, b, low, seg: lane ^ b, "idx": lambda lane, b, low, seg: low | (b & ~seg)}.get(mode)
    if move is None:
        raise unknown(instruction)

    def step(frame):
        threads, active = frame.threads, frame.active()
        lane = threads.lane[active].astype(np.int32)
        clamp, segment = ((limits(frame) >> np.uint32(bit) & np.uint32(31)).view(np.int32) for bit in (0, 8))
        low, high = lane & segment, (lane & segment) | (clamp & ~segment)
        source = move(lane, (by(frame) & np.uint32(31)).view(np.int32), low, segment)
        valid = source >= high if mode == "up" else source <= high
        slots = np.zeros(threads.warps * WARP, np.uint32)
        here = np.zeros(threads.warps * WARP, bool)
        slots[threads.slot[active]], here[threads.slot[active]] = value(frame), True
        place = threads.slot[active] - lane + np.where(valid, source, lane)
        if not here[place].all():
            frame.site.instruction, frame.site.threads = instruction, active
            frame.fault(int(here[place].argmin()), "reads a register of a thread that is not there")
        target(frame, slots[place])
        inside(frame, valid)
    return step


@family("vote")
def vote(decoder: Decoder, instruction: Instruction):
    """all, any, or ballot: a bit for each thread whose predicate is true."""
    mode = instruction.opcode[2] if instruction.opcode[1:2] == ["sync"] else None
    if instruction.opcode[3:] != (["b32"] if mode == "ballot" else ["pred"]) or mode not in ("all", "any", "ballot"):
        raise unknown(instruction)
    text = instruction.operands[1]
    predicate, negated = decoder.source(instruction, text.removeprefix("!"), "pred"), text[0] == "!"
    mask = decoder.source(instruction, instruction.operands[2], "b32")
    target = decoder.target(instruction, instruction.operands[0], instruction.opcode[3])

    def step(frame):
        threads, active = frame.threads, frame.active()
        bits = np.zeros(threads.warps, np.uint32)
        np.bitwise_or.at(bits, threads.warp[active], (predicate(frame) ^ negated).astype(np.uint32) << threads.lane[active])
        ballot, members = bits[threads.warp[active]], mask(frame)
        results = {"ballot": ballot & members, "any": (ballot & members) != 0, "all": (ballot & members) == members}
        target(frame, results[mode])
    return step


@family("mma")
def matrix_product(decoder: Decoder, instruction: Instruction):
    """D = A B + C for A (16, 16) and B (16, 8) in bfloat16, C and D (16, 8) in float32, spread over a warp as the PTX ISA shows
    ("Matrix Fragments for mma.m16n8k16 with floating point type"). Sums are exact up to one rounding at the end; hardware
    rounds partial sums in ways that are not documented."""
    if instruction.opcode != ["mma", "sync", "aligned", "m16n8k16", "row", "col", "f32", "bf16", "bf16", "f32"]:
        raise unknown(instruction)
    d, a, b, c = (operand[1] for operand in instruction.operands)
    targets = [decoder.target(instruction, name, "f32") for name in d]
    reads = [[decoder.source(instruction, name, kind) for name in names]
             for names, kind in ((a, "b32"), (b, "b32"), (c, "f32"))]
    lane = np.arange(WARP)
    group, pair = lane // 4, lane % 4 * 2

    def step(frame):
        def matrix(sources, shape, row, column):
            """(warps, *shape) float64; the place of value k of lane l is (row(k)[l], column(k)[l])."""
            whole = np.zeros((len(frame.active()) // WARP, *shape))
            for k, value in enumerate(values(frame, sources)):
                whole[:, row(k), column(k)] = value.reshape(-1, WARP)
            return whole
        left = matrix(reads[0], (16, 16), lambda k: group + 8 * (k // 2 % 2), lambda k: pair + 8 * (k // 4) + k % 2)
        right = matrix(reads[1], (16, 8), lambda k: pair + 8 * (k // 2) + k % 2, lambda k: group)
        total = matrix(reads[2], (16, 8), lambda k: group + 8 * (k // 2), lambda k: pair + k % 2)
        product = (left @ right + total).astype(np.float32)
        for k, target in enumerate(targets):
            target(frame, product[:, group + 8 * (k // 2), pair + k % 2].reshape(-1))
    return step


def values(frame, sources):
    """The numbers in registers, each spread to all active threads: two of bfloat16 in a b32, or a float32."""
    for source in sources:
        value = frame.spread(source(frame))
        if value.dtype == np.float32:
            yield value
        else:
            yield from (from_bf16((value >> np.uint32(bit)).astype(np.uint16)) for bit in (0, 16))


@family("bar", "barrier", "membar", "fence")
def order(decoder: Decoder, instruction: Instruction):
    """Barriers of a warp and fences: the scheduler and the record of races do all of it."""
    if instruction.opcode not in (["bar", "warp", "sync"], ["membar", "cta"], ["membar", "gl"]):
        raise unknown(instruction)
    if instruction.opcode[0] == "membar":
        return lambda frame: None
    modifiers(instruction, "warp")

    def step(frame):
        frame.threads.warp_time[np.unique(frame.threads.warp[frame.active()])] += 1
    return step
