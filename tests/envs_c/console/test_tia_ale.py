"""The TIA against ale-py: random programs, and a program for each rule that they seldom meet."""

import numpy as np
import pytest

pytest.importorskip("ale_py")

from tools.console_tia.oracle import Oracle, differences
from tools.console_tia.palette import NTSC_LINES, PAL_LINES, TABLE, grey, read_palette
from tools.console_tia.program import REGISTERS
from tools.console_tia.random_programs import random_program

FIRST = 36  # a line of the window


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


def write(name: str, value: int | None = None) -> tuple:
    return "write", REGISTERS[name], value


def lines(count: int) -> list[tuple]:
    return [("line",)] * count


def check(oracle: Oracle, operations: list[tuple]) -> None:
    pixels, wrong = differences(oracle, operations)
    assert not len(pixels) and not wrong


def objects(draw: np.random.Generator) -> list[tuple]:
    """Shows all objects in four colours, and puts them somewhere."""
    resets = [write(name) for name in draw.permutation(["RESP0", "RESP1", "RESM0", "RESM1", "RESBL"])]
    return [write("COLUBK", 8), write("COLUP0", 2), write("COLUP1", 4), write("COLUPF", 6),
            ("line",), ("wait", int(draw.integers(20, 40))), *resets, ("line",), write("HMCLR"), write("GRP0", 0xB1),
            write("GRP1", 0x8D), write("ENAM0", 2), write("ENAM1", 2),
            write("ENABL", 2), write("CTRLPF", 0x20), write("NUSIZ0", 0x10), write("NUSIZ1", 0), ("line",)]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_show_and_collide_alike(oracle, seed):
    check(oracle, random_program(seed))


@pytest.mark.parametrize("value", range(0, 256, 16))
def test_hmove_moves_alike_at_every_cycle(oracle, value):
    resets = [write(name) for name in ("RESP0", "RESP1", "RESM0", "RESM1", "RESBL")]
    for first in (0, 38):
        operations = objects(np.random.default_rng(1)) + lines(FIRST)
        for cycle in range(first, first + 38):
            operations += [("wait", 30), *resets, ("line",), write("HMP0", value), write("HMM1", value), write("HMBL", value),
                           ("wait", 76 - 15 - 3 + cycle + 1), write("HMOVE"), ("line",), ("line",)]
        check(oracle, operations)


@pytest.mark.parametrize("size", range(8))
def test_players_are_reset_alike_at_every_distance_from_their_copies(oracle, size):
    for shift in (0x00, 0x10, 0x20):
        operations = [*objects(np.random.default_rng(2)), write("NUSIZ0", size), write("HMP0", shift), *lines(FIRST)]
        for cycle in range(24, 74):
            operations += [("wait", 40), write("RESP0"), ("line",), write("HMOVE"), ("line",),
                           ("wait", cycle), write("RESP0"), ("line",)]
        check(oracle, operations)


@pytest.mark.parametrize("name", ["RESP0", "RESM0", "RESM1", "RESBL"])
def test_objects_that_are_reset_after_hmove_stand_alike(oracle, name):
    pairs = [(cycle, gap) for cycle in range(2, 24) for gap in (0, 2, 3, 4, 15, 17) if cycle + gap < 30 and cycle != 3]
    for first in range(0, len(pairs), 60):
        operations = objects(np.random.default_rng(3)) + lines(FIRST)
        for cycle, gap in pairs[first:first + 60]:
            operations += [("wait", cycle - 2), write("HMOVE"), ("wait", gap), write(name), ("line",), ("line",)]
        check(oracle, operations)


@pytest.mark.parametrize("control", range(8))
def test_priorities_and_score_are_alike(oracle, control):
    draw = np.random.default_rng(control)
    operations = objects(draw) + lines(FIRST)
    for _ in range(35):
        operations += [write("CTRLPF", control | 0x30)]
        operations += [write(name, int(draw.choice((0, 255, draw.integers(256))))) for name in ("GRP0", "GRP1", "PF0",
            "PF1", "PF2")]
        operations += [write(name, int(draw.choice((0, 2)))) for name in ("ENAM0", "ENAM1", "ENABL")]
        operations += [write("NUSIZ0", 0x37), write("NUSIZ1", 0x35), ("line",), ("wait", int(draw.integers(22, 48)))]
        operations += [write(name) for name in draw.permutation(["RESP0", "RESP1", "RESM0", "RESM1", "RESBL"])] + lines(3)
    check(oracle, operations)


@pytest.mark.parametrize("before, after", [(0, 1), (1, 0)])
def test_the_playfield_is_mirrored_alike_from_every_cycle_on(oracle, before, after):
    operations = [*objects(np.random.default_rng(6)), write("PF0", 0x30), write("PF1", 0xE2), write("PF2", 0x17), *lines(FIRST)]
    for cycle in range(36, 60):
        operations += [write("CTRLPF", before), ("line",), ("wait", cycle - 5), write("CTRLPF", after), ("line",), ("line",)]
    check(oracle, operations)


@pytest.mark.parametrize("line", [10, 33, 34, 50, 242, 243, 244])
def test_what_lasts_to_the_end_of_a_line_ends_alike_around_the_window(oracle, line):
    for step in ([("wait", 20), write("RESP0")], [write("HMOVE")], [("wait", 72), write("HMOVE")], [("wait", 55),
        write("CTRLPF", 0)]):
        check(oracle, [*objects(np.random.default_rng(4)), write("CTRLPF", 1), write("PF0", 80), *lines(line - 4), *step])


@pytest.mark.parametrize("size", [0x00, 0x10, 0x21, 0x34])
def test_stars_move_alike(oracle, size):
    star = [write("HMM0", 0x70), ("line",), write("HMOVE"), ("wait", 16), write("HMM0", 0x60), ("line",)]
    for after in ([], [write("NUSIZ0", size)], [write("RESM0")], [write("HMOVE")], [write("RESMP0", 2), write("RESMP0", 0)]):
        for wait in range(4, 9):
            check(oracle, [*objects(np.random.default_rng(5)), write("NUSIZ0", size), *lines(50), *star, *lines(wait), *after])


def test_the_palettes_and_their_greys_are_those_of_the_table(oracle):
    tables = TABLE.read_text(encoding="utf-8").split("= {")[1:]
    for table, count in zip(tables, (NTSC_LINES, PAL_LINES), strict=True):
        colours = read_palette(oracle, count)
        written = [int(text[:6], 16) for text in table.split("}")[0].split("0x")[1:]]
        assert written == [r << 16 | g << 8 | b for r, g, b in colours.tolist()]
        np.testing.assert_array_equal(oracle.ale.getScreenGrayscale(), grey(colours)[oracle.ale.getScreen() >> 1])
