"""Gymnasium's RecordEpisodeStatistics, without arguments, counts the same episodes as our own statistics."""

import functools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers import vector as wrappers

import envs_c
from envs_c.testing.play import actions_of

N = 4
LIMIT = {"time_limit": 15}  # steps


def title(name: str) -> str:
    return f"Arcade/{envs_c.game(name).title}-v0"


def make_vec(name: str, num_envs: int, **settings):
    return gymnasium.make_vec(title(name), num_envs, **settings)


def recorded(name: str):
    """One environment in the wrapper."""
    return RecordEpisodeStatistics(gymnasium.make(title(name), **LIMIT))


def assert_equal_statistics(infos, over):
    """Both have the same returns and lengths of the environments `over`."""
    assert np.array_equal(infos["_episode"], over) and np.array_equal(infos["_episode_stats"], over)
    for key in "rl":
        assert np.array_equal(infos["episode"][key], infos["episode_stats"][key])
    assert (infos["episode"]["l"][over] > 0).all()


@pytest.mark.parametrize("name", ["breakout", "cartpole", "go"])
@pytest.mark.parametrize("make", [gymnasium.make, lambda name, **settings: gymnasium.make(name, **settings).unwrapped],
                         ids=["gymnasium.make", "our own class"])
def test_the_wrapper_works_on_a_single_environment(make, name):
    env = RecordEpisodeStatistics(make(title(name), **LIMIT))
    lengths = []
    env.reset(seed=1)
    for actions in actions_of(envs_c.game(name), 100, 1):
        *_, terminated, truncated, info = env.step(int(actions[0]))
        assert ("episode" in info) == ("episode_stats" in info) == (terminated or truncated)
        if terminated or truncated:
            assert [info["episode"][key] for key in "rl"] == [info["episode_stats"][key] for key in "rl"]
            lengths.append(info["episode"]["l"])
            env.reset()
    assert len(lengths) >= 6 and list(env.length_queue) == lengths


@pytest.mark.parametrize("name", ["breakout", "cartpole", "go"])
@pytest.mark.parametrize("make", [envs_c.make, make_vec])
def test_the_vector_wrapper_works_in_each_autoreset_mode(name, make, autoreset):
    env, game = wrappers.RecordEpisodeStatistics(make(name, N, autoreset=autoreset, **LIMIT)), envs_c.game(name)
    env.reset(seed=1)
    over, ends = np.zeros(N, bool), 0
    for actions in actions_of(game, 80, N):
        if autoreset == "disabled" and over.any():
            env.reset(options={"reset_mask": over.copy()})
        *_, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        assert ("episode" in infos) == ("episode_stats" in infos) == over.any()
        ends += over.sum()
        if over.any():
            assert_equal_statistics(infos, over)
    assert ends >= 4 * N and env.episode_count == ends


@pytest.mark.parametrize("name", ["breakout", "cartpole", "go"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=str)
@pytest.mark.parametrize("vectorized", [SyncVectorEnv, AsyncVectorEnv])
def test_the_wrapper_works_inside_gymnasiums_vector_environments(name, mode, vectorized):
    env = vectorized([functools.partial(recorded, name)] * N, autoreset_mode=mode)
    env.reset(seed=1)
    ends = 0
    for actions in actions_of(envs_c.game(name), 60, N):
        *_, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        if over.any():
            ends += over.sum()
            assert_equal_statistics(infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos, over)
    env.close()
    assert ends >= 3 * N


def test_our_returns_stay_raw_where_the_wrapper_sums_clipped_rewards():
    env = RecordEpisodeStatistics(gymnasium.make(title("cartpole"), reward_clip=0.5))
    env.reset(seed=1)
    over = False
    while not over:
        *_, over, _, info = env.step(1)
    assert info["episode"]["r"] == 0.5 * info["episode_stats"]["r"] == 0.5 * info["episode"]["l"]
