"""Enduro compared with the cartridge under ale-py: equal in all that RAM tells and in the picture, frame by frame."""

import numpy as np
import pytest
from enduro_race import DAY, IN_LEFT, IN_RIGHT, LEFT_BEND, LEFT_COMES, NO_BEND, RIGHT_BEND, Race

import envs_c

NOOP, FIRE = range(2)


@pytest.fixture(scope="module")
def console():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.enduro import Cartridge
    return Cartridge()


@pytest.fixture
def theirs(console):
    return console.restart()


def assert_equal(race, theirs, frame):
    """Compare all fields that the cartridge's RAM tells."""
    ours = race.read()
    for name, value in theirs.state().items():
        assert np.array_equal(np.ravel(ours[name]).astype(int), np.ravel(value).astype(int)), f"frame {frame}: {name}"


def actions_of(theirs, random, held):
    """The next action: half of the time that of a driver who keeps to the middle, else a random one; held for some frames."""
    if random.random() > 0.15:
        return held
    return int(random.integers(9)) if random.random() < 0.5 else theirs.keep_middle()


def together(theirs, race, random, frames):
    """Play both; compare rewards and states after each frame. Yields the number of the frame."""
    action = FIRE
    for frame in range(frames):
        action = actions_of(theirs, random, action)
        assert theirs.step(action) == race.step(action), f"frame {frame}"
        assert_equal(race, theirs, frame)
        yield frame


def share_of_equal_pixels(race, theirs):
    return (race.picture()[:theirs.MAKER] == theirs.screen()[:theirs.MAKER]).all(-1).mean()


def test_has_the_cartridges_actions(theirs):
    assert [action.name for action in theirs.actions] == list(envs_c.game("enduro").actions)


@pytest.mark.parametrize("seed", range(3))
def test_every_frame_equals_the_cartridges_from_its_start(theirs, seed):
    race, equal = Race(scatter=0), []
    for frame in together(theirs, race, np.random.default_rng(seed), 1500):
        if frame % 50 == 49:
            equal.append(share_of_equal_pixels(race, theirs))
    assert np.mean(equal) > 0.9995


@pytest.mark.parametrize("frame", range(1000, DAY - 1000, 1024))
@pytest.mark.parametrize("bend", [NO_BEND, LEFT_BEND, RIGHT_BEND, LEFT_COMES])
def test_every_season_equals_the_cartridges(theirs, frame, bend):
    theirs.step(NOOP)
    high = 255 - (frame >> 8) - 12 * (frame >= 7168)
    theirs.poke({22: 50, 27: IN_LEFT, 29: IN_RIGHT, 36: 3, 38: bend, 48: 255 - (frame & 255), 49: high})
    theirs.step(NOOP)
    race = Race()
    race.change(**theirs.state())
    equal = []
    for step in together(theirs, race, np.random.default_rng(frame), 60):
        if step % 10 == 9:
            equal.append(share_of_equal_pixels(race, theirs))
    assert np.mean(equal) > 0.999


@pytest.mark.parametrize("day", [1, 2, 3, 4, 5, 8])
def test_the_days_last_car_and_the_next_day_equal_the_cartridges(theirs, day):
    theirs.step(NOOP)
    theirs.poke({22: 60, 24: 250, 25: 60, 27: IN_RIGHT, 43: 1, 44: 0, 45: day, 46: 251, 48: 150, 49: 192,
                 56: [0, 24, 31, 38, 41, 44, 45, 46, 47, 48][day]})
    theirs.step(NOOP)  # its reward is of the changed RAM
    race = Race()
    race.change(**theirs.state())
    for _ in together(theirs, race, np.random.default_rng(day), 400):
        pass
    assert race.day == day + 1 and race.left > 290


@pytest.mark.slow
def test_a_whole_day_of_a_driver_equals_the_cartridges(theirs):
    race, points, action = Race(scatter=0), 0, FIRE
    for frame in range(DAY - 1):
        if frame % 4 == 0:
            action = theirs.keep_middle()
        reward, over = theirs.step(action)
        assert race.step(action) == (reward, over), f"frame {frame}"
        points += reward
        if frame % 256 == 255:
            assert_equal(race, theirs, frame)
    assert points > 40


def test_a_day_is_as_long_as_the_cartridges(theirs):
    theirs.step(NOOP)
    theirs.poke({48: 3, 49: 192})
    race = Race()
    race.change(**theirs.state())
    for frame in range(4):
        over = theirs.step(NOOP)[1], race.step(NOOP)[1]
        assert over == (frame == 3, frame == 3)
