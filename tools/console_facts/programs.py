"""Programs of our own that ale-py plays under a game's file name, and the oracle that runs them.

HOLDER copies an image of 128 bytes to RAM in each frame with RESET pressed, and leaves the RAM alone in all others. So ale-py
computes reward, lives and end of the game from bytes that we choose, and no game disturbs them.

`recorder` fills the RAM with the number of presses of SELECT so far, and shows a list of all inputs on the screen: one row of
three bytes for each change, in lines of eight pixels by four. ale-py's start of a game reads off it.
"""

import tempfile
from pathlib import Path

from ale_py import ALEInterface, LoggerMode

ORIGIN = 0xF300
SIZE = 4096


class Assembler:
    """Machine code with labels: call it with bytes; a text is a label's address, a text with ">" the distance of a branch."""

    def __init__(self):
        self.code, self.labels, self.open = bytearray(), {}, []

    def __call__(self, *parts: int | str) -> "Assembler":
        for part in parts:
            if isinstance(part, str):
                self.open.append((len(self.code), part))
                self.code += bytes(1 if part[0] == ">" else 2)
            else:
                self.code.append(part & 0xFF)
        return self

    def label(self, name: str) -> "Assembler":
        self.labels[name] = ORIGIN + len(self.code)
        return self

    def rom(self, tables: dict[int, bytes]) -> bytes:
        """4 KB with the code at F300 and tables at offsets below. Raises ValueError if a branch is too long."""
        for at, name in self.open:
            target = self.labels[name.lstrip(">")]
            if name[0] == ">":
                distance = target - (ORIGIN + at + 1)
                if not -128 <= distance < 128:
                    raise ValueError(f"the branch to {name[1:]} is {distance} bytes long; it must be from -128 to 127")
                self.code[at] = distance & 0xFF
            else:
                self.code[at:at + 2] = target.to_bytes(2, "little")
        data = bytearray(SIZE)
        for offset, table in tables.items():
            data[offset:offset + len(table)] = table
        data[0x300:0x300 + len(self.code)] = self.code
        data[-6:] = ORIGIN.to_bytes(2, "little") * 3
        return bytes(data)


def frame(code: Assembler) -> Assembler:
    """Three lines of VSYNC, which begin a frame."""
    return code(0xA9, 2, 0x85, 0, 0x85, 2, 0x85, 2, 0x85, 2, 0xA9, 0, 0x85, 0)


def holder(image: bytes) -> bytes:
    """The program that keeps the RAM as it is. image: (128,) bytes, the RAM after RESET."""
    code = Assembler().label("frame")
    frame(code)(0xAD, 0x82, 0x02, 0x29, 0x01, 0xD0, ">wait", 0xA2, 0x7F)             # RESET is bit 0 of SWCHB, 0 if pressed
    code.label("copy")(0xBD, 0x80, 0xF2, 0x95, 0x80, 0xCA, 0x10, ">copy")            # no stack: it would lie in this RAM
    code.label("wait")(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    return code.rom({0x280: image})


def oracle_of(name: str, data: bytes, seed: int = 0) -> ALEInterface:
    """ale-py with a program of our own under a game's file name, before `reset_game`. It may not return for some games."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setInt("random_seed", seed)
    ale.setInt("frame_skip", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.bin"
        path.write_bytes(data)
        ale.loadROM(path)
    return ale
