"""What any cartridge costs at most: instructions of a frame, frames of a start. A program counts its own instructions."""

import pytest

from envs_c.console import cartridges
from tools.console_facts.programs import Assembler

pytest.importorskip("ale_py")

from benchmarks.console.comparison import Console

CLOSE = 10  # instructions by which `executed` may be wrong


def counter(number: int) -> bytes:
    """A program that counts in three bytes of RAM, without an end of a frame. number: makes it another cartridge."""
    code = Assembler()(0xA9, 0, 0x85, 0x80, 0x85, 0x81, 0x85, 0x82).label("count")(0xE6, 0x80, 0xD0, ">count", 0xE6, 0x81)
    return code(0xD0, ">count", 0xE6, 0x82, 0x4C, "count").rom({0: bytes([number])})


def executed(console: Console) -> int:
    """The instructions that `counter` has executed since it was turned on."""
    count = int.from_bytes(console.ram[0, :3].tobytes(), "little")
    return 4 + 2 * count + 2 * (count >> 8) + 2 * (count >> 16)


def test_a_frame_without_an_end_has_25_000_instructions():
    console = Console(cartridges.game_of(counter(0), None, cartridges.UNKNOWN))
    frames = 60 + 8
    assert abs(executed(console) - 25_000 * frames) < CLOSE
    for action in (0, 1, 2):
        console.act(action)
        frames += 1
        assert abs(executed(console) - 25_000 * frames) < CLOSE


def test_a_mode_that_never_comes_is_given_up_after_256_presses():
    row = {**cartridges.UNKNOWN, "instructions": 100, "start": "R4 [S2 N1] R8", "select": [0xF0], "modes": [[0, 77]]}
    console = Console(cartridges.game_of(counter(1), None, row))
    assert console.ram[0, 0x70] != 77
    assert abs(executed(console) - 100 * (60 + 4 + 256 * 3 + 8)) < CLOSE
