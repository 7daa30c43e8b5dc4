"""Enduro: the rules that its file states, its features and its picture. test_enduro_cartridge.py compares it with ALE."""

from itertools import pairwise

import numpy as np
import pytest
from enduro_race import DAY, FULL_BEND, Race
from support import assert_in_space

import envs_c
from envs_c.testing.rules import area_average

NOOP, FIRE, RIGHT, LEFT, DOWN, DOWNRIGHT, DOWNLEFT, RIGHTFIRE, LEFTFIRE = range(9)
IN_LEFT, IN_MIDDLE, IN_RIGHT = 1, 2, 3
CAR = 4 * 5  # the bits of a hue; a lane is added to them
SUMMER, SNOW, DUSK, NIGHT, FOG, DAWN = 100, 4000, 6500, 8000, 10000, 13000  # a frame of each season


def driver(race) -> int:
    """The action of a driver who is fast and stays in the middle."""
    return RIGHTFIRE if race.x > 192 else LEFTFIRE if race.x < -192 else FIRE


def test_has_its_actions_features_and_screen():
    game = envs_c.game("enduro")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "DOWN", "DOWNRIGHT", "DOWNLEFT", "RIGHTFIRE", "LEFTFIRE")
    assert game.feature_shape == (40,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


@pytest.mark.parametrize("speed, after", [(6, 10), (44, 47), (46, 48), (100, 102), (119, 120), (120, 120)])
def test_the_motor_gains_2_or_1_every_eighth_frame(speed, after):
    race = Race()
    race.change(speed=speed)
    for _ in range(16):
        race.clear()
        race.step(FIRE)
    assert race.speed == after


@pytest.mark.parametrize("speed", [6, 60, 120])
def test_starts_at_the_speed_of_its_option(speed):
    assert Race(start_speed=speed).speed == speed


@pytest.mark.parametrize("speed", [5, 121])
def test_refuses_wrong_options(speed):
    with pytest.raises(envs_c.InvalidArgument, match="start_speed"):
        envs_c.make("enduro", start_speed=speed)


@pytest.mark.parametrize("action", [DOWN, DOWNRIGHT, DOWNLEFT])
def test_the_brake_takes_1_a_frame_and_leaves_6(action):
    race = Race()
    race.change(speed=20)
    speeds = []
    for _ in range(40):
        race.clear()
        race.step(action)
        speeds.append(race.speed)
    assert speeds[7] == 12 and speeds[-1] == 6


@pytest.mark.parametrize("action, way", [
    (LEFT, 1), (LEFTFIRE, 1), (DOWNLEFT, 1), (RIGHT, -1), (RIGHTFIRE, -1), (DOWNRIGHT, -1), (NOOP, 0), (FIRE, 0), (DOWN, 0),
])
def test_the_road_moves_against_the_wheel(action, way):
    race = Race()
    for _ in range(20):
        race.step(action)
    assert np.sign(race.x) == way


def test_snow_is_slippery():
    moved = {}
    for frame in (SUMMER, SNOW):
        race = Race()
        race.change(frame=frame, speed=90)
        race.step(LEFT)
        moved[frame] = race.x
    assert moved[SNOW] * 4 < moved[SUMMER]


@pytest.mark.parametrize("bend", [-FULL_BEND, FULL_BEND])
def test_a_bend_pulls_outwards_and_more_at_speed(bend):
    pulls = []
    for speed in (10, 60, 110):
        race = Race()
        race.change(bend=bend, toward=bend, speed=speed)
        race.step(NOOP)
        pulls.append(race.x * np.sign(bend))
    assert 0 < pulls[0] < pulls[1] < pulls[2]


def test_a_car_that_is_passed_gives_a_point():
    race = Race()
    race.change(left=150, speed=60, phase=30, road=0, slot=[CAR + IN_RIGHT, 0, 0, 0, 0, 0, 0], x=-300)
    assert [race.step()[0] for _ in range(2)] == [1, 0]
    assert race.left == 149 and race.slot[0] == 0


@pytest.mark.parametrize("left, point", [(150, -1), (200, 0), (0, 0)])
def test_a_car_that_passes_takes_a_point_but_never_more_than_were_given(left, point):
    race = Race()
    for _ in range(400):
        race.change(left=left, phase=250, slot=[0] * 7, crash=0, frame=SUMMER)
        reward, _ = race.step()
        if race.slot[0]:
            break
    assert race.slot[0] and reward == point and race.left == left - point


@pytest.mark.parametrize("x, lane", [(-200, IN_LEFT), (200, IN_RIGHT)])
def test_cars_from_behind_come_on_the_other_side(x, lane):
    race, lanes = Race(), set()
    for _ in range(200):
        race.change(phase=250, slot=[0] * 7, x=x)
        race.step()
        lanes.add(race.slot[0] & 3)
    assert lanes == {0, lane}


@pytest.mark.parametrize("lane, x, crashes", [
    (IN_LEFT, 900, True), (IN_LEFT, -600, False), (IN_MIDDLE, 0, True), (IN_RIGHT, -1200, True), (IN_RIGHT, 600, False),
])
def test_touching_a_car_ends_all_speed(lane, x, crashes):
    race = Race()
    race.change(speed=40, phase=200, slot=[CAR + lane, 0, 0, 0, 0, 0, 0], x=x)
    race.step()
    assert (race.crash > 0) == crashes and (race.speed == 6) == crashes
    if crashes:
        for _ in range(3):
            race.step(LEFTFIRE)
        assert race.speed == 6 and np.sign(race.slide) == (-1 if x > 0 else 1)


@pytest.mark.parametrize("action, slide", [(LEFT, -1), (RIGHT, 1)])
def test_the_edge_of_the_road_throws_back_and_takes_a_quarter_of_the_speed(action, slide):
    race = Race()
    race.change(speed=80)
    while race.crash == 0:
        race.clear()
        race.step(action)
    assert race.speed == 60 and np.sign(race.slide) == slide and race.crash == 19
    at = race.x
    for _ in range(19):
        race.clear()
        race.step(action)
    assert race.x - at == 19 * 24 * slide and race.crash == 0


def test_neighbours_keep_their_lane_and_some_cars_take_each():
    race, lanes = Race(seed=3), set()
    race.change(speed=120)
    for _ in range(8000):
        race.change(speed=120, crash=0, x=0)
        race.step(NOOP)
        slots = [car & 3 for car in race.slot]
        lanes |= set(slots)
        assert all(0 in pair or pair[0] == pair[1] for pair in pairwise(slots))
    assert lanes == {0, 1, 2, 3}


@pytest.mark.parametrize("left, over", [(1, True), (0, False)])
def test_a_day_ends_the_game_or_asks_for_300_more(left, over):
    race = Race()
    race.change(left=left, frame=DAY - 1)
    assert race.step() == (0, over)
    if not over:
        assert (race.left, race.day, race.frame) == (300, 2, 0)


def test_nothing_counts_when_none_is_left():
    race = Race()
    race.change(left=0, speed=60, phase=30, road=0, slot=[CAR + IN_RIGHT, 0, 0, 0, 0, 0, 0], x=-300)
    assert race.step() == (0, False) and race.left == 0


def test_points_are_the_cars_passed():
    race, points = Race(seed=5), 0
    for _ in range(6000):
        points += race.step(driver(race))[0]
        assert points == 200 - race.left
    assert points > 10


def test_bends_come_to_both_sides():
    race, bends = Race(), set()
    for _ in range(9000):
        race.change(slot=[0] * 7, crash=0, x=0, speed=110)
        race.step()
        bends.add(race.bend)
    assert min(bends) == -FULL_BEND and max(bends) == FULL_BEND


def test_fog_hides_the_far_cars_from_the_features_and_the_picture():
    cars = [0, 0, CAR + IN_LEFT, 0, 0, CAR + IN_RIGHT, 0]
    for frame, seen in ((SUMMER, 2), (NIGHT, 2), (FOG, 1)):
        race = Race()
        race.change(frame=frame, slot=cars, phase=50)
        race.step()
        assert race.seen[15:36].sum() == seen


def test_features_stay_in_their_space():
    env = envs_c.make("enduro", 64, seed=0)
    choices = [NOOP, FIRE, FIRE, LEFTFIRE, RIGHTFIRE, DOWN, LEFT]
    assert_in_space(env, np.random.default_rng(0).choice(choices, (3_400, 64)))


@pytest.mark.parametrize("frame", [SUMMER, SNOW, DUSK, NIGHT, FOG, DAWN])
@pytest.mark.parametrize("left", [123, 0])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(frame, left):
    race = Race(view="pixels", seed=frame)
    race.change(frame=frame, left=left, toward=FULL_BEND if left else -FULL_BEND, rolls=100)
    for step in range(250):
        race.step(FIRE if step % 3 else LEFTFIRE)
        if step % 5 == 0:
            assert np.abs(area_average(race.picture()) - race.seen).max() <= 1
