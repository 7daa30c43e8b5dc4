"""The seconds of an episode, "t", are those since it began, whatever happens to other environments. A test turns the clock."""

import copy
import pickle
import time

import numpy as np
import pytest

import envs_c

LIMIT = 4  # steps of an episode, each of a second


@pytest.fixture
def tick(monkeypatch):
    """Lets a second pass."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def pass_a_second():
        now[0] += 1.0
    return pass_a_second


def seconds(env, tick, steps: int) -> list[list[float]]:
    """The seconds of the episodes of each environment that end in these steps."""
    found = [[] for _ in range(env.num_envs)]
    for _ in range(steps):
        tick()
        *_, infos = env.step(np.zeros(env.num_envs, int))
        if "episode_stats" in infos:
            for i in np.flatnonzero(infos["_episode_stats"]):
                found[i].append(infos["episode_stats"]["t"][i])
    return found


@pytest.mark.parametrize("make", [envs_c.make, envs_c.make_async])
@pytest.mark.parametrize("autoreset, later", [("next_step", LIMIT + 1), ("same_step", LIMIT)])
def test_an_episode_lasts_from_the_end_of_the_one_before(make, autoreset, later, tick):
    env = make("breakout", 2, time_limit=LIMIT, autoreset=autoreset)
    tick()
    env.reset()
    assert seconds(env, tick, 3 * LIMIT + 2) == [[LIMIT, later, later]] * 2
    env.close()


def reset_the_first(env):
    env.reset(options={"reset_mask": np.array([True, False])})
    return env


def restore_the_first(env):
    other = envs_c.make("breakout", 1, time_limit=LIMIT)
    other.reset()
    env.set_state(other.get_state(), [0])
    return env


@pytest.mark.parametrize("change", [reset_the_first, restore_the_first, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_change_of_one_environment_leaves_the_seconds_of_the_others(change, tick):
    """The first begins again or goes on, and the second goes on: both episodes have all their seconds."""
    env = envs_c.make("breakout", 2, time_limit=LIMIT)
    env.reset()
    assert seconds(env, tick, 2) == [[], []]
    assert [row[0] for row in seconds(change(env), tick, LIMIT)] == [LIMIT, LIMIT]


def test_an_environment_that_is_reset_by_itself_begins_to_count_then(tick):
    env = envs_c.make_async("breakout", 2, time_limit=LIMIT)
    env.reset()
    assert seconds(env, tick, 2) == [[], []]
    env.async_reset(0)
    env.send([0], 1)
    env.recv()
    assert seconds(env, tick, LIMIT) == [[LIMIT], [3]]
    env.close()


@pytest.mark.parametrize("change", [lambda env: env, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
def test_for_stable_baselines3_the_seconds_are_those_since_the_environments_were_made(change, tick):
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the extra sb3")
    from envs_c import sb3
    env = sb3.make("breakout", 1, time_limit=LIMIT)
    env.reset()
    tick()
    env = change(env)
    for _ in range(LIMIT):
        tick()
        *_, [info] = env.step([0])
    assert info["episode"]["t"] == LIMIT + 1
