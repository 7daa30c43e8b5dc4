"""What ale-py puts into a console at power-on, beside the rule of envs_c/console/cartridge/power_on.pxd.

Cartridges of our own read it off: one never writes to RAM, one stores the timer, one copies the cartridge's own RAM. The same
cartridges show what the console has.
"""

import numpy as np

from benchmarks.console.comparison import Console
from envs_c.console import cartridges
from tools.console_facts.programs import Assembler, frame, oracle_of

GAME = "assault"  # has one mode, so its start is short
RESETS = 700      # of an ALEInterface
OWN_RESETS = 12


def program(code: Assembler, own_ram: bool = False) -> bytes:
    """A cartridge that runs this code at power-on, and then shows blank frames; of 8 KB with RAM of its own, or of 4 KB."""
    frame(code.label("frame"))(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    return code.rom({0: bytes(256)}) * (2 if own_ram else 1)


NOTHING = program(Assembler())
TIMER = program(Assembler()(0xA5, 0x80, 0x85, 0x81, 0xAD, 0x84, 0x02, 0x85, 0x80))  # and keeps that of the power-on before
OWN_RAM = program(Assembler()(0xA2, 0x7F).label("copy")(0xBD, 0x80, 0xF0, 0x95, 0x80, 0xCA, 0x10, ">copy"), own_ram=True)


def theirs(data: bytes, resets: int) -> list[bytes]:
    """The RAM of ale-py after `loadROM`, and after each of the first resets."""
    ale = oracle_of(GAME, data)
    found = [ale.getRAM().tobytes()]
    for _ in range(resets):
        ale.reset_game()
        found.append(ale.getRAM().tobytes())
    return found


def ours(data: bytes, resets: int) -> list[bytes]:
    """The RAM of the console after each of the first resets."""
    console = Console(cartridges.game_of(data, None, {**cartridges.table()[GAME], "kind": ""}))
    found = []
    for _ in range(resets):
        found.append(console.ram.tobytes())
        console.batch.reset()
    return found


def report() -> str:
    """"equal", or the first reset after which RAM, timer or the cartridge's own RAM differ."""
    wrong = []
    for name, data, resets in (("RAM", NOTHING, 3), ("timer", TIMER, RESETS), ("own RAM", OWN_RAM, OWN_RESETS)):
        pairs = zip(theirs(data, resets)[1:], ours(data, resets), strict=True)
        differ = np.flatnonzero([seen != had for seen, had in pairs])
        wrong += [f"{name}: reset {differ[0] + 1}"] if len(differ) else []
    return "; ".join(wrong) or "equal"
