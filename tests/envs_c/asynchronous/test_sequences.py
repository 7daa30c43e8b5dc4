"""Asynchronous stepping: each environment's sequence of results is that of synchronous stepping, whatever arrives first."""

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.asynchronous import ArcadeAsyncEnv
from envs_c.gymnasium_env.infos import STATS
from envs_c.testing.play import actions_of

N, STEPS = 7, 40
SETTINGS = {"seed": 3, "time_limit": 9}

pytestmark = pytest.mark.threads


def result(k: int, observations, rewards, terminated, truncated, infos) -> tuple:
    """Row k of these results as bytes, without times."""
    parts = [observations[k], rewards[k], terminated[k], truncated[k]]
    if "action_mask" in infos:
        parts.append(infos["action_mask"][k])
    if "lives" in infos:
        parts.append(infos["lives"][k])
    if STATS in infos and infos[f"_{STATS}"][k]:
        parts += [infos[STATS]["r"][k], infos[STATS]["l"][k]]
    if "final_obs" in infos and infos["_final_obs"][k]:
        parts += [infos["final_obs"][k], infos.get("final_info", {}).get("action_mask", np.zeros(N))[k]]
    return tuple(np.asarray(part).tobytes() for part in parts)


def synchronous(env, actions) -> list[list]:
    """The results of each environment, of all resets and steps."""
    zeros, no = np.zeros(N), np.zeros(N, bool)
    observations, infos = env.reset()
    tapes = [[result(i, observations, zeros, no, no, infos)] for i in range(N)]
    for row in actions:
        outputs = env.step(row)
        for i, tape in enumerate(tapes):
            tape.append(result(i, *outputs))
        over = outputs[2] | outputs[3]
        if env.core.autoreset == "disabled" and over.any():
            observations, infos = env.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                tapes[i].append(result(i, observations, zeros, no, no, infos))
    return tapes


def asynchronous(env, actions, send_in_turn=False) -> list[list]:
    """The same through `recv` and `send`, in the order of arrival.

    send_in_turn: True sends each environment by a call of its own.
    """
    tapes, steps = [[] for _ in range(N)], np.zeros(N, int)
    env.async_reset()
    while steps.min() <= len(actions):
        outputs = env.recv()
        ids, over = outputs[4]["env_id"], outputs[2] | outputs[3]
        assert len(set(ids.tolist())) == len(ids) == env.batch_size
        for k, i in enumerate(ids):
            tapes[i].append(result(k, *outputs))
        ended = ids[over] if env.core.autoreset == "disabled" else ids[:0]
        if ended.size:
            env.async_reset(ended)
        going = np.setdiff1d(ids, ended)[::-1]
        for part in (going[:, None] if send_in_turn else [going] if going.size else []):
            env.send(actions[steps[part] % len(actions), part], part)
            steps[part] += 1
    return tapes


def assert_equal_sequences(game, batch_size, num_threads=3, steps=STEPS, send_in_turn=False, **settings):
    actions = actions_of(game, steps, N)
    expected = synchronous(vector(game, N, **settings), actions)
    env = ArcadeAsyncEnv(vector(game, N, **settings), batch_size, num_threads)
    found = asynchronous(env, actions, send_in_turn)
    env.close()
    for i in range(N):
        assert len(found[i]) >= len(expected[i]), i
        assert found[i][: len(expected[i])] == expected[i], i


def test_sequences_are_those_of_synchronous_stepping(each_kind, autoreset):
    assert_equal_sequences(each_kind, 3, autoreset=autoreset, **SETTINGS)


@pytest.mark.parametrize("batch_size", [1, 2, N - 1, N])
@pytest.mark.parametrize("num_threads", [1, 4])
def test_sequences_do_not_depend_on_batch_size_or_threads(toy, batch_size, num_threads):
    assert_equal_sequences(toy, batch_size, num_threads, steps=200, sticky=0.2, noop_max=4, **SETTINGS)


def test_environments_may_be_sent_one_by_one(toy):
    assert_equal_sequences(toy, 3, send_in_turn=True, **SETTINGS)


@pytest.mark.parametrize("settings", [{"view": "rgb", "picture_size": 40}, {"episodic_life": True}, {"life_loss_info": True},
                                      {"full_action_space": True}], ids=lambda settings: next(iter(settings)))
def test_the_settings_of_make_give_the_same_sequences(autoreset, settings):
    assert_equal_sequences(envs_c.game("breakout"), 3, steps=120, autoreset=autoreset, seed=3, **settings)


@pytest.mark.parametrize("copy", [True, False])
def test_frame_stacks_are_those_of_synchronous_stepping(toy, autoreset, copy):
    assert_equal_sequences(toy, 4, view="pixels", frame_stack=3, copy=copy, autoreset=autoreset, **SETTINGS)


@pytest.mark.parametrize("at", [2, 4, 6], ids=["within", "end", "within the next"])
def test_frame_stacks_go_on_from_a_restored_state(autoreset, at):
    """Under "disabled", an ended episode is reset at once."""
    settings = {"seed": 1, "frame_stack": 3, "time_limit": 4, "autoreset": autoreset}
    source, plain, other = (envs_c.make("cartpole", 2, **settings) for _ in range(3))
    threads = ArcadeAsyncEnv(other, num_threads=2)
    for env in (source, plain, threads):
        env.reset()

    def step(env):
        if autoreset == "disabled" and env.core.over().any():
            return env.reset()[0]
        return env.step([0, 0])[0]
    for _ in range(at):
        step(source)
    state = source.get_state()
    for left in range(3):  # the environments that are restored are elsewhere in their episodes
        for env in (plain, threads.vector):
            env.set_state(state)
        for _ in range(5 + left):
            assert np.array_equal(step(plain), step(threads))
    threads.close()


def test_all_environments_at_once_arrive_in_their_order(toy):
    env = ArcadeAsyncEnv(vector(toy, 64, seed=1), num_threads=2)
    env.reset()
    for _ in range(20):
        assert env.step(np.zeros(64, int), np.arange(64)[::-1])[4]["env_id"].tolist() == list(range(64))
    env.close()


def test_actions_without_env_id_go_to_the_environments_of_the_last_recv(toy):
    env = ArcadeAsyncEnv(vector(toy, 6, seed=1), 2, num_threads=2)
    _, info = env.reset()
    for _ in range(30):
        env.send(np.zeros(2, int))
        for i in info["env_id"]:
            with pytest.raises(envs_c.InvalidArgument, match=f"but {i} is in flight"):
                env.send([0], [i])
        info = env.recv()[4]
    env.close()


def test_a_reset_of_all_drops_what_is_in_flight_and_a_seed_repeats_the_episodes(toy):
    env = ArcadeAsyncEnv(vector(toy, 8), 3, num_threads=3)
    firsts = []
    for _ in range(2):
        env.async_reset(seed=5)
        rows = [env.recv() for _ in range(2)]
        env.send(np.ones(3, int), rows[0][4]["env_id"])
        env.async_reset(seed=5)
        firsts.append({int(i): outputs[0][k].tobytes() for outputs in (env.recv(), env.recv())
                       for k, i in enumerate(outputs[4]["env_id"])})
    expected = vector(toy, 8, seed=5).reset()[0]
    assert all(seen == expected[i].tobytes() for first in firsts for i, seen in first.items())
    assert env.in_flight == 2
    env.close()


def test_results_are_new_arrays_unless_copy_is_false(toy):
    for copy in (True, False):
        env = ArcadeAsyncEnv(vector(toy, 4, seed=1, copy=copy), 2, num_threads=1)
        env.async_reset()
        first, second = env.recv()[0], env.recv()[0]
        assert np.shares_memory(first, second) is not copy
        env.close()


def test_make_async_takes_the_settings_of_make():
    env = envs_c.make_async("breakout", 6, 2, num_threads=2, seed=1, view="pixels", frame_stack=4, lives=1)
    assert (env.num_envs, env.batch_size, env.num_threads) == (6, 2, 2)
    assert env.observation_space.shape == (2, 4, 84, 84) and env.action_space.shape == (2,)
    observation, info = env.reset()
    assert env.observation_space.contains(observation) and info["env_id"].dtype == np.int32
    assert env.action_space.contains(env.action_space.sample()) and env.in_flight == 4
    env.close()
