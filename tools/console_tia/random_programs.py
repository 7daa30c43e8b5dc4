"""Random programs for the TIA, and how one that shows a difference is made small."""

import random
from collections.abc import Callable

from tools.console_tia.program import REGISTERS, cycles

LAST_LINE, MOST_BYTES, MOST_READS = 253, 3800, 100
RESETS = ["RESP0", "RESP1", "RESM0", "RESM1", "RESBL"]
COLOURS = ["COLUP0", "COLUP1", "COLUPF", "COLUBK"]
OTHERS = ["NUSIZ0", "NUSIZ1", "CTRLPF", "REFP0", "REFP1", "GRP0", "GRP1", "ENAM0", "ENAM1", "ENABL", "VDELP0", "VDELP1",
          "VDELBL", "PF0", "PF1", "PF2", "RESMP0", "RESMP0", "RESMP1", "RESMP1", "HMP0", "HMP1", "HMM0", "HMM1", "HMBL",
          "HMOVE", "HMOVE", "HMOVE", "HMCLR", "CXCLR", "VBLANK", *RESETS]
KEPT = 14  # operations at the start that `shrink` keeps: colours and positions


def value(draw: random.Random, name: str) -> int:
    """A value that shows something more often than a uniform one."""
    byte = draw.randrange(256)
    if name in ("ENAM0", "ENAM1", "ENABL") and draw.random() < 0.7:
        return byte | 2
    if name in ("GRP0", "GRP1") and draw.random() < 0.3:
        return 255
    return draw.choice((0, 2)) if name.startswith("RESMP") else byte


def random_program(seed: int) -> list[tuple]:
    """Operations of one frame: writes at any clock, and reads of collisions. Every frame begins with the same positions."""
    draw = random.Random(seed)
    operations = [("write", REGISTERS[name], draw.randrange(256)) for name in COLOURS]
    operations += [("line",), ("wait", draw.randrange(20, 40))]
    operations += [("write", REGISTERS[name], None) for name in draw.sample(RESETS, 5)]
    operations += [("line",), ("write", REGISTERS["HMCLR"], None)]
    cycle, size, reads = 2 * 76 + 3, 60, 0
    while cycle // 76 < LAST_LINE and size < MOST_BYTES:
        kind = draw.random()
        if kind < 0.5:
            name = draw.choice(OTHERS if draw.random() < 0.9 else COLOURS)
            step = [("write", REGISTERS[name], value(draw, name))]
        elif kind < 0.75:
            step = [("wait", draw.choice((2, 2, 3, 3, 4, 5, 7, 9, 12, 20)))]
        elif kind < 0.97 or reads >= MOST_READS:
            step = [("line",)] * draw.choice((1, 1, 1, 2, 3, 5) if cycle > 31 * 76 else (1,))
            cycle = (-(-(cycle + 3) // 76) + len(step) - 1) * 76
        else:
            step = [("read", draw.randrange(8), 128 + reads)]
            reads += 1
        operations += step
        cycle += sum(map(cycles, step))
        size += 4 * len(step)
    return operations


def shrink(operations: list[tuple], fails: Callable[[list[tuple]], bool]) -> list[tuple]:
    """Replace operations by waits of the same length as long as the program still fails."""
    size = len(operations) // 2
    while size:
        for start in range(KEPT, len(operations), size):
            part = operations[start:start + size]
            waits = [("wait", cycles(step)) if step[0] in ("write", "read") else step for step in part]
            smaller = operations[:start] + waits + operations[start + size:]
            if waits != part and fails(smaller):
                operations = smaller
        size //= 2
    return operations
