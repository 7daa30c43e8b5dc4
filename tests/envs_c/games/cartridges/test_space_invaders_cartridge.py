"""Space Invaders beside the cartridge under ale-py: every field of the state in every frame, and the pictures."""

import numpy as np
import pytest
from space_machine import FIRE, NOOP, RIGHT_FIRE, Space

import envs_c

pytest.importorskip("ale_py")

from benchmarks.cartridges.lockstep import twin_of
from benchmarks.cartridges.space_invaders import NONE, Cartridge
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
        assert_equal(machine, cartridge, frame)
        if frame % 3 == 0:
            assert np.array_equal(machine.picture(), cartridge.screen()), f"frame {frame}"
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


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("saucer", [20, 44, 48, 51, 53, 60, 110])
def test_a_shot_hits_the_saucer_in_the_cartridges_row_and_column(cartridge, saucer, way):
    machine = twin_of("space_invaders")
    for game in (machine, cartridge):
        game.step(NOOP)
    cartridge.poke({30: saucer + 1, 24: cartridge.ram[24] & 254 | (way > 0), 81: NONE, 82: NONE})
    start, state, hits = cartridge.ale.cloneState(include_rng=True), cartridge.state(), 0
    for y in range(3, 16, 2):
        for column in range(-2, 10):
            cartridge.ale.restoreState(start)
            cartridge.poke({85: y, 87: saucer + column + 2})
            machine.change(**state)
            machine.change(shot_x=saucer + column, shot_y=2 * y + 4)
            scores = [game.step(NOOP)[0] for game in (machine, cartridge)]
            assert scores[0] == scores[1], f"shot {y}, column {column}"
            hits += scores[0] > 0
    assert 8 < hits < 60


def test_has_the_cartridges_actions_and_lives(cartridge):
    assert [action.name for action in cartridge.actions] == list(envs_c.game("space_invaders").actions)
    assert cartridge.ale.lives() == Space().lives == 3


def test_the_first_picture_is_the_cartridges(cartridge):
    assert np.array_equal(twin_of("space_invaders").picture(), cartridge.screen())


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


def set_last(cartridge, rows, column: int):
    """Keep these invaders; a shot is below the lowest one of the column, and no bomb falls."""
    cartridge.leave(rows)
    lowest_row = max(row for row in range(6) if rows[row] >> column & 1)
    state = cartridge.state()
    cartridge.poke({81: NONE, 82: NONE, 85: (state["y"] + 18 * lowest_row + 2) // 2 | 1, 87: state["x"] + 16 * column + 6})


def assert_equal(machine, cartridge, frame: int):
    state, other = machine.read(), cartridge.state()
    mine, places = GAMES["space_invaders"].objects(state), GAMES["space_invaders"].objects(other)
    for name in mine:
        assert np.array_equal(mine[name], places[name], equal_nan=True), f"frame {frame}: {name}"
    for name in COUNTS:
        assert np.array_equal(np.ravel(state[name]), np.ravel(other[name])), f"frame {frame}: {name}"


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("others", [63, 51, 45])
def test_a_column_that_was_just_emptied_may_be_chosen_and_drops_no_bomb(cartridge, column, others):
    """Every random number, in the frame after the hit and two frames later."""
    machine, none = twin_of("space_invaders"), 0
    for _ in range(5):
        cartridge.step(NOOP)
    set_last(cartridge, [others & ~(1 << column), 0, 0, 1 << column, 0, 0], column)
    machine.change(**cartridge.state())
    while cartridge.step(NOOP)[0] == 0:
        machine.step(NOOP)
    machine.step(NOOP)
    for frame in (0, 2):
        machine.change(bomb_y=[0, 0])
        cartridge.poke({81: NONE, 82: NONE})
        before, saved = cartridge.ale.cloneState(include_rng=True), machine.core.get_state()
        for seed in range(256):
            cartridge.ale.restoreState(before)
            cartridge.poke({106: seed})
            machine.core.set_state(saved)
            machine.change(seed=seed)
            machine.step(NOOP)
            cartridge.step(NOOP)
            theirs = sorted(place for place in (cartridge.missile(83 + k, 81 + k) for k in (0, 1)) if place[1])
            ours = sorted((x, y) for x, y in zip(machine.bomb_x, machine.bomb_y, strict=True) if y)
            assert ours == theirs, f"frame {frame}, seed {seed}"
            none += frame == 0 and not ours
        cartridge.ale.restoreState(before)
        machine.core.set_state(saved)
        for _ in range(2):
            cartridge.step(NOOP)
            machine.step(NOOP)
    assert none > 0


@pytest.mark.parametrize("burns_first, wait, lives", [
    (False, 0, 3), (False, 61, 3), (False, 93, 2), (False, 4, 1), (True, 0, 3), (True, 1, 3), (True, 90, 2), (True, 5, 1)])
def test_a_cannon_that_burns_as_a_wave_ends_equals_the_cartridges(cartridge, burns_first, wait, lives):
    """A bomb hits it after the last invader was shot, or its shot hits the last invader after the bomb; to the next wave."""
    machine, burned, cleared = twin_of("space_invaders"), 0, 0
    for _ in range(5):
        cartridge.step(NOOP)
    cartridge.poke({73: lives})
    for frame in range(420):
        if frame == (3 + wait if burns_first else 0):
            set_last(cartridge, [1, 0, 0, 0, 0, 0], 0)
            machine.change(**cartridge.state())
        if frame == (0 if burns_first else 3 + wait):
            cartridge.poke({81: 88, 82: NONE, 83: cartridge.ram[28] + 4})
            machine.change(**cartridge.state())
        ours, theirs = machine.step(RIGHT_FIRE), cartridge.step(RIGHT_FIRE)
        assert ours == theirs, f"frame {frame}"
        if ours[1]:
            break
        assert_equal(machine, cartridge, frame)
        burned, cleared = burned + (machine.phase == 2), cleared + (machine.count == 0)
    assert burned > 80 and cleared > 80 and ours[1] == (lives == 1)
