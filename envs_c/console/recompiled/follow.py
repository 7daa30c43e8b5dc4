"""Find a cartridge's code: from its vectors and from addresses that were executed, along all branches, jumps and calls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from envs_c.console.recompiled.translate import rows

PLAIN, F8, F6, F4, E0, FE = range(6)  # Kind of cartridge.pxd; others are not compiled
WINDOW = 0x1000
SLICE = 0x400
BRK, JSR, RTI, JMP, RTS, JMP_INDIRECT = 0x00, 0x20, 0x40, 0x4C, 0x60, 0x6C
ENDS = {BRK, RTI, JMP, RTS, JMP_INDIRECT}  # the next byte need not be code
VSYNC = 0x00


def length(op: int) -> int:
    """Bytes of an instruction."""
    row = rows()[op]
    if op in (JSR, JMP, JMP_INDIRECT) or "absolute" in row:
        return 3
    return 2 if any(word in row for word in ("fetch", "zero_page", "indirect", "branch")) else 1


def is_branch(op: int) -> bool:
    return op & 0x1F == 0x10


@dataclass(frozen=True, order=True)
class Place:
    """An instruction: its offset in the ROM and its address. Mirrors of one offset are places of their own."""

    offset: int
    pc: int

    def __str__(self):
        return f"L{self.offset:X}_{self.pc:X}"


@dataclass
class Code:
    """The ROM and what was found in it.

    places: all instructions.
    entries: places that code arrives at from anywhere: returns, vectors, jumps through RAM, changes of the bank.
    """

    rom: bytes
    kind: int
    places: set[Place] = field(default_factory=set)
    entries: set[Place] = field(default_factory=set)

    def target(self, place: Place, pc: int) -> Place | None:
        """The place at address `pc` when `place` is executed; None if it depends on banks, or is not in the cartridge."""
        if not pc & 0x1000:
            return None
        if self.kind == PLAIN:
            return Place(pc & (len(self.rom) - 1) & (WINDOW - 1), pc)
        if self.kind == FE:
            return Place((0 if pc & 0x2000 else WINDOW) + pc % WINDOW, pc)
        if self.kind == E0:
            if (pc ^ place.pc) & ~(SLICE - 1) == 0:
                return Place(place.offset - place.offset % SLICE + pc % SLICE, pc)
            return Place(7 * SLICE + pc % SLICE, pc) if pc & 0xC00 == 0xC00 else None
        return Place(place.offset - place.offset % WINDOW + pc % WINDOW, pc)

    def op(self, place: Place) -> int:
        return self.rom[place.offset]

    def whole(self, place: Place) -> bool:
        """True if all bytes of the instruction lie in one bank, below the end of the address space."""
        size, bank = length(self.op(place)), SLICE if self.kind == E0 else min(WINDOW, len(self.rom))
        return place.offset % bank + size <= bank and place.pc + size <= 0xFFFF

    def next(self, place: Place) -> Place | None:
        """The place after an instruction."""
        return self.target(place, place.pc + length(self.op(place)))

    def jump(self, place: Place) -> Place | None:
        """The target of a branch, JMP or JSR; None for any other instruction, and if it is not known."""
        op, rom, at = self.op(place), self.rom, place.offset
        if is_branch(op):
            return self.target(place, (place.pc + 2 + (rom[at + 1] ^ 0x80) - 0x80) & 0xFFFF)
        return self.target(place, rom[at + 1] | rom[at + 2] << 8) if op in (JMP, JSR) else None

    def after(self, place: Place) -> Iterator[Place]:
        """The places that can follow."""
        op = self.op(place)
        following = [self.jump(place), None if op in ENDS else self.next(place)]
        if op == JSR or (length(op) == 2 and "store" in rows()[op] and self.rom[place.offset + 1] == VSYNC):
            self.entries |= {following[1]} - {None}  # the next frame begins after a write to VSYNC
        return (place for place in following if place is not None)


def follow(rom: bytes, kind: int, starts: Iterable[Place], entries: Iterable[Place]) -> Code:
    """All code that can be reached from `starts` and `entries`."""
    code = Code(rom, kind)
    code.entries |= set(entries)
    waiting = [*starts, *code.entries]
    while waiting:
        place = waiting.pop()
        if place not in code.places and code.whole(place):
            code.places.add(place)
            waiting += code.after(place)
    code.entries &= code.places
    return code
