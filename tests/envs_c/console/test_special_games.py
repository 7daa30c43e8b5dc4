"""Cartridges with paddles, modes of their own, RAM, and ends that play at random does not reach, beside ale-py."""

import json

import numpy as np
import pytest

from envs_c.engine.state import LENGTH, MAGIC, close_state

pytest.importorskip("ale_py")

from ale_py import Action

from benchmarks.console.comparison import Console, Trial, ale_of, play, trials
from envs_c.console import cartridges

LEFT, RIGHT = 4, 3
# A game, its mode, and what it shows
GAMES = {
    "a range of 1,000,000 ohm": ("backgammon", 0),
    "a range of 795,000 ohm": ("blackjack", 0),
    "a second pair that is not there": ("casino", 2),
    "a mode without an end": ("casino", 3),
    "a second pair that nobody moves": ("pong", 1),
    "modes in decimal digits": ("space_war", 10),
    "RAM of the cartridge's own": ("elevator_action", 0),
}


@pytest.mark.parametrize("what", GAMES)
def test_a_cartridge_with_paddles_or_ram_plays_as_under_ale(what):
    name, mode = GAMES[what]
    found = play(name, Trial("held", 500, mode, 0, mode == trials(name, 1)[0].mode))
    assert found["first"] == {} and found["frames"] == 500


@pytest.mark.parametrize("name", ["backgammon", "blackjack", "breakout", "casino", "kaboom", "pong"])
def test_a_paddle_turns_from_one_end_to_the_other_as_under_ale(name):
    ours, ale = Console(cartridges.cartridge(f"atari:{name}")), ale_of(name)
    for action in [LEFT] * 45 + [RIGHT] * 45 + [LEFT] * 20:
        ours.act(action)
        ale.act(Action(action))
        assert ours.ram.tobytes() == ale.getRAM().tobytes()


def test_a_game_with_another_first_difficulty_is_compared_in_ales_own_too():
    assert [(each.difficulty, each.first) for each in trials("backgammon", 100)[-2:]] == [(0, True), (3, False)]


SQUARES = [*range(128, 136), *range(137, 145), *range(146, 154), *range(155, 163)]  # of the board in Video Checkers


@pytest.mark.parametrize("name, mode, changes, points", [
    ("et", 0, {128: 8, 229: 255}, 0), ("et", 0, {229: 255}, None), ("et", 0, {128: 8}, None),
    ("video_checkers", 1, dict.fromkeys(SQUARES[16:], 0), 1), ("video_checkers", 9, dict.fromkeys(SQUARES[16:], 0), 1),
    ("video_checkers", 11, dict.fromkeys(SQUARES[16:], 0), -1), ("video_checkers", 1, dict.fromkeys(SQUARES[21:], 0), None),
    ("casino", 0, {140: 0, 149: 0}, -1000), ("casino", 0, {158: 22, 211: 240}, 0), ("casino", 2, {140: 0, 149: 1}, None),
    ("word_zapper", 0, {222: 0, 207: 1}, 0), ("word_zapper", 0, {222: 0, 207: 0}, None),
    ("adventure", 0, {185: 18}, 1), ("haunted_house", 0, {153: 68}, 100), ("journey_escape", 0, {149: 1, 150: 0}, None),
    ("space_invaders", 0, {152: 128}, 0), ("elevator_action", 0, {129: 0, 131: 0}, None),
    ("skiing", 0, {238: 72}, None), ("skiing", 0, {145: 255}, 0),
    ("human_cannonball", 0, {183: 7}, 0), ("human_cannonball", 0, {183: 6}, None),
    ("blackjack", 0, {134: 11, 137: 187}, -200), ("blackjack", 0, {134: 153}, 9700), ("blackjack", 0, {134: 9}, None)])
def test_an_end_that_is_written_into_the_ram_is_that_of_the_row(name, mode, changes, points):
    """points: of the frame; None if the game goes on."""
    ale, row = ale_of(name, mode, 0), cartridges.table()[name]
    for address, value in changes.items():
        ale.setRAM(address - 128, value)
    reward, ram = ale.act(Action.NOOP), ale.getRAM()
    ends = [all(ram[at - 128] in values for places, values, _ in cartridges.condition(tests) for at in places)
            for tests in row["over"]]
    assert ale.game_over() is any(ends) is (points is not None)
    if any(ends):
        fixed = row["points"][ends.index(True):ends.index(True) + 1]
        assert reward == points and fixed in ([], [points])


def opened(state: bytes) -> tuple[dict, bytearray]:
    """The signature of a snapshot for `close_state`, and its memory."""
    end = len(MAGIC) + LENGTH + int.from_bytes(state[len(MAGIC):len(MAGIC) + LENGTH], "little")
    header = json.loads(state[len(MAGIC) + LENGTH:end])
    return {key: value for key, value in header.items() if key not in ("count", "crc32")}, bytearray(state[end:])


@pytest.mark.parametrize("written", [
    [(0x05, 4, 1), (0x05, 0, 2)], [(0x05, 0, 1), (0x05, 0, 2)], [(0x00, 0, 1), (0x00, 0, 2)], [(0x05, 0, 2)],
    [(0x03, 0, 1), (0x03, 0, 2), (0x04, 0, 2), (0x04, 0, 3), (0x02, 0, 3), (0x02, 0, 4)],
    [(0x03, 0, 1), (0x03, 0, 2), (0x01, 5, 2), (0x04, 0, 2), (0x04, 0, 3)],
    [(0x98, 0, 1), (0x99, 0, 1), (0x00, 0, 1), (0x72, 0, 1), (0x72, 0, 2)]],
    ids=["before a stroke", "one hole", "no stroke", "at once", "three holes", "another par", "past 99"])
def test_points_of_a_hole_are_those_of_ale_for_any_bytes(written):
    """written: the strokes, the par that is shown and the hole, before each frame."""
    ours, ale = Console(cartridges.cartridge("atari:miniature_golf")), ale_of("miniature_golf")
    for values in written:
        signature, raw = opened(ours.env.get_state())
        at = raw.index(ours.ram.tobytes())
        for address, value in zip((135, 136, 175), values, strict=True):
            ale.setRAM(address - 128, value)
            raw[at + address - 128] = value
        ours.env.set_state(close_state(signature, 1, bytes(raw)))
        reward = ale.act(Action.NOOP)
        ours.act(0)
        assert ours.ram.tobytes() == ale.getRAM().tobytes() and ours.reward[0] == reward


@pytest.mark.parametrize("name, signs", [("battle_zone", {-1, 1}), ("asteroids", {1})])
def test_points_are_those_of_ale_for_blank_digits_and_for_a_score_that_falls(name, signs):
    """In Asteroids a score that falls has gone round: it is worth 100,000 more."""
    places = sorted({address for address, *_ in cartridges.table()[name]["score"]})
    ours, ale, rewards = Console(cartridges.cartridge(f"atari:{name}")), ale_of(name), set()
    for value in (0x00, 0x10, 0x05, 0xA0, 0x0A, 0xAA, 0x21, 0x20, 0x99, 0x00):
        signature, raw = opened(ours.env.get_state())
        at = raw.index(ours.ram.tobytes())
        for address in places:
            ale.setRAM(address - 128, value)
            raw[at + address - 128] = value
        ours.env.set_state(close_state(signature, 1, bytes(raw)))
        reward = ale.act(Action.NOOP)
        ours.act(0)
        rewards.add(np.sign(reward))
        assert ours.ram.tobytes() == ale.getRAM().tobytes() and ours.reward[0] == reward, hex(value)
    assert rewards - {0} == signs


@pytest.mark.parametrize("lives, effect, counted", [(1, 1, True), (1, 0, False), (0, 0, True)],
                         ids=["by one", "by one, not believed", "by two"])
def test_a_fall_of_the_lives_is_believed_as_under_ale(lives, effect, counted):
    ours, ale = Console(cartridges.cartridge("atari:beam_rider")), ale_of("beam_rider")
    signature, raw = opened(ours.env.get_state())
    at = raw.index(ours.ram.tobytes())
    for address, value in ((133, lives), (140, effect)):
        ale.setRAM(address - 128, value)
        raw[at + address - 128] = value
    ours.env.set_state(close_state(signature, 1, bytes(raw)))
    before = ale.lives()
    ale.act(Action.NOOP)
    ours.act(0)
    assert ours.ram.tobytes() == ale.getRAM().tobytes() and ours.env.lives[0] == ale.lives()
    assert (ale.lives() < before) is counted
