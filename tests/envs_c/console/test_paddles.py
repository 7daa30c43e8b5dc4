"""Cartridges with paddles, modes of their own and RAM, beside ale-py."""

import pytest

pytest.importorskip("ale_py")

from ale_py import Action

from benchmarks.console import Console, Trial, ale_of, play, trials
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
