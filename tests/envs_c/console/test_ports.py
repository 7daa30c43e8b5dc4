"""The RIOT's ports beside ale-py: bits that are inputs, and bits that are outputs."""

import pytest

pytest.importorskip("ale_py")

from ale_py import Action

from benchmarks.console.comparison import Console
from envs_c.console import cartridges
from tools.console_facts.programs import Assembler, frame, oracle_of

SWCHA, SWACNT, SWCHB, SWBCNT = 0x80, 0x81, 0x82, 0x83


def program(writes: list[tuple[int, int]]) -> bytes:
    """A cartridge that writes these registers and values in each frame. Its RAM gets the four registers from 81 on."""
    code = Assembler()(0x78, 0xD8).label("frame")
    frame(code)
    for register, value in writes:
        code(0xA9, value, 0x8D, register, 0x02)
    for k in range(4):
        code(0xAD, SWCHA + k, 0x02, 0x85, 0x81 + k)
    return code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({})


def console(data: bytes) -> Console:
    return Console(cartridges.game_of(data, None, {**cartridges.UNKNOWN, "md5": cartridges.md5_of(data)}))


@pytest.mark.parametrize("writes", [[], [(SWCHA, 0x5A), (SWCHB, 0xA5)], [(SWCHA, 0), (SWACNT, 0)]])
def test_inputs_read_as_sticks_and_switches_as_under_ale(writes):
    data = program(writes)
    ours, ale = console(data), oracle_of("assault", data)
    ale.reset_game()
    for action in (Action.NOOP, Action.UPRIGHT, Action.DOWNLEFT):
        ale.act(action)
        ours.act(action.value)
        assert ours.ram[0].tobytes() == ale.getRAM().tobytes()


@pytest.mark.parametrize("outputs, value", [(0x0F, 0x00), (0x0F, 0x5A), (0xF0, 0xA5), (0x81, 0xFF), (0xFF, 0x00), (0xFF, 0x36)])
def test_outputs_read_as_they_were_written_and_the_rest_as_inputs(outputs, value):
    ours = console(program([(SWACNT, outputs), (SWCHA, value), (SWBCNT, outputs), (SWCHB, value)]))
    for action, sticks in ((Action.NOOP, 0xFF), (Action.UPRIGHT, 0x6F), (Action.DOWNLEFT, 0x9F)):
        ours.act(action.value)
        read = [value & outputs | inputs & ~outputs for inputs in (sticks, 0x3F)]
        assert list(ours.ram[0, 1:5]) == [read[0], outputs, read[1], outputs]


@pytest.mark.parametrize("difficulty, bits", [(0, 0x00), (1, 0x40), (2, 0x80), (3, 0xC0)])
def test_a_difficulty_is_two_switches(difficulty, bits):
    data = program([])
    row = {**cartridges.UNKNOWN, "md5": cartridges.md5_of(data), "difficulties": [0, 1, 2, 3]}
    ours = Console(cartridges.game_of(data, None, row), difficulty=difficulty)
    ours.act(0)
    assert ours.ram[0, 3] == 0x3F | bits
