"""Enduro compared with the cartridge under ale-py: speeds, steering, days and colours, places and sizes of cars and road."""

import numpy as np
import pytest
from enduro_race import DAY, Race

import envs_c

NOOP, FIRE, RIGHT, LEFT, DOWN = range(5)
IN_LEFT = 1


@pytest.fixture(scope="module")
def console():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.enduro import Cartridge
    return Cartridge()


@pytest.fixture
def theirs(console):
    return console.restart()


def box(picture, colour):
    """First and last row, first and last column of the pixels on the road that have a colour."""
    rows, columns = np.nonzero((picture[52:155] == colour).all(-1))
    return np.array([rows.min() + 52, rows.max() + 52, columns.min(), columns.max()])


def test_has_the_cartridges_actions(theirs):
    assert [action.name for action in theirs.actions] == list(envs_c.game("enduro").actions)


def test_speed_and_distance_equal_the_cartridges_in_every_frame(theirs):
    race = Race()
    for frame in range(840):
        theirs.clear()
        race.clear()
        action = theirs.keep_middle() if frame < 800 else DOWN
        theirs.step(action)
        race.step(action)
        race.change(x=0, bend=0)
        read = theirs.read()
        assert (race.speed, race.phase) == (read["speed"], read["phase"]), f"frame {frame}"
        way = race.odometer // 256
        assert way == read["way"], f"frame {frame}"


@pytest.mark.parametrize("speed", [8, 16, 24, 34, 44, 52, 60])
@pytest.mark.parametrize("action", [LEFT, RIGHT])
def test_steers_as_fast_as_the_cartridge(theirs, speed, action):
    while theirs.read()["speed"] < speed:
        theirs.clear()
        theirs.step(FIRE)
    start = theirs.read()["x"]
    race = Race()
    race.change(speed=int(theirs.read()["speed"]))
    for _ in range(20):
        theirs.clear()
        race.clear()
        theirs.step(action)
        race.step(action)
    assert abs((theirs.read()["x"] - start) - race.x / 64) <= 1.5


def test_days_are_as_long_and_as_coloured_as_the_cartridges(theirs):
    race = Race()
    marks = [200, 2000, 4000, 5200, 5500, 5800, 6000, 6300, 6500, 6800, 8000, 10000, 12000, 13000]
    for frame in range(1, DAY + 1):
        theirs.clear()
        _, over = theirs.step(theirs.keep_middle())
        assert over == (frame == DAY)
        if frame in marks:
            race.change(frame=frame, slot=[0] * 7)
            ours, other = race.picture(), theirs.screen()
            for row in (0, 20, 40, 154):
                assert (ours[row, 9] == other[row, 9]).all(), f"frame {frame}, row {row}"
            hills = [{tuple(colour) for colour in picture[50, 8:].tolist()} for picture in (ours, other)]
            assert hills[0] == hills[1], f"frame {frame}"
    race.change(frame=DAY - 1)
    assert race.step() == (0, True)


@pytest.mark.parametrize("slot", range(7))
@pytest.mark.parametrize("phase", range(16, 161, 48))
def test_cars_are_where_and_as_large_as_the_cartridges(theirs, slot, phase):
    for _ in range(5):
        theirs.step(NOOP)
    theirs.clear()
    theirs.poke({25: phase, 27 + slot: 0x36})
    for _ in range(4):
        theirs.step(NOOP)
    race = Race()
    slots = [4 * 3 + IN_LEFT if k == slot else 0 for k in range(7)]
    race.change(phase=int(theirs.read()["phase"]), slot=slots)
    ours, other = (box(picture, [0xC6, 0x6C, 0x3A]) for picture in (race.picture(), theirs.screen()))
    assert np.abs(ours - other).max() <= 2


@pytest.mark.parametrize("action", [LEFT, RIGHT])
def test_road_and_own_car_are_where_the_cartridges_are(theirs, action):
    race = Race()
    for frame in range(40):
        theirs.clear()
        theirs.step(FIRE if frame < 5 else action)
        if frame > 5 and frame % 7 == 0:
            x = (theirs.before[46] + 128) % 256 - 128  # the picture shows the frame before
            race.change(x=64 * x, speed=theirs.read()["speed"], road=0, slot=[0] * 7)
            grey = [(picture[52:155] == picture[52:155, :, :1]).all(-1) & (picture[52:155, :, 0] > 0x40)
                    for picture in (race.picture(), theirs.screen())]
            left, right = ([np.argmax(rows[:, ::way], 1) for rows in grey] for way in (1, -1))
            assert np.abs(left[0] - left[1]).max() <= 4 and np.abs(left[0] - left[1]).mean() < 1
            assert np.abs(right[0] - right[1]).max() <= 4 and np.abs(right[0] - right[1]).mean() < 1
            cars = [np.nonzero(rows[90:97, 60:115].any(0))[0][[0, -1]] for rows in grey]
            assert np.abs(cars[0] - cars[1]).max() <= 1
