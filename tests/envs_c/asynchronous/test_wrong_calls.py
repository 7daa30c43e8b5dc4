"""Wrong calls of asynchronous environments: an error of one line, and nothing is sent."""

import copy
import pickle
import threading

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.asynchronous import ArcadeAsyncEnv
from envs_c.asynchronous.workers import Workers

pytestmark = pytest.mark.threads

WRONG = {  # name -> call, error, a part of the message; 2 of 4 environments are in flight, 0 and 1 or others are received
    "an unknown action": (lambda env, ids: env.send([0, 9], ids), envs_c.InvalidArgument, "must be from 0 to 3"),
    "a negative action": (lambda env, ids: env.send([-1, 0], ids), envs_c.InvalidArgument, "not -1"),
    "a wide action": (lambda env, ids: env.send([0, 1 << 32], ids), envs_c.InvalidArgument, "not 4294967296"),
    "a float action": (lambda env, ids: env.send([0.0, 1.0], ids), envs_c.InvalidArgument, "must be integers of shape (2,)"),
    "too few actions": (lambda env, ids: env.send([0], ids), envs_c.InvalidArgument, "must be integers of shape (2,)"),
    "an unknown environment": (lambda env, ids: env.send([0], [4]), envs_c.InvalidArgument, "from 0 to 3, not [4]"),
    "a negative environment": (lambda env, ids: env.send([0], [-1]), envs_c.InvalidArgument, "from 0 to 3, not [-1]"),
    "an environment twice": (lambda env, ids: env.send([0, 0], [ids[0]] * 2), envs_c.InvalidArgument, "is named twice"),
    "no environment": (lambda env, ids: env.send([], []), envs_c.InvalidArgument, "one integer or more"),
    "a float environment": (lambda env, ids: env.send([0], [0.5]), envs_c.InvalidArgument, "not [0.5]"),
    "ragged environments": (lambda env, ids: env.send([0], [[0], [1, 2]]), envs_c.InvalidArgument, "env_id must be"),
    "an environment in flight": (lambda env, ids: env.send([0, 0], [ids[0], next(iter({0, 1, 2, 3} - {*ids.tolist()}))]),
                                 envs_c.InvalidArgument, "is in flight: recv() must return it first"),
    "a reset of one in flight": (lambda env, ids: env.async_reset(next(iter({0, 1, 2, 3} - {*ids.tolist()}))),
                                 envs_c.InvalidArgument, "is in flight"),
    "a seed for some": (lambda env, ids: env.async_reset(ids, seed=1), envs_c.InvalidArgument, "seed must be None"),
    "a wrong seed": (lambda env, ids: env.async_reset(seed=-1), envs_c.InvalidArgument, "seed must be an integer"),
    "options": (lambda env, ids: env.reset(options={"reset_mask": 1}), envs_c.InvalidArgument, "options must be empty"),
    "render": (lambda env, ids: env.render(), envs_c.OutOfTurn, "2 are in flight"),
    "copy": (lambda env, ids: copy.copy(env), envs_c.CannotCopy, "must not be copied"),
    "deepcopy": (lambda env, ids: copy.deepcopy(env), envs_c.CannotCopy, "must not be copied"),
    "pickle": (lambda env, ids: pickle.dumps(env), envs_c.CannotCopy, "must not be copied"),
    "a synchronous step": (lambda env, ids: env.vector.step(np.zeros(4, int)), envs_c.Busy, "in use"),
    "a snapshot": (lambda env, ids: env.vector.get_state(), envs_c.Busy, "in use"),
    "closing the core": (lambda env, ids: env.core.close(), envs_c.Busy, "in use"),
}


@pytest.fixture
def env(toy):
    """Four environments in batches of 2."""
    made = ArcadeAsyncEnv(vector(toy, 4, seed=1), 2, num_threads=2)
    yield made
    made.close()


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_an_error_of_one_line_and_sends_nothing(env, case):
    call, error, message = WRONG[case]
    _, info = env.reset()
    with pytest.raises(error) as raised:
        call(env, info["env_id"])
    text = str(raised.value)
    assert message in text and "\n" not in text
    assert env.in_flight == 2
    env.send([0, 0], info["env_id"])
    assert {int(i) for _ in range(2) for i in env.recv()[4]["env_id"]} == {0, 1, 2, 3}


@pytest.mark.parametrize("sent", [0, 1])
def test_recv_needs_a_batch_in_flight(env, sent):
    if sent:
        env.async_reset([3])
    with pytest.raises(envs_c.OutOfTurn, match=f"recv needs 2 environments in flight, but {sent} are"):
        env.recv()


def test_a_step_of_too_few_environments_sends_none(env):
    env.async_reset()
    first, second = (env.recv()[4]["env_id"] for _ in range(2))
    with pytest.raises(envs_c.OutOfTurn, match="step needs 2 environments, its batch_size, but env_id has 1 and 0 are"):
        env.step([0], first[:1])
    assert env.in_flight == 0
    env.send([0], first[:1])
    assert set(env.step([0], second[:1])[4]["env_id"]) == {first[0], second[0]}


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda env: env.send([0, 0]), envs_c.OutOfTurn, "env_id must be given before the first recv"),
    (lambda env: env.send([0], [2]), envs_c.NotReset, r"environment 2 of toy was never reset: call async_reset\(\[2\]\)"),
], ids=["no env_id", "no reset"])
def test_steps_need_a_reset(env, call, error, message):
    with pytest.raises(error, match=message):
        call(env)
    assert env.in_flight == 0
    env.vector.reset()  # the environments are free


def test_an_ended_episode_needs_a_reset_if_autoreset_is_disabled(toy):
    env = ArcadeAsyncEnv(vector(toy, 2, seed=1, time_limit=1, autoreset="disabled"), num_threads=2)
    env.reset()
    assert env.step([0, 0])[3].all()
    with pytest.raises(envs_c.NotReset, match="environment 0 of toy is at its episode's end and autoreset is disabled"):
        env.send([0, 0])
    env.reset()
    env.step([0, 0])
    env.close()


@pytest.mark.parametrize("call", ["recv", "async_reset", "reset", "render"])
def test_a_call_after_close_is_an_error_and_a_second_close_is_none(env, call):
    env.reset()
    env.close()
    env.close()
    assert env.in_flight == 0
    with pytest.raises(envs_c.Closed, match="were closed"):
        getattr(env, call)()


@pytest.mark.parametrize(("settings", "message"), [
    ({"batch_size": 0}, "batch_size must be an integer from 1 to 4, not 0"),
    ({"batch_size": 5}, "batch_size must be an integer from 1 to 4, not 5"),
    ({"batch_size": 2.0}, "batch_size must be"),
    ({"num_threads": -1}, "num_threads must be an integer from 0 to 1,024, not -1"),
    ({"sticky": 2}, "sticky must be"),
])
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(envs_c.InvalidArgument, match=message):
        envs_c.make_async("cartpole", 4, **settings)


@pytest.mark.parametrize(("setting", "suggestion"), [
    ("batchsize", "did you mean batch_size? "), ("num_thread", "did you mean num_threads? "),
    ("n_stack", "did you mean frame_stack? "), ("livse", "did you mean lives? "), ("zzz", "")])
def test_an_unknown_setting_is_one_of_make_async(setting, suggestion):
    with pytest.raises(TypeError) as caught:
        envs_c.make_async("breakout", 4, **{setting: 2})
    assert isinstance(caught.value, envs_c.UnknownSetting)
    assert str(caught.value).startswith(f"make_async() got an unexpected keyword argument '{setting}': {suggestion}"
                                        "The settings are num_envs, batch_size, view, ")


def test_a_second_thread_is_refused_while_recv_waits(toy):
    env = ArcadeAsyncEnv(vector(toy, 4096, seed=1, frame_skip=1000, options={"length": 20, "wind": 0}), num_threads=1)
    env.reset()
    env.send(np.zeros(4096, int))
    other = threading.Thread(target=env.recv)
    other.start()
    busy = False
    while other.is_alive() and not busy:
        try:
            env.async_reset([0])
        except envs_c.Busy:
            busy = True
        except envs_c.InvalidArgument:  # recv has not begun
            pass
    other.join()
    assert busy
    env.close()


@pytest.mark.parametrize("make", [
    lambda batch: Workers.__new__(Workers).receive(1),
    lambda batch: Workers(type(batch).__new__(type(batch)), 1),
    lambda batch: Workers(batch, 0),
    lambda batch: Workers(batch, 1).__init__(batch, 1),
    lambda batch: Workers(batch, 1).step(np.zeros(2, np.int32), np.zeros(1, np.int32)),
    lambda batch: Workers(batch, 1).reset(np.array([99], np.int32)),
], ids=["no __init__", "an unbound batch", "no threads", "__init__ twice", "too few actions", "an unknown environment"])
def test_misuse_of_workers_is_an_error_and_no_crash(toy, make):
    with pytest.raises(envs_c.EnvsError):
        make(vector(toy, 4)._batch)
