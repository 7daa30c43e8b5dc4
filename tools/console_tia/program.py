"""Programs for the TIA: lists of operations, their 6507 code, and the writes and reads that they do.

An operation is a tuple:
    ("write", REGISTER, VALUE)  LDA #VALUE, STA REGISTER: 5 cycles; VALUE None: STA only, 3 cycles
    ("wait", CYCLES)            2 cycles or more; may change A
    ("line",)                   STA WSYNC
    ("read", ADDRESS, BYTE)     LDA ADDRESS, STA BYTE: 6 cycles; ADDRESS 0 .. 7, BYTE in RAM
The code repeats them in each frame of `lines` lines. The first line of a frame clears VSYNC, the last three set it.
"""

from dataclasses import dataclass, field

NAMES = [
    "VSYNC", "VBLANK", "WSYNC", "RSYNC", "NUSIZ0", "NUSIZ1", "COLUP0", "COLUP1", "COLUPF", "COLUBK", "CTRLPF",
    "REFP0", "REFP1", "PF0", "PF1", "PF2", "RESP0", "RESP1", "RESM0", "RESM1", "RESBL", "15", "16", "17", "18",
    "19", "1A", "GRP0", "GRP1", "ENAM0", "ENAM1", "ENABL", "HMP0", "HMP1", "HMM0", "HMM1", "HMBL", "VDELP0",
    "VDELP1", "VDELBL", "RESMP0", "RESMP1", "HMOVE", "HMCLR", "CXCLR"]
REGISTERS = {name: number for number, name in enumerate(NAMES)}
LINE = 76  # cycles
ORIGIN, ROM_SIZE = 0xF000, 4096


@dataclass
class Program:
    """Code of a frame, the writes as (cycle, register, value) and the reads as (cycle, address, byte)."""

    lines: int
    code: bytearray = field(default_factory=bytearray)
    writes: list = field(default_factory=list)
    reads: list = field(default_factory=list)
    cycle: int = 3  # of the frame; the JMP to its code ends here

    def add(self, *code: int, cycles: int) -> None:
        self.code += bytes(code)
        self.cycle += cycles

    def write(self, register: int, value: int | None) -> None:
        if value is not None:
            self.add(0xA9, value, cycles=2)
        self.add(0x85, register, cycles=3)
        self.writes.append((self.cycle, register, value or 0))

    def wait(self, cycles: int) -> None:
        if cycles == 1 or cycles < 0:
            raise ValueError(f"wait: cycles must be 0 or at least 2, not {cycles}")
        while cycles:
            if cycles == 7 or cycles >= 9:
                self.add(0x48, 0x68, cycles=7)  # PHA, PLA
                cycles -= 7
            elif cycles == 3:
                self.add(0xA5, 0x80, cycles=3)  # LDA 80
                cycles = 0
            else:
                self.add(0xEA, cycles=2)        # NOP
                cycles -= 2

    def line(self) -> None:
        self.add(0x85, REGISTERS["WSYNC"], cycles=3)
        self.cycle = -(-self.cycle // LINE) * LINE

    def read(self, address: int, byte: int) -> None:
        self.add(0xA5, address, 0x85, byte, cycles=6)
        self.reads.append((self.cycle - 3, address, byte))


def cycles(operation: tuple) -> int:
    """Cycles of an operation; 0 for ("line",)."""
    kind = operation[0]
    if kind == "write":
        return 3 if operation[2] is None else 5
    return operation[1] if kind == "wait" else 6 if kind == "read" else 0


def assemble(operations: list[tuple], lines: int = 262) -> Program:
    """The program of one frame. Raises ValueError if it has more than lines - 3 lines or does not fit."""
    program = Program(lines)
    program.write(REGISTERS["VSYNC"], 0)
    for kind, *arguments in operations:
        getattr(program, kind)(*arguments)
    if program.cycle > (lines - 3) * LINE:
        raise ValueError(f"operations must end by line {lines - 3}, not {program.cycle / LINE:.2f}")
    while program.cycle < (lines - 3) * LINE:
        program.line()
    program.write(REGISTERS["VSYNC"], 2)
    for _ in range(3):
        program.line()
    return program


def rom(program: Program) -> bytes:
    """4096 bytes: a start, the frame, a jump back, the vectors. Raises ValueError if the code is too long."""
    start = bytes((0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 2, 0x85, 0))  # SEI, CLD, LDX #FF, TXS, LDA #2, STA VSYNC
    frame = ORIGIN + len(start)
    code = start + program.code + bytes((0x4C, frame & 255, frame >> 8))
    if len(code) > ROM_SIZE - 6:
        raise ValueError(f"code must have at most {ROM_SIZE - 6} bytes, not {len(code)}")
    return code.ljust(ROM_SIZE - 6, b"\xEA") + bytes((ORIGIN & 255, ORIGIN >> 8)) * 3
