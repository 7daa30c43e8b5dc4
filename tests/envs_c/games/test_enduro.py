"""Enduro: the rules that its file states, its features and its picture. cartridges/ compares it with ALE."""

from itertools import pairwise

import numpy as np
import pytest
from enduro_race import (
    AT_EDGE,
    DAY,
    HIT,
    IN_LEFT,
    IN_MIDDLE,
    IN_RIGHT,
    LEFT_BEND,
    LEFT_COMES,
    NO_BEND,
    RIGHT_BEND,
    RIGHT_COMES,
    Race,
)
from support import assert_in_space

import envs_c
from envs_c.testing.pictures import area_average

NOOP, FIRE, RIGHT, LEFT, DOWN, DOWNRIGHT, DOWNLEFT, RIGHTFIRE, LEFTFIRE = range(9)
SUMMER, SNOW, DUSK, NIGHT, FOG, DAWN = 100, 4000, 6500, 8000, 10000, 13000  # a frame of each season


def driver(race) -> int:
    """The action of a driver who is fast and stays in the middle."""
    return RIGHTFIRE if race.x > 3 else LEFTFIRE if race.x < -3 else FIRE


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


@pytest.mark.parametrize("option, value", [
    ("start_speed", 5), ("start_speed", 121), ("scatter", 2), ("weather", 2), ("bends", -1), ("crashes", 2), ("overtaking", 2),
])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("enduro", **{option: value})


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
        race.change(frame=frame, speed=90, x=-11)
        race.play(*[LEFT] * 16)
        moved[frame] = race.x + 11
    assert moved == {SUMMER: 22, SNOW: 11}


@pytest.mark.parametrize("bend, way", [(LEFT_BEND, -1), (RIGHT_BEND, 1)])
def test_a_bend_pulls_outwards_and_more_at_speed(bend, way):
    pulls = []
    for speed in (10, 60, 110):
        race = Race()
        race.change(bend=bend, rolls=200, speed=speed)
        race.play(*[NOOP] * 16)
        pulls.append(race.x * way)
    assert pulls == [1, 3, 5]


def test_a_car_that_is_passed_gives_a_point():
    race = Race()
    race.change(left=150, speed=60, phase=30, travelled=200, slot=[IN_RIGHT, 0, 0, 0, 0, 0, 0], x=-5)
    assert [race.step()[0] for _ in range(2)] == [1, 0]
    assert race.left == 149 and race.slot[0] == 0


@pytest.mark.parametrize("left, point", [(150, -1), (200, 0), (0, 0)])
def test_a_car_that_passes_takes_a_point_but_never_more_than_were_given(left, point):
    race = Race()
    for _ in range(400):
        race.change(left=left, phase=250, travelled=200, slot=[0] * 7, crash=0, frame=SUMMER)
        reward, _ = race.step()
        if race.slot[0]:
            break
    assert race.slot[0] and reward == point and race.left == left - point


@pytest.mark.parametrize("x, lane", [(-3, 0), (3, 1)])
def test_cars_from_behind_come_on_the_other_side(x, lane):
    race, cars = Race(), []
    for _ in range(200):
        race.change(phase=250, travelled=200, slot=[0] * 7, x=x)
        race.step()
        cars.append(race.slot[0])
    assert {car & 1 for car in cars if car} == {lane}
    assert all(car & 16 for car in cars if car)


@pytest.mark.parametrize("lane, x, crashes", [
    (IN_LEFT, 14, True), (IN_LEFT, -9, False), (IN_MIDDLE, 3, True), (IN_RIGHT, -18, True), (IN_RIGHT, 9, False),
])
def test_touching_a_car_ends_all_speed(lane, x, crashes):
    race = Race()
    race.change(speed=40, phase=200, slot=[lane, 0, 0, 0, 0, 0, 0], x=x)
    race.step()
    assert bool(race.crash & HIT) == crashes and (race.speed == 6) == crashes
    if crashes:
        race.play(*[LEFTFIRE] * 3)
        assert race.speed == 6 and bool(race.crash & 16) == (x < 0)


@pytest.mark.parametrize("action, way", [(LEFT, -1), (RIGHT, 1)])
def test_the_edge_of_the_road_throws_back_and_takes_a_quarter_of_the_speed(action, way):
    race = Race()
    race.change(speed=80)
    for _ in range(60):
        race.clear()
        race.step(action)
        if race.crash:
            break
    assert race.speed == 60 and race.crash & AT_EDGE
    at, frames = race.x, 0
    while race.crash:
        race.clear()
        race.step(action)
        frames += 1
    assert 16 <= frames <= 24 and 4 <= (race.x - at) * way <= 10


def test_neighbours_keep_their_side_and_some_cars_take_each_lane():
    race, lanes, random = Race(seed=3), set(), np.random.default_rng(0)
    for _ in range(3000):
        race.change(speed=120, crash=0, x=0, left=200)
        race.step(int(random.integers(9)))
        slots = race.slot
        lanes |= {"middle" if not car & 16 else car & 1 for car in slots if car}
        assert all(0 in pair or pair[0] & 1 == pair[1] & 1 for pair in pairwise(slots))
        assert sum(car > 0 for car in slots) <= 4
    assert lanes == {0, 1, "middle"}


@pytest.mark.parametrize("left, over", [(1, True), (0, False)])
def test_a_day_ends_the_game_or_asks_for_300_more(left, over):
    race = Race()
    race.change(left=left, frame=DAY - 1)
    assert race.step() == (0, over)
    if not over:
        assert (race.left, race.day, race.frame) == (300, 2, 0)


def test_nothing_counts_when_none_is_left():
    race = Race()
    race.change(left=0, speed=60, phase=30, travelled=200, slot=[IN_RIGHT, 0, 0, 0, 0, 0, 0], x=-5)
    assert race.step() == (0, False) and race.left == 0


def test_the_race_rests_after_the_days_last_car():
    race = Race()
    race.change(left=1, speed=60, phase=30, travelled=200, slot=[IN_RIGHT, 0, 0, 0, 0, 0, 0], x=-5)
    assert race.step(FIRE) == (1, False)
    way, frames = race.odometer, 0
    while race.odometer == way:
        race.step(FIRE)
        frames += 1
    assert frames in (103, 104)


@pytest.mark.parametrize("day, pace", [
    (1, 24), (2, 31), (3, 38), (4, 41), (5, 44), (6, 45), (8, 47), (29, 68), (30, 68), (99, 68),
])
def test_the_others_are_faster_on_later_days(day, pace):
    race = Race()
    race.change(day=day, speed=20, phase=0, travelled=200, slot=[0] * 7)
    race.step()
    assert race.phase == pace - 20


def test_points_are_the_cars_passed():
    race, points = Race(seed=5), 0
    for _ in range(6000):
        points += race.step(driver(race))[0]
        assert points == 200 - race.left
    assert points > 10


def bends_of(race, frames=4000):
    """The bends that come in so many frames."""
    bends = set()
    for _ in range(frames):
        race.change(slot=[0] * 7, crash=0, x=0, speed=110)
        race.step()
        bends.add(race.bend)
    return bends


def test_bends_come_to_both_sides():
    assert {NO_BEND, LEFT_BEND, RIGHT_BEND} <= bends_of(Race(scatter=0))


@pytest.mark.parametrize("view", ["features", "pixels"])
@pytest.mark.parametrize("frame, seen", [(SUMMER, 2), (NIGHT, 2), (FOG, 1)])
def test_fog_hides_the_far_cars_from_the_features_and_the_picture(frame, seen, view):
    coloured, grey = [], []
    for far in (IN_RIGHT, 0):
        race = Race(view=view)
        race.change(frame=frame, slot=[0, 0, IN_LEFT, 0, 0, far, 0], phase=50)
        coloured.append(race.picture())
        race.step()
        grey.append(race.seen.copy())
    assert view == "pixels" or grey[0][15:36].sum() == seen
    assert np.array_equal(*coloured) == np.array_equal(*grey) == (seen == 1)


def test_without_weather_it_is_always_summer():
    pictures = []
    for frame in (SUMMER, SNOW, NIGHT, FOG):
        race = Race(weather=0, scatter=0)
        race.change(frame=frame, slot=[0, 0, 0, 0, 0, IN_RIGHT, 0], phase=50)
        pictures.append(race.picture()[:90])
        race.step()
        assert race.seen[4:10].tolist() == [1, 0, 0, 0, 0, 0] and race.slot[5] == IN_RIGHT
    assert all((picture == pictures[0]).all() for picture in pictures)


def test_without_bends_the_road_stays_straight():
    assert bends_of(Race(scatter=0, bends=0)) == {NO_BEND}


def test_without_crashes_cars_drive_through_each_other_but_not_off_the_road():
    race = Race(crashes=0)
    race.change(speed=40, phase=200, slot=[IN_MIDDLE, 0, 0, 0, 0, 0, 0])
    race.step()
    assert race.crash == 0 and race.speed == 40
    race.play(*[LEFT] * 60)
    assert race.x < 30


def test_without_overtaking_no_car_comes_from_behind():
    race = Race(overtaking=0)
    for _ in range(300):
        race.change(phase=250, travelled=200, slot=[0] * 7)
        race.step()
        assert race.slot[0] == 0


def test_features_stay_in_their_space():
    env = envs_c.make("enduro", 64, seed=0)
    choices = [NOOP, FIRE, FIRE, LEFTFIRE, RIGHTFIRE, DOWN, LEFT]
    assert_in_space(env, np.random.default_rng(0).choice(choices, (3_400, 64)))


@pytest.mark.parametrize("frame", [SUMMER, SNOW, DUSK, NIGHT, FOG, DAWN])
@pytest.mark.parametrize("left", [123, 0])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(frame, left):
    race = Race(view="pixels", seed=frame)
    race.change(frame=frame, left=left, bend=RIGHT_COMES if left else LEFT_COMES, rolls=100)
    for step in range(250):
        race.step(FIRE if step % 3 else LEFTFIRE)
        if step % 5 == 0:
            assert np.abs(area_average(race.picture()) - race.seen).max() <= 1
