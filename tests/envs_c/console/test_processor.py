"""The processor beside ale-py: random programs that try all instructions (tools/console_cpu)."""

import pytest

from envs_c.console import cartridges, console
from tools.console_cpu.program import TRIED, random_program, sums

pytest.importorskip("ale_py")

from tools.console_cpu.__main__ import compared


@pytest.mark.parametrize("seed, frames", [
    (0, 60), (6, 6), *(pytest.param(seed, 2000, marks=pytest.mark.slow) for seed in range(1, 41))])
def test_a_random_program_has_the_ram_that_it_has_under_ale(seed, frames):
    assert compared(random_program(seed), frames)[1]


@pytest.mark.parametrize("op", [0x65, 0xE5], ids=["ADC", "SBC"])
@pytest.mark.parametrize("decimal", [False, True])
def test_all_sums_of_two_bytes_and_a_carry_are_those_under_ale(op, decimal):
    assert compared(sums(op, decimal), 512) == (512, True)


def test_a_program_executes_every_instruction():
    data = random_program(0)
    game = cartridges.game_of(data, None, cartridges.UNKNOWN)
    found, _ = console.trace(game.key, bytes(10))
    assert {data[k % len(data)] for k, mark in enumerate(found) if mark} >= {*TRIED, 0x20, 0x40, 0x60}
    assert len(TRIED) == 256 - 12 - 3


def test_programs_jump_by_a_pointer_within_a_page_and_by_one_at_its_end():
    assert b"\x6C\xF0\xF2" in random_program(0)
    assert b"\x6C\xFF\xF2" in random_program(6)
