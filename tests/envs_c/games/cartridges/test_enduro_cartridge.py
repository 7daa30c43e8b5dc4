"""Enduro compared with the cartridge under ale-py: equal in all that RAM tells and in the picture, frame by frame."""

import numpy as np
import pytest
from enduro_race import AT_EDGE, DAY, HIT, IN_LEFT, IN_MIDDLE, IN_RIGHT, LEFT_BEND, LEFT_COMES, NO_BEND, RIGHT_BEND, Race

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


def start(theirs, **ram):
    """Our game in the state of the cartridge, a frame after these bytes of its RAM were written: r22=50 for byte 22."""
    theirs.step(NOOP)
    theirs.poke({int(name[1:]): value for name, value in ram.items()})
    theirs.step(NOOP)  # its reward is of the changed RAM
    race = Race()
    race.change(**theirs.state())
    return race


def columns_of(picture, colour):
    """The columns of the road in which this colour is."""
    return (picture[52:155] == list(colour.to_bytes(3, "big"))).all(-1).any(0)


def pictures_differ(race, theirs):
    return not np.array_equal(race.picture()[:theirs.MAKER], theirs.screen()[:theirs.MAKER])


def test_has_the_cartridges_actions(theirs):
    assert [action.name for action in theirs.actions] == list(envs_c.game("enduro").actions)


@pytest.mark.parametrize("seed", range(3))
def test_every_frame_equals_the_cartridges_from_its_start(theirs, seed):
    race, different = Race(scatter=0), 0
    for frame in together(theirs, race, np.random.default_rng(seed), 1500):
        different += frame % 10 == 9 and pictures_differ(race, theirs)
    assert different <= 1  # of 150: a car may hide a pixel of an edge there and not here


@pytest.mark.parametrize("frame", range(1000, DAY - 1000, 1024))
@pytest.mark.parametrize("bend", [NO_BEND, LEFT_BEND, RIGHT_BEND, LEFT_COMES])
def test_every_season_equals_the_cartridges(theirs, frame, bend):
    theirs.step(NOOP)
    high = 255 - (frame >> 8) - 12 * (frame >= 7168)
    theirs.poke({22: 50, 27: IN_LEFT, 29: IN_RIGHT, 36: 3, 38: bend, 48: 255 - (frame & 255), 49: high})
    theirs.step(NOOP)
    race = Race()
    race.change(**theirs.state())
    different = 0
    for step in together(theirs, race, np.random.default_rng(frame), 60):
        different += step % 3 == 2 and pictures_differ(race, theirs)
    assert different <= 1  # of 20: at nightfall the sky's last rows change a frame late


@pytest.mark.parametrize("bend", [LEFT_BEND, NO_BEND, RIGHT_BEND, LEFT_COMES])
@pytest.mark.parametrize("slot", range(5))
@pytest.mark.parametrize("car, colour", [(IN_LEFT, 0x4272C2), (IN_RIGHT, 0x4272C2), (IN_MIDDLE, 0x4248C8)])
def test_cars_in_bends_are_in_the_cartridges_columns(console, bend, slot, car, colour):
    race = Race()
    for phase in range(8, 256, 16):
        console.restart().step(NOOP)
        console.poke({22: 24, 24: 100, 25: phase, 37: 7, 38: bend, 46: 231, 27 + slot: car})
        console.step(NOOP)
        race.change(**console.state())
        console.step(NOOP)
        race.step(NOOP)
        assert np.array_equal(columns_of(race.picture(), colour), columns_of(console.screen(), colour)), phase


def test_hits_a_car_in_a_bend_in_the_cartridges_frame(theirs):
    race = start(theirs, r22=61, r24=203, r25=68, r28=IN_MIDDLE, r38=LEFT_BEND, r46=247, r48=100)
    for _ in together(theirs, race, np.random.default_rng(0), 3):
        pass
    assert race.crash & HIT


@pytest.mark.parametrize("frame", [3000, 7136, 9000, 9180])  # in summer, from dusk to night, at night, from night to fog
@pytest.mark.parametrize("crash", [0, HIT | 9, AT_EDGE | 2])
def test_what_goes_on_in_the_pause_equals_the_cartridges(theirs, frame, crash):
    high = 255 - (frame >> 8) - 12 * (frame >= 7168)
    race = start(theirs, r21=52, r22=80, r28=IN_LEFT, r31=IN_RIGHT, r33=IN_MIDDLE, r35=crash, r43=0, r44=0, r46=251,
                 r48=255 - (frame & 255), r49=high)
    for _ in together(theirs, race, np.random.default_rng(frame), 150):
        pass
    assert race.rest == 0


@pytest.mark.parametrize("rest, crash, x, car", [
    (52, 0, 30, 0), (52, 0, -30, 0), (52, HIT | 9, 30, 0), (20, 0, 0, IN_MIDDLE), (0, 0, -28, 0)])
def test_the_own_car_touches_edges_and_cars_in_the_cartridges_pause(theirs, rest, crash, x, car):
    """If `rest` is 0, the last car is passed in the frame after the start."""
    race = start(theirs, r21=rest, r22=100, r24=250, r25=194 if rest else 90, r27=car or IN_RIGHT, r35=crash,
                 r43=int(rest == 0), r44=0, r46=x % 256)
    x, crash, touched = race.x, race.crash, False
    for _ in together(theirs, race, np.random.default_rng(0), 120):
        touched |= race.rest > 0 and (race.x != x or race.crash > crash)
    assert touched and race.rest == 0


@pytest.mark.parametrize("day", [1, 2, 3, 4, 5, 8, 27, 28, 30, 55])
def test_the_days_last_car_and_the_next_day_equal_the_cartridges(theirs, day):
    pace = [0, 24, 31, 38, 41][day] if day < 5 else 39 + min(day, 29)
    race = start(theirs, r22=80, r24=250, r25=60, r27=IN_RIGHT, r43=1, r44=0, r45=int(str(day), 16), r46=251, r48=150, r49=192,
                 r56=pace)
    for _ in together(theirs, race, np.random.default_rng(day), 400):
        pass
    assert race.day == day + 1 and race.left > 290


@pytest.mark.parametrize("day", [6, 7, 9, 30, 85])
@pytest.mark.parametrize("frame", [3000, 9000])
def test_traffic_on_later_days_equals_the_cartridges(theirs, day, frame):
    high = 191 - (frame >> 8) - 12 * (frame >= 7168)
    race = start(theirs, r22=100, r27=IN_RIGHT, r43=0x50, r44=1, r45=int(str(day), 16), r46=251, r48=255 - (frame & 255),
                 r49=high, r56=39 + min(day, 29))
    seen = {bytes(race.slot) for _ in together(theirs, race, np.random.default_rng(day), 600)}
    assert len(seen) > 5


MOMENTS = [(150, 30, 600), (200, 100, 7400), (297, 80, 9400), (395, 50, 9400), (303, 110, 600)]  # left, speed, frame
DAYS = [100, 101, 102, 104, 107, 129, 199, 200, 201, 229, 250, 330, 402, 1000, 5005]


@pytest.mark.parametrize("day, left, speed, frame", [
    *((day, *MOMENTS[number % 5]) for number, day in enumerate(DAYS)), *((250, *moment) for moment in MOMENTS[:4])])
def test_traffic_after_day_99_equals_the_cartridges(theirs, day, left, speed, frame):
    """ALE's points of the days that the cartridge counts as 0 and 1 are others."""
    from benchmarks.cartridges.enduro import traffic
    theirs.step(NOOP)
    high = 191 - (frame >> 8) - 12 * (frame >= 7168)
    race = start(theirs, r22=speed, r43=int(f"{left % 100}", 16), r44=left // 100, r45=int(f"{day % 100}", 16), r46=251,
                 r48=255 - (frame & 255), r49=high, r56=traffic(day))
    random, action = np.random.default_rng(day + left), FIRE
    for step in range(120):
        action = actions_of(theirs, random, action)
        over = theirs.step(action), race.step(action)
        assert over[0] == over[1] or (day % 100 < 2 and over[0][1] == over[1][1]), f"frame {step}"
        assert_equal(race, theirs, step)
    assert race.day == day


@pytest.mark.parametrize("day", [3, 4, 8, 9, 22, 50, 99, 100, 101, 127, 128, 129, 199])
def test_a_day_begins_and_is_shown_as_the_cartridges(theirs, day):
    from benchmarks.cartridges.enduro import traffic
    race = start(theirs, r22=80, r43=0, r44=0, r45=int(f"{day % 100}", 16), r46=251, r48=10, r49=192, r56=traffic(day))
    for step in range(60):
        over = theirs.step(FIRE)[1], race.step(FIRE)[1]
        assert over == (False, False)
        assert_equal(race, theirs, step)
    assert race.day == day + 1 and race.left >= 300
    assert np.array_equal(race.picture()[176:191], theirs.screen()[176:191])


@pytest.mark.parametrize("day", [1, 5, 12])
def test_the_sign_before_the_cars_flashes_late_in_the_day_as_the_cartridges(theirs, day):
    from benchmarks.cartridges.enduro import traffic
    race, panels = start(theirs, r43=0x50, r44=1, r45=int(f"{day}", 16), r48=254, r49=199, r56=traffic(day)), set()
    for step in range(100):
        assert race.step(NOOP)[1] == theirs.step(NOOP)[1]
        ours, other = (picture[176:191, 70:82] for picture in (race.picture(), theirs.screen()))
        assert step < 2 or np.array_equal(ours, other), f"step {step}"
        panels.add(other.tobytes())
    assert len(panels) >= 2


@pytest.mark.parametrize("day, left", [(day, left) for day in (2, 250) for left in (0, 1, 9, 10, 99, 100, 300)] + [
    (250, 305), (250, 1005), (250, 9999)])  # more than 300 can be left only after day 99
def test_the_panel_shows_the_cars_left_or_flags_as_the_cartridges(theirs, day, left):
    from benchmarks.cartridges.enduro import traffic
    race = start(theirs, r22=50, r43=int(f"{left % 100:02}", 16), r44=int(f"{left // 100:02}", 16), r45=int(f"{day % 100}", 16),
                 r46=251, r48=200, r49=180, r56=traffic(day))
    for step in range(70):  # flags turn every 32 frames
        assert race.step(FIRE) == theirs.step(FIRE)
        assert step < 1 or np.array_equal(race.picture()[161:191], theirs.screen()[161:191]), f"step {step}"


# By the slot of the only car: the road's x, and the bend. The cartridge shows the farthest cars no farther to the sides, hides
# far ones behind the left edge, and colours the right edge one row early.
@pytest.mark.parametrize("slot", [4, 5, 6])
@pytest.mark.parametrize("x", [-25, -22, -3, 13, 22])
@pytest.mark.parametrize("bend", [LEFT_BEND, RIGHT_BEND])
@pytest.mark.parametrize("frame", [200, 8000])
def test_far_cars_and_edges_are_shown_as_the_cartridges(theirs, slot, x, bend, frame):
    cars = {f"r{27 + k}": 0x56 if k == slot else 0 for k in range(7)}
    for k in range(8):
        theirs.restart()
        race = start(theirs, r22=20, r24=200, r25=32 * k + 2, r37=5, r38=bend, r46=x % 256, r48=255 - (frame & 255),
                     r49=191 - (frame >> 8) - 12 * (frame >= 7168), **cars)
        for step in range(3):
            race.step(NOOP), theirs.step(NOOP)
            assert step < 1 or np.array_equal(race.picture()[:155], theirs.screen()[:155]), f"depth {2 * k}, step {step}"


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


@pytest.mark.parametrize("frame, comes", [(7166, False), (7167, True), (7168, True)])
def test_more_cars_come_from_the_cartridges_frame_before_the_night(theirs, frame, comes):
    last = frame - 1
    race = start(theirs, r0=10, r1=5, r22=100, r24=250, r25=90, r48=255 - (last & 255), r49=255 - (last >> 8))
    for _ in together(theirs, race, np.random.default_rng(0), 1):
        pass
    assert (race.slot[6] != 0) == comes


@pytest.mark.parametrize("speed, phase, car", [(6, 219, 0), (100, 90, IN_LEFT)])  # from behind; a car that is passed
def test_no_car_passes_in_the_last_frame_of_the_cartridges_episode(theirs, speed, phase, car):
    race = start(theirs, r0=10, r1=5, r22=speed, r24=250, r25=phase, r27=car, r43=0x43, r44=0, r45=2, r48=1, r49=128, r56=31)
    assert theirs.step(NOOP) == race.step(NOOP) == (0, True)
