"""ale-py as the oracle: it runs a program and returns its screen and RAM; the chip's answer beside it."""

import tempfile
from pathlib import Path

import ale_py
import numpy as np

from envs_c.console.tia.probe import Chip
from tools.console_tia.program import Program, assemble, rom

CLOCKS = 228  # a line
FRAMES = 4    # until what a frame leaves for the next one repeats


class Oracle:
    """One ALEInterface. It takes a ROM of one's own under a known file name, with a warning about its digest."""

    def __init__(self):
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "enduro.bin"
        self.ale = ale_py.ALEInterface()

    def run(self, program: Program) -> tuple[np.ndarray, np.ndarray]:
        """Screen, (210 or 250, 160) uint8 palette indices, and RAM, (128,) uint8, after some frames."""
        self.path.write_bytes(rom(program))
        self.ale.loadROM(self.path)
        self.ale.act(0)
        self.ale.act(0)
        return self.ale.getScreen().copy(), self.ale.getRAM().copy()


def log(writes: list[tuple]) -> np.ndarray:
    """(count,) uint32: the chip's log of (cycle, register, value)."""
    return np.array([3 * cycle << 14 | register << 8 | value for cycle, register, value in writes], np.uint32)


def run_chip(program: Program, plain: bool = True) -> tuple[np.ndarray, dict[int, int]]:
    """Picture, (210, 160) uint8, and the collision bits that each byte of RAM gets, in the last of FRAMES frames."""
    chip, length, bytes_read = Chip(plain), program.lines * CLOCKS, {}
    for _ in range(FRAMES):
        done = 0
        for cycle, address, byte in program.reads:
            count = sum(write[0] <= cycle for write in program.writes)
            chip.run(log(program.writes[done:count]), 3 * cycle)
            done, bytes_read[byte] = count, chip.read(address)
        chip.run(log(program.writes[done:]), length + 9)
        chip.end_frame(length)
    return chip.picture, bytes_read


def differences(oracle: Oracle, operations: list[tuple], lines: int = 262) -> tuple[np.ndarray, list[tuple]]:
    """What differs: (n, 2) rows and columns of pixels, and a list of (byte, ale-py's bits, the chip's bits)."""
    program = assemble(operations, lines)
    screen, ram = oracle.run(program)
    picture, bytes_read = run_chip(program)
    wrong = [(byte, int(ram[byte - 128]) & 0xC0, bits) for byte, bits in bytes_read.items() if ram[byte - 128] & 0xC0 != bits]
    return np.argwhere(screen != picture), wrong
