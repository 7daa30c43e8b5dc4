"""The results of a step through the Gymnasium interface equal those that NumPy makes; and a step calls few functions."""

import sys

import numpy as np
import pytest

import envs_c
from envs_c.gymnasium_env.infos import episode

N, STEPS = 64, 300


def equal(mine, theirs):
    return mine.dtype == theirs.dtype and np.array_equal(mine, theirs)


@pytest.mark.parametrize("settings", [{}, {"autoreset": "same_step"}, {"life_loss_info": True}])
def test_rewards_flags_and_statistics_equal_those_of_numpy(settings):
    env = envs_c.make("breakout", N, seed=1, time_limit=100, **settings)
    env.reset()
    rng, ends, core = np.random.default_rng(0), 0, env.core
    for _ in range(STEPS):
        started = env._started.copy()
        _, reward, terminated, truncated, infos = env.step(rng.integers(0, 4, N))
        assert equal(reward, env._reward.astype(np.float64))
        assert equal(terminated, env._terminated != 0)
        assert equal(truncated, env._truncated != 0)
        over = core.ended != 0
        assert ("episode_stats" in infos) == over.any()
        if over.any():
            ends += over.sum()
            assert equal(infos["_episode_stats"], over)
            assert (env._started[over] == env._started.max()).all()
            assert equal(env._started[~over], started[~over])
            expected = episode(core, over, np.where(over, env._started - started, 0.0))
            assert all(equal(infos["episode_stats"][key], expected[key]) for key in "rlt")
    assert ends > N


@pytest.mark.parametrize("settings", [{}, {"view": "pixels"}, {"view": "both"}, {"frame_stack": 2}], ids=str)
def test_what_a_caller_does_to_an_array_s_shape_and_flags_stays_with_the_caller(settings):
    env = envs_c.make("breakout", 4, **settings)

    def arrays(observations):
        return list(observations.values()) if isinstance(observations, dict) else [observations]

    changed = arrays(env.reset()[0])
    shapes = [one.shape for one in changed]
    for one in changed:
        one.shape = (2, 2, *one.shape[1:])
        one.flags.writeable = False
    del one, changed
    for _ in range(4):
        later = arrays(env.step([0] * 4)[0])
        assert [one.shape for one in later] == shapes and all(one.flags.writeable for one in later)
        del later


def all_forms():
    """Actions (N,) of each width and layout; the values are 0 .. 3."""
    plain = np.arange(N) % 4
    for kind in "bhilqBHILQ":
        yield plain.astype(kind)
    yield plain.astype(">i8")
    yield np.repeat(plain, 3)[::3]
    yield plain[::-1][::-1]
    yield np.frombuffer(b"x" + plain.tobytes(), np.uint8)[1:].view(np.int64)  # at an odd address


def test_actions_of_each_width_and_layout_are_taken():
    env = envs_c.make("breakout", N, seed=1)
    env.reset()
    for actions in all_forms():
        env._actions[:] = 9
        env.step(actions)
        assert env._actions.tolist() == actions.tolist()


@pytest.mark.parametrize(("kind", "value"), [("q", 1 << 32), ("q", -(1 << 40)), ("Q", 1 << 63), ("I", 1 << 31)])
def test_the_first_action_that_int32_cannot_hold_is_named(kind, value):
    env = envs_c.make("breakout", N, seed=1)
    env.reset()
    actions = np.zeros(N).astype(kind)
    actions[[5, 9]] = value
    with pytest.raises(envs_c.InvalidArgument, match=f"environment 5 .* not {value}"):
        env.step(actions)


def test_a_step_in_which_episodes_end_calls_few_functions():
    """Each call of NumPy takes a tenth to a half of a microsecond. There were 37."""
    env = envs_c.make("breakout", N, seed=1, time_limit=2)
    env.reset()
    actions, calls = np.zeros(N, np.int64), []
    env.step(actions)
    sys.setprofile(lambda frame, event, argument: calls.append(event) if event in ("call", "c_call") else None)
    infos = env.step(actions)[4]
    sys.setprofile(None)
    assert "episode_stats" in infos and len(calls) <= 25
