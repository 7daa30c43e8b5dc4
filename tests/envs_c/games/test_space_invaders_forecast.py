"""Space Invaders' option forecast: further features, held against what happens next."""

import numpy as np
import pytest
from space_machine import FIRE, NOOP, Space, begun
from support import assert_in_space

import envs_c

FEATURES, COLUMNS = 94, 6


def fire(space) -> np.ndarray:
    """Send a shot; returns the forecast of the frame in which it appears."""
    while not space.shot_y:
        space.step(FIRE)
    return space.seen[FEATURES:]


def test_the_forecast_changes_nothing_in_the_game():
    plain, told, random = Space(3), Space(3, forecast=1), np.random.default_rng(1)
    for _ in range(1_500):
        action = int(random.integers(6))
        assert plain.step(action) == told.step(action)
        assert np.array_equal(plain.seen, told.seen[:FEATURES])
        for name in set(plain.STATE.names) - {"rules"}:
            assert np.array_equal(plain.read()[name], told.read()[name])
    assert plain.score > 0


def test_features_stay_in_their_space():
    env = envs_c.make("space_invaders", 64, seed=0, forecast=1)
    assert env.single_observation_space.shape == (FEATURES + 27,)
    assert_in_space(env, np.random.default_rng(0).integers(0, 6, (1_500, 64)))


@pytest.mark.parametrize("rows", [[21] * 6, [0, 0, 21, 21, 21, 0], [0, 0, 0, 6, 12, 4]], ids=["18", "9", "5"])
def test_a_shot_hits_the_column_for_which_the_forecast_is_near_1_and_none_if_it_is_near_0(rows):
    """From many places of the cannon, while the invaders march to the right, without a turn."""
    hits = misses = 0
    space = begun(bombs=0, shields=0, saucer=0, forecast=1)
    space.leave(rows)
    begin = space.core.get_state()
    for x in range(34, 117, 3):
        space.core.set_state(begin)
        space.change(cannon=x)
        seen = fire(space)
        aimed, flying, before = seen[COLUMNS:2 * COLUMNS], seen[2 * COLUMNS:3 * COLUMNS], np.array(space.row)
        np.testing.assert_allclose(aimed, flying)
        while space.shot_y > 31:
            space.step(NOOP)
        hit = before ^ np.array(space.row)
        if aimed.max() > 0.8:
            assert hit.max() == 1 << aimed.argmax()
        if aimed.max() < 0.1:
            assert not hit.any()
        hits, misses = hits + (aimed.max() > 0.8), misses + (aimed.max() < 0.1)
        assert space.way == 1
    assert hits > 3 and misses > 3


@pytest.mark.parametrize("way", [1, -1])
def test_a_shot_hits_the_saucer_if_the_forecast_is_near_1_and_misses_it_if_it_is_0(way):
    points = {}
    space = begun(bombs=0, shields=0, forecast=1)
    space.leave([1] * 6)
    begin = space.core.get_state()
    for cannon in range(50, 110, 3):
        space.core.set_state(begin)
        space.change(cannon=cannon, saucer_x=75 - 20 * way, saucer_way=way)
        away, aimed, flying = fire(space)[18:21]
        assert aimed == pytest.approx(flying) and (aimed > 0) == (abs(away) < 0.6)
        score = space.play(*[NOOP] * 90)
        if not 0 < aimed < 0.8:
            points.setdefault(bool(aimed), set()).add(int(score))
    assert points == {True: {200}, False: {0}}


@pytest.mark.parametrize("away, y", [(0, 176), (3, 176), (-3, 146), (-20, 176), (0, 100), (60, 136)])
def test_the_forecast_of_a_bomb_says_how_near_it_is_in_pixels_and_in_frames(away, y):
    space = begun(bombs=0, forecast=1)
    space.change(cannon=50, shown=50, bomb_x=[53 + away, 0], bomb_y=[y, 0], clock=41)
    space.step(NOOP)  # to an even frame, in which bombs do not move
    assert space.bomb_y == [y, 0]
    near, soon = max(0, 1 - (away / 12) ** 2) ** 2, max(0, 1 - (177 - y) / 60)
    expected = [min(max(away / 6, -2), 2) * soon, near, near * soon]
    np.testing.assert_allclose(space.seen[FEATURES + 21:FEATURES + 24], expected, atol=1e-5)
    assert not space.seen[FEATURES + 24:].any()


@pytest.mark.parametrize("y, seen", [(186, True), (188, False)])
def test_a_bomb_that_has_sunk_into_the_ground_is_not_in_the_forecast(y, seen):
    space = begun(bombs=0, forecast=1)
    space.change(cannon=50, shown=50, bomb_x=[73, 0], bomb_y=[y, 0], clock=41)
    space.step(NOOP)
    assert space.bomb_y == [y, 0] and space.seen[FEATURES + 21:FEATURES + 24].any() == seen
