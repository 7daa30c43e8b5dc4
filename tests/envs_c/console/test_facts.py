"""Rewards, lives and ends of games.toml beside ale-py: a game for each form, up to a frame in which it counts."""

from itertools import islice

import numpy as np
import pytest

pytest.importorskip("ale_py")

from ale_py import Action
from support import vector

from benchmarks.console.comparison import Console, Trial, actions, ale_of, play
from envs_c.console import cartridges, starts
from tools.console_facts import power_on
from tools.console_facts.ends import ranges
from tools.console_facts.programs import Assembler, frame, oracle_of

FORMS = {
    "a term for the last digits": ("centipede", "held", 300),
    "a score that is blank at the start": ("demon_attack", "held", 20),
    "lives that count once their number was there": ("star_gunner", "held", 1000),
    "lives that count while a byte says so": ("time_pilot", "random", 600),
    "lives that count while a bit is 0": ("wizard_of_wor", "held", 400),
    "lives whose fall is believed if a byte says so": ("beam_rider", "random", 1600),
    "lives that are counted down": ("qbert", "held", 1000),
    "a counter as a score": ("haunted_house", "held", 700),
    "points of one at most": ("ice_hockey", "sticky", 700),
    "an end in bit 7": ("tetris", "long", 700),
    "any number ends the game": ("hangman", "random", 1600),
    "points that do not count when a game is won": ("tennis", "random", 1300),
    "a count down through zero": ("enduro", "held", 2150),
    "a point less for a game that is lost": ("tic_tac_toe_3d", "random", 710),
    "an end in all digits, and a score in the cartridge's RAM": ("klax", "random", 720),
    "a point for a game that is won": ("tic_tac_toe_3d", "held", 850),
}
# Games of thousands of frames
LONG = {
    "a byte that is added to the score later": ("krull", "held", 10_350),
    "a life in another byte's bit": ("video_pinball", "random", 8400),
    "a score that counts one at most": ("freeway", "long", 5475),
    "an end and a new game in one frame": ("qbert", "random", 7392),
}
# Bytes that are changed while a game runs, [address, value]; some of them end it
CHANGES = {
    "blackjack": [(134, 10), (134, 9), (134, 153)],
    "casino": [(140, 0), (211, 240), (212, 3)],
    "double_dunk": [(246, 36), (247, 36), (246, 35)],
    "enduro": [(175, 255), (227, 0), (128, 1)],
    "freeway": [(130, 0), (150, 1), (233, 40)],
    "private_eye": [(194, 40), (255, 0), (197, 0)],
}


def in_the_first_mode(name: str, way: str, frames: int) -> dict:
    """`play` as benchmarks.console does first."""
    row = cartridges.table()[name]
    return play(name, Trial(way, frames, starts.modes(row)[0][0], row["difficulties"][0], True))


@pytest.mark.parametrize("form", FORMS)
def test_rewards_lives_and_ends_are_those_of_ale(form):
    assert in_the_first_mode(*FORMS[form])["first"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("form", LONG)
def test_rewards_lives_and_ends_of_long_games_are_those_of_ale(form):
    assert in_the_first_mode(*LONG[form])["first"] == {}


@pytest.mark.parametrize("name", CHANGES)
def test_an_end_of_a_long_game_is_in_the_bytes_of_its_row(name):
    ale, ends, over = ale_of(name), 0, [cartridges.condition(tests) for tests in cartridges.table()[name]["over"]]
    for k, action in enumerate(islice(actions(Trial("held", 0, 0, 0, True), 0), 750)):
        if k >= 690:
            state = ale.cloneState()
            address, value = CHANGES[name][k % 3]
            ale.setRAM(address - 128, value)
            ale.act(Action(action))
            ram, ends = ale.getRAM(), ends + ale.game_over()
            here = any(all(ram[at - 128] in values for places, values, _ in tests for at in places) for tests in over)
            assert ale.game_over() == here, (k, address, value)
            ale.restoreState(state)
        ale.act(Action(action))
    assert 0 < ends < 60


def test_lives_that_are_counted_down_go_on_below_0_as_under_ale():
    numbers = bytes([2] * 122 + [2, 1, 1, 255, 0, 255, 253, 3]).ljust(256, b"\x03")  # frame 121 is the last one of the start
    code = frame(Assembler().label("frame"))(0xE6, 0x80, 0xA6, 0x80, 0xBD, 0x00, 0xF2, 0x85, 136)  # 80 counts frames
    data = code(0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame").rom({0x200: numbers})
    ours, ale = Console(cartridges.game_of(data, None, {**cartridges.table()["qbert"], "kind": ""})), oracle_of("qbert", data)
    ale.reset_game()
    seen = []
    for _ in range(8):
        ale.act(Action.NOOP)
        ours.act(0)
        seen.append(ale.lives())
        assert ours.ram[0].tobytes() == ale.getRAM().tobytes() and ours.env.lives[0] == ale.lives()
    assert seen == [4, 3, 3, 3, 3, 2, 2, 2]


def test_an_end_depends_on_the_byte_before_the_frame():
    found = in_the_first_mode("riverraid", "held", 3400)
    assert (found["first"], found["ends"]) == ({}, 1)


@pytest.mark.parametrize("name, mode", [("jamesbond", 1), ("kangaroo", 1), ("demon_attack", 5)])
def test_modes_whose_byte_has_another_number_start_as_under_ale(name, mode):
    assert play(name, Trial("held", 60, mode, 0, False))["first"] == {}


def test_a_pal_cartridge_that_counts_frames_from_power_on_starts_as_under_ale():
    assert play("space_war", Trial("held", 60, 16, 0, False))["first"] == {}


def test_a_game_that_counts_frames_of_its_start_starts_as_under_ale():
    assert in_the_first_mode("video_cube", "random", 60)["first"] == {}


def test_a_mode_that_begins_with_its_end_plays_no_frame():
    ours, ale = Console(cartridges.cartridge("atari:demon_attack"), mode=3), ale_of("demon_attack", 3, 0)
    before = ours.ram.copy()
    ours.act(1)
    assert (ale.act(Action(1)), ale.game_over()) == (0, True)
    assert np.array_equal(ours.ram, before) and np.array_equal(ours.ram[0], ale.getRAM())
    assert ours.terminated[0] and ours.reward[0] == 0


@pytest.mark.parametrize("points, counts", [([], True), ([0], False)])
def test_the_frame_that_ends_a_game_gives_points_unless_its_row_says_no(points, counts):
    code = frame(Assembler().label("frame"))(0xE6, 0x80, 0xA2, 200).label("line")(0x85, 2, 0xCA, 0xD0, ">line", 0x4C, "frame")
    row = {**cartridges.UNKNOWN, "score": [[128, "bin", 1]], "over": [[[128, ranges(list(range(0, 256, 4)))]], [[129, "77"]]],
           "points": points}
    ours = Console(cartridges.game_of(code.rom({0: bytes([counts])}), None, row))
    for _ in range(4):
        ours.act(0)
        assert ours.reward[0] == (counts or not ours.terminated[0])
        if ours.terminated[0]:
            break
    assert ours.terminated[0]


def test_actions_of_a_trial_are_the_same_again():
    for way in ("random", "held", "long", "sticky"):
        first, second = (actions(Trial(way, 0, 0, 0, True), 3) for _ in range(2))
        drawn = [next(first) for _ in range(300)]
        assert drawn == [next(second) for _ in range(300)]
        assert set(drawn) <= set(range(18)) and len(set(drawn)) > 1


@pytest.mark.parametrize("data, resets", [(power_on.NOTHING, 2), (power_on.TIMER, 40), (power_on.OWN_RAM, 4),
                                          pytest.param(power_on.TIMER, 8190, marks=pytest.mark.slow),
                                          pytest.param(power_on.OWN_RAM, 510, marks=pytest.mark.slow)],
                         ids=["RAM", "timer", "own RAM", "timers of 8,190 resets", "own RAM of 510 resets"])
def test_ram_and_timers_at_power_on_are_those_of_ale(data, resets):
    assert power_on.ours(data, resets) == power_on.theirs(data, resets)[1:]


@pytest.mark.parametrize("mask", [None, [False, True]], ids=["all", "one"])
@pytest.mark.parametrize("data", [power_on.TIMER, power_on.OWN_RAM], ids=["timer", "own RAM"])
def test_a_reset_with_a_seed_is_that_of_a_new_environment(data, mask):
    env = vector(cartridges.game_of(data, None, {**cartridges.table()[power_on.GAME], "kind": ""}), 2)
    new = env.reset(seed=1)[0]
    assert not np.array_equal(env.reset()[0], new)
    kept = env.reset()[0]
    again = env.reset(seed=1, options={"reset_mask": None if mask is None else np.array(mask)})[0]
    assert np.array_equal(again[1], new[1]) and np.array_equal(again[0], new[0] if mask is None else kept[0])
