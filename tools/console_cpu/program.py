"""Random programs for the processor, which show in RAM whatever an instruction does.

A program tries instructions one after the other, for ever. Each begins with registers, flags and a stack pointer that a
subroutine makes from a state in RAM. Another subroutine mixes what the instruction left, and the cycles that it took by the
timer, into this state. So two consoles with the same RAM after a frame did the same in all instructions before, all but
certainly. All 256 are tried but those that stop a processor (JAM), in their modes of addressing, across pages and around the
ends of the address space, with all flags, decimal mode among them.

RAM. 80 to 8F: the state. 90 to CF: bytes that instructions change. D0 to D7: pointers. D8 to FF: the stack.
"""

import random

from envs_c.console.recompiled.follow import length
from tools.console_facts.programs import Assembler, frame

A, X, Y, P, S, COUNT, LOW, HIGH = range(0x80, 0x88)  # the state, a scratch byte, an address
LEFT_A, LEFT_X, LEFT_Y, LEFT_P, LEFT_S, CYCLES = range(0x88, 0x8E)  # what an instruction left
POINTERS = {0xD0: 0x0090, 0xD2: 0xF100, 0xD4: 0xFFA0, 0xD6: 0x0190}  # X of KINDS chooses one of the first two, Y adds to it
TRIES = 60         # instructions of a frame
LAST = 0xFF80      # the code of the instructions ends before
KINDS = {          # what is done with X and Y before an instruction: (and, or) of each
    "any": (255, 0, 255, 0), "small": (15, 0, 15, 0), "large": (15, 0xF0, 15, 0xF0), "pointer": (2, 0, 15, 0),
    "pointer around": (2, 0xFC, 15, 0), "stack": (15, 0xF0, 15, 0)}
MASKS, BYTES = 0x000, 0x0F0  # offsets in the ROM of KINDS, and of bytes for instructions: high ones, for LAS sets the stack
JAMS = frozenset(range(0x02, 0x100, 0x10)) - {0x82, 0xA2, 0xC2, 0xE2}
FLOW = (0x00, 0x20, 0x40, 0x4C, 0x60, 0x6C)
TRIED = sorted(set(range(256)) - JAMS - {0x20, 0x40, 0x60})  # the other three end each BRK and each subroutine


def subroutines(code: Assembler) -> None:
    """What runs before and after an instruction, and at the end of a frame."""
    for number, kind in enumerate(KINDS):
        code.label(kind)(0xA2, 4 * number, 0xD0 if number else 0x4C, *([">before"] if number else ["before"]))
    code.label("before")(0x68, 0x85, LOW, 0x68, 0x85, HIGH)                    # the stack pointer: E2 to FD
    code(0xA5, X, 0x3D, 0x00, 0xF0, 0x1D, 0x01, 0xF0, 0x85, LEFT_X, 0xA5, Y, 0x3D, 0x02, 0xF0, 0x1D, 0x03, 0xF0, 0x85, LEFT_Y)
    for at, address in POINTERS.items():
        code(0xA5, S, 0x29, 0x1F, 0x09, address & 0xFF, 0x85, at, 0xA9, address >> 8, 0x85, at + 1)
    code(0xA5, S, 0x29, 0x1B, 0x09, 0xE2, 0xAA, 0x9A, 0xA5, HIGH, 0x48, 0xA5, LOW, 0x48)
    code(0xA5, P, 0x48, 0xA9, 0xFF, 0x8D, 0x94, 0x02, 0xA5, A, 0xA6, LEFT_X, 0xA4, LEFT_Y, 0x28, 0x60)
    code.label("after")(0x08, 0x85, LEFT_A, 0x86, LEFT_X, 0x84, LEFT_Y, 0x68, 0x85, LEFT_P, 0xAD, 0x84, 0x02, 0x85, CYCLES)
    code(0xBA, 0x86, LEFT_S, 0x68, 0x85, LOW, 0x68, 0x85, HIGH, 0xA2, 0xFF, 0x9A, 0xD8, 0x18)
    for state, left, other in ((A, LEFT_A, CYCLES), (X, LEFT_X, LEFT_P), (Y, LEFT_Y, LEFT_S), (P, A, X), (S, Y, COUNT)):
        code(0xA5, state, 0x2A, 0x65, left, 0x45, other, 0x85, state)           # LDA, ROL, ADC, EOR, STA
    code(0xE6, COUNT, 0xA5, HIGH, 0x48, 0xA5, LOW, 0x48, 0x60)
    frame(code.label("next frame"))(0x60)
    code.label("break")(0x85, LEFT_A, 0x68, 0x48, 0x45, S, 0x85, S, 0xA5, LEFT_A, 0x40)  # mix the flags of BRK, RTI
    code.label("back")(0xE6, 0x91, 0x60)


def operand(draw: random.Random, op: int) -> tuple[str, list[int]]:
    """A kind and the bytes after `op`, such that it writes to RAM or ROM only."""
    low = draw.randrange(0x90, 0xB0)
    if length(op) == 1:
        return ("stack" if op == 0x9A else "any"), []
    mode = op & 0x1F
    if mode in (0x01, 0x03):   # (zero page, X)
        return draw.choice([("pointer", [0xD0]), ("pointer around", [0xD4])])
    if mode in (0x11, 0x13):   # (zero page), Y
        return draw.choice([("small", [draw.choice([0xD0, 0xD2, 0xD6])]), ("large", [draw.choice([0xD2, 0xD4])])])
    if length(op) == 2 and mode & 0x1C == 0x14:
        return draw.choice([("small", [low]), ("large", [low + 16])])
    if length(op) == 2:
        return "any", [draw.randrange(0x90, 0xD0) if mode & 0x1C == 0x04 else draw.randrange(256)]
    if mode & 0x1C == 0x0C:    # absolute
        return "any", draw.choice([[low, 0], [low, 1], [low, 0xD4], [draw.randrange(256), 0xF1], [draw.randrange(256), 0x13]])
    if op in (0xBB, 0x9B):     # LAS and SHS set the stack pointer
        at = 0xF000 + BYTES + draw.randrange(0x110 - 15)
        return "stack", [at & 0xFF, at >> 8]
    return draw.choice([("small", [low, 0]), ("large", [low + 16, 0xFF]), ("any", [draw.randrange(256), 0xF0])])


def attempt(code: Assembler, draw: random.Random, op: int, number: int) -> None:
    """One instruction between the two subroutines."""
    here, there = f"here {number}", f"there {number}"
    if op & 0x1F == 0x10:      # branches, forwards and backwards
        if draw.random() < 0.5:
            code(0x20, draw.choice(["any", "small"]), op, f">{here}", 0xE6, 0x90).label(here)(0x20, "after")
        else:
            code(0x4C, here).label(there)(0xE6, 0x92, 0x20, "after", 0x4C, f"end {number}").label(here)
            code(0x20, "any", op, f">{there}", 0x20, "after").label(f"end {number}")
    elif op == 0x00:
        code(0x20, "any", 0x00, 0xEA, 0x20, "after")
    elif op == 0x4C:
        code(0x20, "any", 0x4C, here, 0xE6, 0x90).label(here)(0x20, "after")
    elif op == 0x6C:           # to "back", by a pointer that crosses a page and does not
        code(0x20, "any", 0x20, f"{there}", 0x20, "after", 0x4C, here)
        code.label(there)(0x6C, *draw.choice([(0xFF, 0xF2), (0xF0, 0xF2)])).label(here)
    else:
        kind, more = operand(draw, op)
        code(0x20, kind, *([0x09, 0xE0] if op == 0x9B else []), op, *more, 0x20, "after")


def random_program(seed: int) -> bytes:
    """4 KB. Each seed gives another order, other operands and other places."""
    draw = random.Random(seed)
    code = Assembler()(0x78, 0xD8, 0xA2, 0xFF, 0x9A)
    for byte in range(0x80, 0xD0):
        if byte < 0x90 or draw.random() < 0.2:
            code(0xA9, draw.randrange(256), 0x85, byte)
    code(0x4C, "loop")
    subroutines(code)
    code.label("loop")
    order = draw.sample(TRIED, len(TRIED))
    for number, op in enumerate(order):
        if number % TRIES == 0:
            code(0x20, "next frame")
        attempt(code, draw, op, number)
    code(0x4C, "loop")
    masks = bytes(mask for kind in KINDS.values() for mask in kind)
    back = code.labels["back"]
    tables = {MASKS: masks, 0x2F0: bytes([back & 255, back >> 8]), 0x2FF: bytes([back & 255]), 0x200: bytes([back >> 8]),
              BYTES: bytes(draw.randrange(256) | 0xE0 for _ in range(0x110)),
              0x080: draw.randbytes(0x70)}
    data = bytearray(code.rom(tables))
    data[-2:] = code.labels["break"].to_bytes(2, "little")
    return bytes(data)


def sums(op: int, decimal: bool) -> bytes:
    """4 KB that add or subtract all pairs of bytes, without and with a carry: 512 frames of 256 sums.

    op: ADC or SBC of a byte in the zero page.
    Each sum and its flags are mixed into the byte `state`.
    """
    a, b, carry, result, state = range(0xC0, 0xC5)
    code = Assembler()(0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0).label("clear")(0x95, 0, 0xCA, 0xD0, ">clear")
    frame(code.label("frame"))
    code.label("sum")(0xA5, carry, 0x4A, 0xA5, a, 0xF8 if decimal else 0xD8, op, b, 0xD8, 0x08, 0x85, result, 0x68)
    code(0x45, state, 0x2A, 0x65, result, 0x85, state, 0xE6, b, 0xD0, ">sum")       # EOR, ROL, ADC, STA
    code(0xA5, carry, 0x49, 1, 0x85, carry, 0xD0, ">same", 0xE6, a).label("same")(0x4C, "frame")
    return code.rom({})
