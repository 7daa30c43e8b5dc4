"""Frames that end before their pictures, where ale-py shows rows of an older frame."""

import numpy as np
import pytest

pytest.importorskip("ale_py")

from ale_py import Action

import envs_c
from benchmarks.console.comparison import Console
from envs_c.console import cartridges
from tools.console_facts.programs import Assembler, frame, oracle_of

START = 121  # frames that the program has counted when a game has started
PAL_START = 92  # the same under PAL
LINES = 255  # of a frame, unless the test says otherwise
SPIN = 60    # times 513 instructions: more than the 25,000 after which a frame is cut off


def program(lines: dict[int, int], cut: tuple[int, ...], more: int = 0, start: int = START) -> bytes:
    """A cartridge whose screen has a colour for each frame.

    lines: of some frames after the start of a game.
    cut: frames that are cut off after their lines.
    more: lines at the top of each frame, besides those.
    start: START of this program.
    """
    code = Assembler()(0x78, 0xD8, 0xA2, 0xFF, 0x9A).label("frame")         # SEI, CLD, LDX #FF, TXS
    frame(code)(0xE6, 0x80, 0xA5, 0x80, 0x0A, 0x85, 0x09)                   # INC 80, LDA 80, ASL, STA COLUBK
    if more:
        code(0xA2, more).label("more")(0x85, 2, 0xCA, 0xD0, ">more")        # LDX #more, STA WSYNC, DEX, BNE more
    code(0xA6, 0x80, 0xBC, 0x00, 0xF1, 0xBD, 0x00, 0xF2, 0xAA)              # LDX 80, LDY F100,X, LDA F200,X, TAX
    code.label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0xC0, 0, 0xF0, ">no")  # STA WSYNC, DEX, BNE line, CPY #0, BEQ no
    code.label("spin")(0xCA, 0xD0, ">spin", 0x88, 0xD0, ">spin")            # DEX, BNE spin, DEY, BNE spin
    code.label("no")(0x4C, "frame")
    numbers = range(-start, 256 - start)
    return code.rom({0x100: bytes(SPIN * (k in cut) for k in numbers), 0x200: bytes(lines.get(k, LINES) for k in numbers)})


CASES = {"one": ({3: 100}, ()), "both buffers": ({3: 100, 4: 150}, ()), "before the window": ({4: 20}, ()),
         "longer than the older one": ({3: 100, 5: 150, 7: 160}, ()), "after one that was cut off": ({4: 100, 9: 110}, (3, 7)),
         "cut off early": ({3: 100, 7: 20, 9: 100}, (3, 7))}


@pytest.fixture(params=CASES)
def own(request, tmp_path, monkeypatch):
    """A program and its cartridge."""
    data = program(*CASES[request.param])
    (tmp_path / "own.bin").write_bytes(data)
    monkeypatch.setitem(cartridges.table(), "own", {**cartridges.UNKNOWN, "md5": cartridges.md5_of(data), "older_rows": True})
    return data, cartridges.game_of_file(tmp_path / "own.bin")


def test_rows_after_the_end_of_a_frame_are_those_of_an_older_frame_as_under_ale(own):
    ours, ale = Console(own[1]), oracle_of("assault", own[0])
    ale.reset_game()
    assert ale.getRAM()[0] == START
    for _ in range(16):
        np.testing.assert_array_equal(ours.env.render(), ale.getScreenRGB())
        ours.act(0)
        ale.act(Action.NOOP)


@pytest.mark.parametrize("settings", [{"view": "rgb", "frame_skip": 1}, {"view": "pixels", "frame_skip": 2}])
def test_a_restored_state_shows_them_too(own, settings):
    first, second = (envs_c.make(f"atari:{own[1].path}", **settings) for _ in range(2))
    first.reset()
    for _ in range(10):
        picture = first.step([0])[0]
        assert np.array_equal(second.set_state(first.get_state()), picture)


@pytest.mark.parametrize("lines", [{}, {3: 254, 4: 254, 6: 254, 10: 254}], ids=["even", "even and odd"])
def test_a_pal_picture_is_grey_after_a_frame_of_an_odd_number_of_lines_as_under_ale(lines):
    data = program(lines, (), 54, PAL_START)
    row = {**cartridges.UNKNOWN, "md5": cartridges.md5_of(data), "last_line": 342, "height": 250}
    ours, ale = Console(cartridges.game_of(data, None, row)), oracle_of("assault", data)
    ale.reset_game()
    assert ale.getRAM()[0] == ours.ram[0, 0] == PAL_START
    for _ in range(16):
        np.testing.assert_array_equal(ours.env.render(), ale.getScreenRGB())
        ours.act(0)
        ale.act(Action.NOOP)
