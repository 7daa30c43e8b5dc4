"""What ale-py puts into a console at power-on: `python -m tools.console_facts power_on` writes envs_c/console/power_on.pxd."""

import textwrap
from pathlib import Path

import envs_c.console
from tools.console_facts.programs import Assembler, frame, oracle_of

PATH = Path(envs_c.console.__file__).with_name("power_on.pxd")
GAME = "assault"  # has one mode, so its start is short
COUNT = 8192
TEXT = '''\
"""What ale-py 0.12.1 puts into a console at power-on: `python -m tools.console_facts power_on` writes this file.

RAM keeps its bytes at later power-ons. The timers are those of one `ALEInterface`, the same in each: `loadROM` turns the
console on twice, every `reset_game` once more. They are read off with cartridges of our own: one never writes to RAM, the
other stores INTIM.
After the last of these values the table begins again with the third; ale-py's numbers go on.
"""

cdef extern from *:
    """
    static const unsigned char POWER_ON_RAM[128] = {{
{ram}}};
    static const unsigned char POWER_ON_TIMERS[{count}] = {{
{timers}}};
    """
    enum:
        POWER_ONS "{count}"
    const unsigned char[128] POWER_ON_RAM
    const unsigned char[{count}] POWER_ON_TIMERS
'''


def program(code: Assembler) -> bytes:
    """A cartridge that runs this code at power-on, and then shows blank frames."""
    frame(code.label("frame"))(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    return code.rom({})


def ram() -> list[int]:
    """The RAM of the first power-on."""
    return oracle_of(GAME, program(Assembler())).getRAM().tolist()


def timers(count: int) -> list[int]:
    """The timer's value at each of the first power-ons of an ALEInterface."""
    ale = oracle_of(GAME, program(Assembler()(0xA5, 0x80, 0x85, 0x81, 0xAD, 0x84, 0x02, 0x85, 0x80)))
    second, first = ale.getRAM()[:2]
    found = [first, second]
    while len(found) < count:
        ale.reset_game()
        found.append(ale.getRAM()[0])
    return [int(value) + 1 for value in found]  # it has been counted down once when it is read


def numbers(values: list[int]) -> str:
    """Lines of C."""
    return textwrap.fill(", ".join(map(str, values)), 127, initial_indent=" " * 8, subsequent_indent=" " * 8)


def write() -> None:
    """Write power_on.pxd."""
    PATH.write_text(TEXT.format(ram=numbers(ram()), timers=numbers(timers(COUNT)), count=COUNT), encoding="utf-8")
