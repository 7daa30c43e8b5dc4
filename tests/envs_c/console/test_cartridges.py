"""Cartridges of our own beside ale-py: banks, RAM, frames that are cut off; and starts and modes of games.toml."""

import json
import random

import numpy as np
import pytest

import envs_c
from envs_c.console import cartridges, recompiled, starts
from envs_c.errors import InvalidArgument

pytest.importorskip("ale_py")

from ale_py import Action

from benchmarks.console.comparison import Console
from tools.console_facts.ends import ranges
from tools.console_facts.programs import Assembler, frame, oracle_of

LIKE = "enduro"  # the game whose name our programs have under ale-py


def row_of_our_programs() -> dict:
    """A row as games.toml has, for programs that ale-py starts as it starts LIKE."""
    return {**cartridges.table()[LIKE], "kind": "", "score": [], "lives": [], "over": []}


def rams(data: bytes, actions: list[int], **row) -> tuple[list[bytes], list[bytes]]:
    """The RAM after the start and after each action, under ale-py and here. row: what differs from that of our programs."""
    ale = oracle_of(LIKE, data)
    ale.reset_game()
    ours = Console(cartridges.game_of(data, None, {**row_of_our_programs(), **row}))
    theirs, own = [ale.getRAM().tobytes()], [ours.ram[0].tobytes()]
    for action in actions:
        ale.act(Action(action))
        ours.act(action)
        theirs.append(ale.getRAM().tobytes())
        own.append(ours.ram[0].tobytes())
    return theirs, own


def banked(banks: int, hot: int, with_ram: bool) -> bytes:
    """A program that reads a byte of each bank, and adds 3 to a byte of the cartridge's RAM in each frame."""
    code = frame(Assembler()(0xA9, 0, 0x8D, 0x05, 0xF0).label("frame"))
    for bank in [*range(banks), banks - 1, 0]:
        code(0xAD, hot + bank & 0xFF, hot + bank >> 8, 0xAD, 0xF0, 0xF2, 0x85, 0x80 + bank)
        code(0xAD, 0x85, 0xF0, 0x18, 0x69, 3, 0x8D, 0x05, 0xF0, 0x85, 0xA0 + bank)
    code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    rom = bytearray()
    for bank in range(banks):
        same = bytes(256) if with_ram else bytes(range(256))
        rom += code.rom({0: same, 0x2F0: bytes([17 * bank + 1])})
    return bytes(rom)


@pytest.mark.parametrize("with_ram", [False, True])
@pytest.mark.parametrize("banks, hot", [(2, 0x1FF8), (4, 0x1FF6), (8, 0x1FF4)])
def test_banks_and_ram_are_found_from_the_bytes_and_work_as_under_ale(banks, hot, with_ram):
    theirs, own = rams(banked(banks, hot, with_ram), [0] * 5)
    assert own == theirs
    assert [own[-1][bank] for bank in range(banks)] == [17 * bank + 1 for bank in range(banks)]


def own_ram(first: bytes) -> bytes:
    """8 KB whose banks begin with these 256 bytes: it reads where RAM is written and read, and writes there."""
    code = Assembler()
    for number, address in enumerate((0xF005, 0xF085, 0xF016, 0xF096)):
        code(0xAD, address & 0xFF, address >> 8, 0x85, 0x80 + number)
    code(0xA9, 0x5A, 0x8D, 0x05, 0xF0, 0xAD, 0x05, 0xF0, 0x85, 0x84, 0xAD, 0x85, 0xF0, 0x85, 0x85)
    frame(code.label("frame"))(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    return code.rom({0: first}) * 2


@pytest.mark.parametrize("first, with_ram", [(b"\x11" * 256, True), (b"\x11" * 128 + b"\x12" * 128, False),
                                             (bytes(range(128)) * 2, False)], ids=["one byte", "two bytes", "twice the same"])
def test_ram_is_found_by_one_byte_all_over_it_and_a_read_where_it_is_written_gives_that_byte(first, with_ram):
    theirs, own = rams(own_ram(first), [0])
    assert own == theirs
    assert (own[-1][5] == 0x5A) is with_ram
    assert own[-1][4] == first[5]


def switched_below(switch: list[list[int]], banks: int, size: int) -> bytes:
    """A program of 8 KB whose switches lie in the TIA's part: it reads a byte of each bank of `size` bytes in each frame."""
    code = Assembler().label("frame")
    for bank in [*range(banks), 0]:
        frame(code)(*switch[bank], 0xAD, 0xF0, 0xF0, 0x85, 0x80 + bank)
    code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0xB8, 0x50, ">frame").rom({})  # CLV, BVC frame
    data = bytearray(8192)
    for place in range(0, 8192, 2048):
        data[place + 0x100:place + 0x100 + len(code.code)] = code.code
        data[place + 0xE0:place + 0xE3] = bytes(3) if size == 2048 else b"\x8D\x40\x02"  # never run: ale-py knows UA by it
    for bank in range(banks):
        data[bank * size + 0xF0] = 17 * bank + 1
    for place in range(4096 - 6, 8192, 4096):
        data[place:place + 6] = (0xF900).to_bytes(2, "little") * 3
    return bytes(data)


@pytest.mark.parametrize("kind, data", [
    ("3F", switched_below([[0xA9, bank, 0x85, 0x3F] for bank in range(4)], 4, 2048)),
    ("UA", switched_below([[0xAD, 0x20 + 0x20 * bank, 0x02] for bank in range(2)], 2, 4096)),
    ("UA", switched_below([[0xA9, 0, 0x8D, 0x20 + 0x20 * bank, 0x02] for bank in range(2)], 2, 4096))],
    ids=["3F", "UA by reads", "UA by writes"])
def test_banks_that_are_switched_below_the_cartridge_work_as_under_ale(kind, data):
    assert cartridges.filled(data, "")[1] == kind
    banks = 4 if kind == "3F" else 2
    theirs, own = rams(data, [0] * 3)
    assert own == theirs
    assert list(own[-1][:banks]) == [17 * bank + 1 for bank in range(banks)]


DATA = random.Random(5).randbytes(2048)  # of our DPC cartridges


def with_chip(code: Assembler) -> bytes:
    """A DPC cartridge whose two banks are this program."""
    bank = code.rom({})
    return bank + bank + DATA


def chip_program(draw: random.Random) -> bytes:
    """A program that writes to the chip and keeps what it reads, and then draws frames. Music, random numbers and counters are
    those of three power-ons, for the chip is not turned off."""
    code, fetchers, few, kept = Assembler()(0xD8), draw.sample(range(8), draw.randint(1, 8)), draw.random() < 0.5, 0x80
    while kept < 0xE0:
        fetcher, way = draw.choice(fetchers), draw.random()
        if way < 0.4:
            code(0xA9, draw.randrange(16 if few else 256), 0x8D, 0x40 + 8 * draw.choice([0, 1, 2, 3, 3, 6, 7]) + fetcher, 0xF0)
        elif way < 0.85:
            code(0xAD, 8 * draw.choice([0, 0, 1, 2, 7, draw.randrange(8)]) + fetcher, 0xF0, 0x85, kept)
            kept += 1
        elif way < 0.9:
            code(0xAD, *draw.choice([(0x40, 0xF0), (0x80, 0xF0), (0xBF, 0xFF), (0xC0, 0xFF), (0xF8, 0xFF), (0xF9, 0xFF)]))
        else:
            code(0xA2, draw.randrange(1, 30)).label(f"wait {len(code.code)}")(0x85, 2, 0xCA, 0xD0, f">wait {len(code.code)}")
    frame(code.label("frame"))
    return with_chip(code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame"))


@pytest.mark.parametrize("seed", range(6))
def test_the_chip_of_a_dpc_cartridge_works_as_under_ale(seed):
    theirs, own = rams(chip_program(random.Random(seed)), [0, 1])
    assert own == theirs
    assert len(set(own[-1][:0x60])) > 5


@pytest.mark.parametrize("lines, top, bottom", [(40, 200, 8), (203, 200, 8), (40, 3, 1)])
def test_the_music_of_a_dpc_cartridge_goes_on_from_frame_to_frame_as_under_ale(lines, top, bottom):
    code = Assembler()(0xD8, 0xA2, 0, 0x86, 0x80)
    for address, value in ((0x45, top), (0x4D, bottom), (0x5D, 0x17), (0x55, 0)):
        code(0xA9, value, 0x8D, address, 0xF0)
    frame(code.label("frame"))(0xA2, lines).label("above")(0x85, 2, 0xCA, 0xD0, ">above", 0xA6, 0x80)
    code(0xAD, 0x04, 0xF0, 0x95, 0x90, 0xAD, 0x0D, 0xF0, 0x95, 0x91, 0xE6, 0x80, 0xE6, 0x80, 0xA9, 0x3F, 0x25, 0x80, 0x85, 0x80)
    code(0xA2, 30).label("below")(0x85, 2, 0xCA, 0xD0, ">below", 0x4C, "frame")
    theirs, own = rams(with_chip(code), [0] * 30)
    assert own == theirs
    assert len(set(own[-1][0x11:0x41:2])) > min(top, 10)


def test_the_size_of_a_file_tells_a_dpc_cartridge():
    for size, kind in ((10_239, "F6"), (10_240, "DPC"), (10_495, "DPC"), (10_496, "DPC"), (10_497, "F6")):
        data, found = cartridges.filled((bytes(range(256)) * 42)[:size], "")
        assert found == kind, size
        assert len(data) == (10_240 if kind == "DPC" else 16_384)


def long_frames(turns: int) -> bytes:
    """A program whose frames are cut off now and then: it counts for long between two writes to the TIA."""
    code = Assembler()(0xA9, 0, 0x85, 0x80, 0x85, 0x81, 0x85, 0x82, 0x85, 0x83).label("frame")
    frame(code)(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0xE6, 0x82, 0xA5, 0x82, 0xC9, 75, 0xD0, ">frame")
    code.label("count")(0xA0, turns, 0xE6, 0x83).label("turn")(0xE6, 0x80, 0xD0, ">turn", 0xE6, 0x81)
    code(0xAD, 0x82, 0x02, 0x85, 0x84, 0xAD, 0x80, 0x02, 0x85, 0x85, 0x88, 0xD0, ">turn", 0x85, 0x09, 0x4C, "count")
    return code.rom({})


@pytest.mark.parametrize("turns", [10, 49, 60, 120])
def test_frames_that_are_cut_off_go_on_as_under_ale(turns):
    theirs, own = rams(long_frames(turns), [0, 2, 2, 0, 10, 0, 5, 5, 0, 1] * 2)
    assert own == theirs
    assert len(set(own)) > 10


@pytest.mark.parametrize("turns", [49, 120])
def test_frames_that_are_cut_off_go_on_the_same_compiled(turns, monkeypatch, tmp_path):
    monkeypatch.setenv("ENVS_C_FLAGS", "-O1")
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    data = long_frames(turns)
    theirs, interpreted = rams(data, [0, 2, 5] * 7)
    game = cartridges.game_of(data, None, row_of_our_programs())
    recompiled.attach(recompiled.compiled(*cartridges.INSERTED[game]), game.key)
    try:
        assert rams(data, [0, 2, 5] * 7) == (theirs, interpreted)
    finally:
        recompiled.detach(game.key)


SET, CLEAR, LINE, MORE = [0xA9, 2, 0x85, 0], [0xA9, 0, 0x85, 0], [0x85, 2], [0xA9, 0xFF, 0x85, 0]


@pytest.mark.parametrize(("vsync", "ends"), [
    ([*SET, *LINE, *LINE, *CLEAR], True),
    ([*SET, *LINE, *LINE, *SET, *CLEAR], False),
    ([*SET, *LINE, *LINE, *MORE, *CLEAR], False),
    ([*SET, *LINE, *LINE, *MORE, *LINE, *LINE, *CLEAR], True),
    ([*SET, *CLEAR, *LINE, *LINE, *LINE, *CLEAR], True),
    ([*CLEAR, *LINE, *LINE, *CLEAR], False)],
    ids=["set, clear", "set twice", "set with more bits", "set twice, then clear late", "clear early, then late", "clear only"])
def test_vsync_ends_frames_as_under_ale(vsync, ends):
    code = Assembler()(0xA9, 0, 0x85, 0x80).label("frame")(*vsync, 0xE6, 0x80, 0xA2, 200)
    data = code.label("line")(*LINE, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({})
    # ale-py takes a program whose first frames have many lines for one of a PAL television
    theirs, own = rams(data, [0] * 8, **({} if ends else {"last_line": 342, "height": 250}))
    assert own == theirs
    assert (own[-1][0] - own[0][0] == 8) is ends


@pytest.mark.parametrize("byte", [0x00, 0x15, 0x2A, 0x3F])
@pytest.mark.parametrize("pull", [[0x68], [0x28, 0x08, 0xD8, 0x68]], ids=["PLA", "PLP"])
def test_the_byte_at_the_stack_pointer_stays_on_the_bus(pull, byte):
    code = frame(Assembler().label("frame"))(0xA9, byte, 0x85, 0xFF, 0xA2, 0xFF, 0x9A, *pull, 0x85, 0x80, 0xA2, 200)
    theirs, own = rams(code.label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({}), [0, 0])
    assert own == theirs
    assert own[-1][0] & 0x0F == byte & 0x0F


def test_a_joystick_leaves_the_paddles_unread():
    code = frame(Assembler().label("frame"))
    for paddle in range(4):
        code(0xA5, 8 + paddle, 0x85, 0x80 + paddle)
    theirs, own = rams(code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({}), [0, 1, 3])
    assert own == theirs
    assert all(value < 0x80 for value in own[-1][:4])


def test_a_start_is_read_as_steps():
    assert starts.steps("R4 2[S2 N1] [S1 uf3] f1") == [
        (1, 0, 4, 0), (2, 0, 2, 0), (0, 0, 1, 0), (2, 0, 2, 0), (0, 0, 1, 0),
        (0, 0, 0, 2), (2, 0, 1, 0), (0, 10, 3, 0), (0, 1, 1, 0)]
    for wrong in ("R4 X1", "R", "4R", "R4 ]"):
        with pytest.raises(ValueError, match="a start has steps"):
            starts.steps(wrong)


@pytest.mark.parametrize("part, entries, most", [
    ("start", "N1 " * 65, 64), ("modes", list(range(65)), 64), ("select", [128] * 3, 2), ("score", [[128, "bin", 1]] * 9, 8),
    ("lives", [[128, "bin", 1]] * 5, 4), ("over", [[[128, "0"]]] * 5, 4), ("over", [[[128, "0"]] * 6], 5)])
def test_a_row_that_does_not_fit_is_an_error(part, entries, most):
    row = {**cartridges.UNKNOWN, "select": [128] if part == "modes" else [], "modes": [[0, 1, 2, 3]], part: entries}
    with pytest.raises(ValueError, match=f"must have {most} (entries|tests) at most, not {most + 1}"):
        cartridges.game_of(bytes([most] * 2048), None, row)


def test_a_start_of_64_steps_fits():
    row = {**cartridges.UNKNOWN, "start": "N1 " * 64}
    assert cartridges.game_of(bytes([64] * 2047 + [1]), None, row).actions


def test_the_facts_of_every_row_can_be_sent_to_the_process_that_compiles():
    for row in cartridges.table().values():
        facts = cartridges.facts_of(row)
        assert json.loads(json.dumps(facts))["over"] == [[list(test) for test in end] for end in facts["over"]]


def test_every_start_of_the_table_can_be_read():
    for name, row in cartridges.table().items():
        assert 1 <= len(starts.steps(row["start"])) <= 64, name
        assert all(len(mode) == 1 + len(row["select"]) for mode in starts.modes(row)), name


def test_numbers_and_their_ranges():
    assert cartridges.values("0-3 9 250-255") == [0, 1, 2, 3, 9, 250, 251, 252, 253, 254, 255]
    assert ranges(cartridges.values("0-3 9 250-255")) == "0-3 9 250-255"


@pytest.mark.parametrize("name, mode, difficulty", [
    ("freeway", 3, 1), ("space_invaders", 9, 1), ("surround", 2, 3), ("frogger", 1, 0)])
def test_modes_and_difficulties_start_as_under_ale(name, mode, difficulty):
    ale = oracle_of(name, cartridges.present()[name].read_bytes())
    ale.setMode(mode)
    ale.setDifficulty(difficulty)
    ale.reset_game()
    env = envs_c.make(f"atari:{name}", 1, mode=mode, difficulty=difficulty, frame_skip=1, full_action_space=True)
    seen = [env.reset()[0][0]]
    rams_of_ale = [ale.getRAM().copy()]
    for action in (0, 1, 2, 5, 3, 4) * 20:
        ale.act(Action(action))
        seen.append(env.step(np.array([action]))[0][0].copy())
        rams_of_ale.append(ale.getRAM().copy())
    assert np.array_equal(seen, rams_of_ale)


def test_a_mode_that_the_game_lacks_is_an_error():
    with pytest.raises(InvalidArgument, match=r"option 'mode' of atari_bowling must be 0 or 2 or 4 .*, not 1"):
        envs_c.make("atari:bowling", 1, mode=1)
    with pytest.raises(InvalidArgument, match=r"option 'difficulty' of atari_breakout must be 0 or 1 .*, not 2"):
        envs_c.make("atari:breakout", 1, difficulty=2)
