"""Asteroids with UFOs: the rules that its file states. Its plain twin and the cartridge are compared elsewhere."""

import numpy as np
import pytest
from asteroids_machine import Machine

import envs_c

LARGE, MEDIUM, SMALL, SINKS = 0, 32, 48, True
FAR_OFF = (160, 80, SMALL, SINKS)   # a rock far from the ship, so that no new wave comes


@pytest.fixture
def sky():
    """A machine with UFOs, a rock far away, and the ship low at the left, where no UFO's shot hits it at once."""
    made = Machine(ufos=1)
    made.put_rocks((140, 80, SMALL, SINKS))
    made.change(x=30 * 256, y=70 * 256, frame=2048, ufo_burst=0)
    return made


@pytest.fixture
def plain():
    made = Machine()
    made.put_rocks(FAR_OFF)
    return made


def test_without_the_option_no_ufo_comes(plain):
    machine = plain
    machine.change(frame=60_000)
    for _ in range(30):
        machine.play(*["NOOP"] * 40)
        machine.put_rocks(FAR_OFF)
        assert (machine.ufo_y, machine.ufo_timer, machine.shot_life[2]) == (224, 0, 0)


@pytest.mark.parametrize("frame, comes", [(0, 1024 + 511), (2048, 511), (65_200, 336 + 1199)])
def test_a_ufo_comes_after_256_odd_frames_but_not_in_the_first_1024(sky, frame, comes):
    sky.change(frame=frame)
    for number in range(1, comes + 1):
        if number % 40 == 0:
            sky.put_rocks(FAR_OFF)
        sky.step()
        assert (sky.ufo_y == 224) == (number < comes), number
    assert sky.ufo_x == 162 and sky.ufo_y < 80


@pytest.mark.parametrize("score, small", [(0, {0}), (6980, {0}), (7000, {0, 1}), (14_980, {0, 1}), (15_000, {1})])
def test_the_score_decides_whether_ufos_are_small(sky, score, small):
    found = set()
    for numbers in range(1, 3000, 97):
        sky.change(score=score, ufo_timer=1, ufo_y=224, frame=2048, numbers=numbers)
        sky.step()
        found.add(sky.ufo_small)
    assert found == small


@pytest.mark.parametrize("course, places", [(0, [(101, 40), (102, 40)]), (3, [(99, 39), (98, 38)]), (4, [(101, 41), (102, 42)]),
                                            (7, [(99, 40), (98, 40)])])
def test_a_ufo_moves_a_pixel_in_odd_frames(sky, course, places):
    sky.change(ufo_x=100, ufo_y=40, ufo_course=course)
    for place in places:
        sky.play("NOOP", "NOOP")
        assert (sky.ufo_x, sky.ufo_y) == place


@pytest.mark.parametrize("line, course, turned", [(1, 2, 4), (78, 4, 2)])
def test_a_ufo_turns_back_at_the_ends_of_the_field(sky, line, course, turned):
    sky.change(ufo_x=100, ufo_y=line, ufo_course=course)
    sky.step()
    assert sky.ufo_y in (0, 79) and sky.ufo_course == turned


@pytest.mark.parametrize("x, course", [(161, 0), (163, 1)])
def test_a_ufo_leaves_after_its_round(sky, x, course):
    sky.change(ufo_x=x, ufo_y=30, ufo_course=course)
    sky.step()
    assert sky.ufo_y == 224 and sky.shot_life[2] == 0


@pytest.mark.parametrize("ship, ways", [((30, 70), range(4, 8)), ((150, 70), range(8, 12)), ((30, 5), range(4)),
                                        ((150, 5), range(12, 16))])
def test_a_small_ufo_shoots_into_the_quarter_in_which_the_ship_is(sky, ship, ways):
    sky.change(x=ship[0] * 256, y=ship[1] * 256)
    found = {0: set(), 1: set()}
    for numbers in range(1, 30_000, 331):
        for small, seen in found.items():
            sky.change(ufo_x=100, ufo_y=40, ufo_course=0, ufo_small=small, numbers=numbers, frame=2048, shot_life=[0, 0, 0])
            sky.step()
            assert sky.shot_x[2] == 101 and sky.shot_y[2] == 43
            seen.add(sky.shot_way[2])
    assert found == {0: set(range(16)), 1: set(ways)}


@pytest.mark.parametrize("small, points", [(0, 200), (1, 1000)])
def test_shooting_and_ramming_a_ufo_scores_it(sky, small, points):
    sky.change(ufo_x=100, ufo_y=40, ufo_small=small, shot_x=[102, 4, 4], shot_y=[42, 0, 0], shot_way=[0, 0, 0],
               shot_life=[6, 0, 0], vx=0, vy=0)
    assert sky.step()[0] == points and (sky.ufo_burst, sky.shot_life[0], sky.blast) == (1, 0, 0)
    assert sky.play(*["NOOP"] * 6) == 0 and sky.ufo_y == 224
    sky.change(ufo_x=31, ufo_y=72, ufo_small=small, ufo_timer=0, watch=5)
    assert sky.play("NOOP") == points and (sky.ufo_burst, sky.blast) == (1, 6)


def test_a_ufos_shot_takes_the_ship_without_points(sky):
    sky.change(shot_x=[4, 4, 31], shot_y=[0, 0, 71], shot_way=[0, 0, 4], shot_life=[0, 0, 5], watch=1)
    assert sky.step() == (0, False) and (sky.blast, sky.shot_life[2], sky.score) == (6, 0, 0)


@pytest.mark.parametrize("kind", [LARGE, MEDIUM, SMALL])
def test_a_ufo_breaks_rocks_without_points(sky, kind):
    sky.put_rocks((100, 40, kind, SINKS), FAR_OFF)
    sky.change(ufo_x=101, ufo_y=40, watch=3)
    assert sky.step()[0] == 0 and (sky.ufo_burst, sky.broken) == (1, 1)


@pytest.mark.parametrize("fields, free", [({}, True), ({"ufo_x": 150, "ufo_y": 75}, False), ({"shot_life": [0, 0, 5]}, False)])
def test_the_next_ship_waits_for_ufo_and_shot(sky, fields, free):
    sky.change(x=84 * 256, y=41 * 256, hidden=1, shot_x=[4, 4, 120], **fields)
    sky.step()
    assert (sky.hidden == 0) == free


def test_features_of_ufo_and_shot_follow_the_others_only_with_the_option(sky):
    assert envs_c.make("asteroids").single_observation_space.shape == (97,) and sky.seen.shape == (109,)
    assert not sky.seen[97:].any()
    sky.change(ufo_x=100, ufo_y=40, ufo_course=3, ufo_small=1)
    sky.step()
    there, x, y, right, down, small = sky.seen[97:103]
    assert (there, right, down, small) == (1, -1, -1, 1) and x == pytest.approx(69 / 40) and y == pytest.approx(-31 / 22)
    assert sky.seen[103] == 1 and sky.seen[104] == pytest.approx(69 / 40) and sky.seen[105] == pytest.approx(-28 / 22)
    sky.change(ufo_burst=1)
    sky.step()
    assert not sky.seen[97:103].any() and sky.seen[103] == 1


@pytest.mark.parametrize("small, colour, width", [(0, (0x75, 0xB5, 0xEF), 7), (1, (0xCC, 0xD8, 0x6E), 5)])
def test_a_ufo_is_in_colour_and_grey_pictures(sky, small, colour, width):
    before = sky.core.render(0).copy()
    sky.change(ufo_x=100, ufo_y=40, ufo_small=small)
    rows, columns = np.nonzero((sky.picture() == colour).all(-1))
    assert (rows.min(), columns.max() - columns.min() + 1) == (100, width) and (before != sky.picture()).any()
    grey = Machine(ufos=1, view="pixels")
    grey.put_rocks(FAR_OFF)
    empty = grey.step()[0], grey.seen.copy()
    grey.change(ufo_x=100, ufo_y=40, ufo_small=small)
    grey.step()
    assert (grey.seen != empty[1]).sum() > 5


@pytest.mark.parametrize("fields", [{"ufo_course": 8}, {"ufo_x": 3}, {"ufo_x": 166}, {"ufo_small": 2}, {"ufo_burst": 2},
                                    {"ufo_y": 40, "ufo_timer": 5}, {"ufo_y": 40, "ufo_timer": 18}, {"shot_way": [0, 0, 16]},
                                    {"shot_way": [0, 0, 15], "shot_life": [0, 0, 5]}, {"watch": 12}])
def test_refuses_states_with_an_impossible_ufo(sky, fields):
    with pytest.raises(envs_c.InvalidState):
        sky.change(**fields)


@pytest.mark.parametrize("fields", [{"ufo_y": 40}, {"ufo_timer": 3}, {"ufo_burst": 1}, {"ufo_small": 1},
                                    {"shot_life": [0, 0, 1]}])
def test_refuses_states_with_a_ufo_without_the_option(plain, fields):
    with pytest.raises(envs_c.InvalidState):
        plain.change(**fields)
