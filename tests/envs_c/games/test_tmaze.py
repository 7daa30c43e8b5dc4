"""T-maze: its rules beside a plain walker of the same maze; only the first observation depends on the prize."""

import numpy as np
import pytest

import envs_c
from envs_c.testing.pictures import area_average

UP, RIGHT, LEFT, DOWN = range(4)
FLOOR, PRIZE, LAMP = (0xC8, 0xC0, 0xB0), (0xF8, 0xE0, 0x60), 8  # colours, and the lamp's side in pixels


def maze(num_envs=1, **settings):
    env = envs_c.make("tmaze", num_envs, seed=1, **settings)
    return env, env.reset()[0]


def test_shows_the_prize_at_the_start_only():
    env, seen = maze(1000)
    assert set(seen[:, 0]) == {-1, 1} and abs(seen[:, 0].mean()) < 0.1
    for action in (RIGHT, LEFT):  # back in the first cell it is not shown again
        seen, *_ = env.step(np.full(1000, action))
        assert not seen[:, 0].any()


@pytest.mark.parametrize("first", [UP, RIGHT, LEFT, DOWN])
def test_any_first_move_hides_the_prize(first):
    env, _ = maze()
    assert env.step([first])[0][0, 0] == 0


@pytest.mark.parametrize("length", [1, 2, 10, 50])
def test_the_arm_that_was_shown_gives_1_and_the_other_none(length):
    env, seen = maze(64, length=length, autoreset="same_step")
    shown = seen[:, 0]
    for _ in range(length):
        seen, reward, terminated, _, _ = env.step(np.full(64, RIGHT))
        assert not reward.any() and not terminated.any()
    assert (seen[:, 2] == 1).all()
    actions = np.arange(64) % 2 * (DOWN - UP) + UP
    _, reward, terminated, _, _ = env.step(actions)
    assert terminated.all()
    assert np.array_equal(reward, (actions == UP) == (shown == 1))


@pytest.mark.parametrize("length", [1, 3, 10])
def test_every_step_equals_a_plain_walkers(length):
    env, seen = maze(length=length, autoreset="disabled", time_limit=0)
    cell, prize, fresh, random = 0, seen[0, 0], True, np.random.default_rng(2)
    ends = 0
    for _ in range(3000):
        assert seen[0] == pytest.approx([prize if fresh else 0, float(cell == 0), float(cell == length), 2 * cell / length - 1])
        action = int(random.choice([UP, RIGHT, RIGHT, LEFT, DOWN]))
        over = cell == length and action in (UP, DOWN)
        gained = over and (action == UP) == (prize == 1)
        cell = min(max(cell + (action == RIGHT) - (action == LEFT), 0), length)
        seen, reward, terminated, _, _ = env.step([action])
        assert reward[0] == gained and terminated[0] == over
        fresh = False
        if over:
            ends += 1
            seen = env.reset()[0]
            cell, prize, fresh = 0, seen[0, 0], True
    assert ends > 30


def test_observations_after_the_first_do_not_depend_on_the_prize():
    """Features and pictures of both mazes are equal after the same moves."""
    for view in ("features", "pixels"):
        env, _ = maze(64, view=view)
        prize = envs_c.make("tmaze", 64, seed=1).reset()[0][:, 0]
        for action in np.random.default_rng(0).choice([UP, RIGHT, LEFT, DOWN], 9):
            seen, *_ = env.step(np.full(64, action))
            assert (seen[prize == 1][:1] == seen).all()


def test_the_start_shows_the_prize_in_pixels():
    seen = maze(64, view="pixels")[1]
    assert len(np.unique(seen.reshape(64, -1), axis=0)) == 2


@pytest.mark.parametrize("length", [1, 2, 3, 50])
def test_the_lamp_hides_no_arm_and_the_grey_picture_is_the_average(length):
    env, seen = maze(16, view="pixels", length=length)
    for grey, screen in zip(seen, env.render(), strict=True):
        assert np.abs(area_average(screen) - grey).max() <= 1
        assert np.count_nonzero((screen == PRIZE).all(-1)) == LAMP**2 and np.count_nonzero((screen == FLOOR).all(-1)) == (
            3 * 3 * length + 3 * 51 - 3 * 3)  # corridor and arms without the walker


def test_is_truncated_after_200_steps():
    env, _ = maze()
    ends = [env.step([LEFT])[3][0] for _ in range(200)]
    assert ends.index(True) == 199
