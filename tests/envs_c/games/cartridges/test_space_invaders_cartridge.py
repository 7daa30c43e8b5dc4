"""Space Invaders beside the cartridge under ale-py: every field of the state in every frame, and the pictures."""

import numpy as np
import pytest
from space_machine import FIRE, NOOP, Space

import envs_c

pytest.importorskip("ale_py")

from benchmarks.cartridges.lockstep import twin_of
from benchmarks.cartridges.space_invaders import Cartridge
from benchmarks.likeness.compare import difference
from benchmarks.likeness.games import GAMES

COUNTS = ("score", "lives", "count", "shield", "gone", "clock", "seed", "way", "pose", "phase", "sheltered", "blast")


@pytest.fixture
def cartridge():
    """The cartridge in the last frame of its first rest."""
    return Cartridge()


def lowest(cartridge) -> int:
    """An action that brings the cannon below the invaders' middle, away from bombs that are near, and shoots."""
    state = cartridge.state()
    for x, y in zip(state["bomb_x"], state["bomb_y"], strict=True):
        away = x - state["cannon"] - 3
        if y > 130 and abs(away) < 7:
            return 5 if (away > 0 and state["cannon"] > 36) or state["cannon"] > 112 else 4
    return 4 if state["x"] + 40 > state["cannon"] + 2 else 5


@pytest.mark.parametrize("seed, chance, frames", [
    (0, 1.0, 700), (1, 0.05, 1200), pytest.param(2, 0.05, 9000, marks=pytest.mark.slow),
    pytest.param(3, 0.2, 9000, marks=pytest.mark.slow)])
def test_every_frame_of_a_game_equals_the_cartridges(cartridge, seed, chance, frames):
    """chance: of an action at random in place of one that plays well. To the end of the episode, or of the frames."""
    machine, random, action = twin_of("space_invaders"), np.random.default_rng(seed), 0
    for frame in range(frames):
        if random.random() < 0.2:
            action = int(random.integers(6)) if random.random() < chance else lowest(cartridge)
        ours, theirs = machine.step(action), cartridge.step(action)
        assert ours == theirs, f"frame {frame}"
        if ours[1]:
            break
        state, other = machine.read(), cartridge.state()
        mine, places = GAMES["space_invaders"].objects(state), GAMES["space_invaders"].objects(other)
        for name in mine:
            assert np.array_equal(mine[name], places[name], equal_nan=True), f"frame {frame}: {name}"
        for name in COUNTS:
            assert np.array_equal(np.ravel(state[name]), np.ravel(other[name])), f"frame {frame}: {name}"
    assert frame > 300 and machine.score > 0


def test_our_game_goes_on_from_any_state_that_is_read_from_ram(cartridge):
    machine, random, action = twin_of("space_invaders"), np.random.default_rng(4), 0
    for frame in range(900):
        if random.random() < 0.2:
            action = int(random.integers(6))
        ends = machine.step(action)[1], cartridge.step(action)[1]
        assert ends[0] == ends[1]
        if any(ends):
            break
        assert machine.seed == cartridge.state()["seed"] and machine.bomb_y == cartridge.state()["bomb_y"], f"frame {frame}"
        if frame % 30 == 0:
            machine.change(**cartridge.state())
    assert frame > 300


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("way", [1, -1])
def test_the_saucer_and_fast_invaders_equal_the_cartridges(cartridge, column, way):
    """Two invaders of a column are left, the saucer crosses, and all that comes is shot at."""
    machine = twin_of("space_invaders")
    rows = [0, 0, 1, 1, 0, 0]
    for _ in range(2 + column):
        machine.step(NOOP)
        cartridge.step(NOOP)
    cartridge.leave(rows)
    cartridge.poke({30: 80 + 3 * column, 24: 82 | (way > 0), 26: 24 + 16 * column, 107: 1})
    machine.change(**cartridge.state())
    for frame in range(150):
        action = FIRE if frame % 3 else 2 + column % 2
        assert machine.step(action) == cartridge.step(action), f"frame {frame}"
        mine, other = (GAMES["space_invaders"].objects(state) for state in (machine.read(), cartridge.state()))
        assert all(np.array_equal(mine[name], other[name], equal_nan=True) for name in mine), f"frame {frame}"


@pytest.mark.parametrize("cannon", [34, 70, 104, 107, 110, 111, 116])
def test_a_bomb_hits_the_cannon_in_the_cartridges_row_and_column(cartridge, cannon):
    machine = twin_of("space_invaders")
    for game in (machine, cartridge):
        game.step(NOOP)
        game.step(NOOP)
    cartridge.poke({28: cannon + 1, 83: 20})
    start, state = cartridge.ale.cloneState(include_rng=True), cartridge.state()
    hits = 0
    for y in range(84, 92):
        for column in range(-1, 8):
            cartridge.ale.restoreState(start)
            cartridge.poke({81: 20, 82: y, 84: cannon + column + 2})
            machine.change(**state)
            machine.change(bomb_x=[18, cannon + column], bomb_y=[44, 2 * y + 4])
            for game in (machine, cartridge):
                game.step(NOOP)
            assert machine.phase == cartridge.state()["phase"], f"bomb {y}, column {column}"
            hits += machine.phase == 2
    assert 15 < hits < 60


def test_has_the_cartridges_actions_and_lives(cartridge):
    assert [action.name for action in cartridge.actions] == list(envs_c.game("space_invaders").actions)
    assert cartridge.ale.lives() == Space().lives == 3


def test_the_first_picture_is_the_cartridges(cartridge):
    assert np.array_equal(twin_of("space_invaders").picture(), cartridge.screen())


def test_pictures_differ_from_the_cartridges_by_less_than_a_tenth_of_a_grey_value(cartridge):
    """With flicker, as on the cartridge: shots and bombs may differ by some rows, and a blast by a frame."""
    machine, random, found, action = twin_of("space_invaders"), np.random.default_rng(6), [], 0
    for frame in range(900):
        if random.random() < 0.2:
            action = lowest(cartridge)
        machine.step(action)
        if cartridge.step(action)[1]:
            break
        if frame % 7 == 0:
            found.append(difference(machine.picture(), cartridge))
    assert np.mean(found, 0)[0] < 0.1 and np.mean(found, 0)[2] > 0.999


@pytest.mark.parametrize("rows, y, lands", [
    ([63] * 6, 18, False), ([63] * 6, 19, True), ([0] * 5 + [63], 18, False), ([0] * 5 + [63], 19, True),
    ([63] + [0] * 5, 63, False), ([63] + [0] * 5, 64, True)])
def test_invaders_land_at_the_cartridges_height(cartridge, rows, y, lands):
    """They stand in the row y from the top, in the cartridge's units of 2 pixels, and are at the right edge."""
    machine = twin_of("space_invaders")
    for game in (machine, cartridge):
        for _ in range(2):
            game.step(NOOP)
    cartridge.leave(rows)
    cartridge.poke({16: y, 26: 49})
    machine.change(**cartridge.state())
    for frame in range(100):
        ours, theirs = machine.step(NOOP), cartridge.step(NOOP)
        assert ours == theirs, f"frame {frame}"
        if ours[1]:
            break
        assert machine.y == cartridge.state()["y"]
    assert ours[1] == lands
