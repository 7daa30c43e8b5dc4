"""Seaquest's option forecast: further features, held against what happens next and against their formulas."""

import numpy as np
import pytest
from sea import ACTIONS, DIES, NOOP, Sea, empty, start
from support import assert_in_space

import envs_c

FEATURES, OF_LANE, DIVER, AIR = 69, 8, 32, 36
EDGE = [215] * 4


@pytest.fixture
def sea():
    """Our game with a forecast, a full tank and no enemy in sight."""
    return start(forecast=1)


def near(away, reach):
    return np.maximum(0, 1 - (np.asarray(away) / reach) ** 2) ** 2


def seen(sea) -> np.ndarray:
    return sea.seen[FEATURES:]


def test_the_forecast_changes_nothing_in_the_game():
    plain, told, random = Sea(3), Sea(3, forecast=1), np.random.default_rng(1)
    for _ in range(2_500):
        action = int(random.integers(18))
        assert plain.step(action) == told.step(action)
        assert np.array_equal(plain.seen, told.seen[:FEATURES])
        ours, theirs = plain.fields(), told.fields()
        assert ours | {"rules": 8} == theirs
    assert plain.score > 0


def test_features_stay_in_their_space():
    env = envs_c.make("seaquest", 64, seed=0, forecast=1)
    assert env.single_observation_space.shape == (FEATURES + 45,)
    assert_in_space(env, np.random.default_rng(0).integers(0, 18, (1_500, 64)))


@pytest.mark.parametrize("side", [0, 1], ids=["right", "left"])
@pytest.mark.parametrize("sub", [0, 1], ids=["shark", "submarine"])
def test_a_torpedo_hits_an_enemy_whose_feature_is_near_1_and_misses_it_at_0(sea, side, sub):
    hits = misses = 0
    for y in range(68, 108):
        empty(sea, x_ship=76, y=y, facing=1 - side, torpedo=0, oxygen=40)
        sea.change(x=[40 if side else 114, *EDGE[1:]], alive=[4, 0, 0, 0], right=[side, 0, 0, 0], sub=[sub, 0, 0, 0])
        sea.step(ACTIONS.index("LEFTFIRE" if side else "RIGHTFIRE"))
        aim = seen(sea)[side] / (1 - abs(sea.x[0] + 4 - sea.x_ship - 8) / 90)
        assert seen(sea)[1 - side] == 0
        points = sea.play(NOOP, 12)
        assert points == 20 if aim > 0.85 else points == 0 or aim > 0
        hits, misses = hits + (aim > 0.85), misses + (aim == 0)
    assert hits > 3 and misses > 10


@pytest.mark.parametrize("side", [0, 1], ids=["right", "left"])
def test_the_danger_grows_until_an_enemy_destroys_the_submarine(sea, side):
    empty(sea, x_ship=76, y=96, oxygen=40)
    sea.change(x=[30 if side else 122, *EDGE[1:]], alive=[4, 0, 0, 0], right=[side, 0, 0, 0])
    dangers = []
    while sea.phase != DIES:
        sea.step(NOOP)
        dangers.append(seen(sea)[2 + side])
    assert dangers[0] == 0 and max(dangers) > 0.7
    rising = dangers[:dangers.index(max(dangers))]
    assert np.corrcoef(rising, range(len(rising)))[0, 1] > 0.6


@pytest.mark.parametrize("lane, x, y", [(0, 40, 90), (1, 100, 90), (2, 60, 40), (3, 110, 60)])
def test_the_nearest_diver_is_told_by_its_way(sea, lane, x, y):
    guests = [0] * 4
    guests[lane] = x
    empty(sea, x_ship=76, y=y, oxygen=40)
    sea.change(guest=guests, diver=[1] * 4)
    sea.step(NOOP)
    across, down = sea.guest[lane] + 4 - 84, 137 - 24 * lane + 7 - y - 38
    np.testing.assert_allclose(seen(sea)[DIVER:AIR], [
        np.clip(across / 20, -2, 2), np.clip(down / 14, -2, 2), 1, 1 - (abs(across) + abs(down)) / 240], atol=1e-5)
    lanes = seen(sea)[:DIVER].reshape(4, OF_LANE)
    assert lanes[lane, 6] == pytest.approx(near(across, 60) * near(down, 30), abs=1e-5)
    assert not np.delete(lanes[:, 6], lane).any() and lanes[:, 7].tolist() == [
        1 if 144 - 24 * k - y - 38 > 0 else -1 for k in range(4)]


@pytest.mark.parametrize("crew", [0, 2])
@pytest.mark.parametrize("oxygen, y", [(64, 13), (40, 100), (10, 100), (3, 60), (2, 20)])
def test_the_air_is_told_by_the_frames_that_it_lasts_beyond_the_way_up(sea, oxygen, y, crew):
    empty(sea, x_ship=76, y=y, oxygen=oxygen, crew=crew, frame=33)
    sea.step(NOOP)
    left, high, has, used = oxygen * 32 - (y - 13), y - 13, float(crew > 0), oxygen < 64
    share = np.clip(left / 512, 0, 1)
    np.testing.assert_allclose(seen(sea)[AIR:], [
        share, (1 - share) * has, (1 - share) * (1 - has), near(left, 128), near(left, 128) * has, near(high, 30) * has * used,
        near(high, 30) * (1 - has) * used, near(high, 12), has], atol=1e-5)
