"""The timer beside ale-py, read around its end."""

import random

import pytest

pytest.importorskip("ale_py")

from ale_py import Action

from benchmarks.console.comparison import Console
from envs_c.console import cartridges
from tools.console_facts.programs import Assembler, frame, oracle_of

INTIM, INSTAT = 0x84, 0x85
REGISTERS = {0x94: 0, 0x95: 3, 0x96: 6}  # TIM1T, TIM8T, TIM64T with the binary logarithm of their intervals


def wait(cycles: int) -> list[int]:
    """Code that takes 0, or 2 or more cycles: NOP, and LDA from the zero page for an odd number."""
    return [0xA5, 0xF0] * (cycles & 1) + [0xEA] * ((cycles - 3 * (cycles & 1)) // 2)


def program(register: int, value: int, reads: list[tuple[int, int]]) -> bytes:
    """A cartridge that writes the timer in each frame, then reads it. Its RAM gets the bytes from 81 on.

    reads: cycles to wait, and INTIM or INSTAT.
    """
    code = Assembler()(0x78, 0xD8).label("frame")
    frame(code)(0xA9, value, 0x8D, register, 0x02)
    for k, (cycles, address) in enumerate(reads):
        code(*wait(cycles), 0xAD, address, 0x02, 0x85, 0x81 + k)
    return code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({})


def check(data: bytes) -> None:
    ale, row = oracle_of("assault", data), {**cartridges.UNKNOWN, "md5": cartridges.md5_of(data)}
    ours = Console(cartridges.game_of(data, None, row))
    ale.reset_game()
    ale.act(Action.NOOP)
    ours.act(0)
    assert ours.ram[0].tobytes() == ale.getRAM().tobytes()


@pytest.mark.parametrize("register", REGISTERS)
@pytest.mark.parametrize("late", [-1, 0, 1, 2])
def test_the_first_read_that_comes_late_fixes_by_how_much(register, late):
    first = (9 << REGISTERS[register]) + 1 + late - 4  # the timer is read in the last of LDA's four cycles
    check(program(register, 9, [(first, INTIM), (2, INSTAT), (60, INTIM), (300, INSTAT), (5, INTIM)]))


@pytest.mark.parametrize("seed", range(12))
def test_reads_around_the_end_of_the_timer_are_equal(seed):
    draw = random.Random(seed)
    register, value = draw.choice(list(REGISTERS)), draw.choice((1, 2, 3, 5))
    first = max((value << REGISTERS[register]) - draw.randrange(1, 10), 2)
    waits = [first, *(draw.choice((0, 2, 3, 20, 100, 300)) for _ in range(5))]
    check(program(register, value, [(cycles, draw.choice((INTIM, INSTAT))) for cycles in waits]))
