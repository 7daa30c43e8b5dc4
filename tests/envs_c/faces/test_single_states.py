"""Snapshots of single environments, by our names and by ALE's; and the options of a reset, which must be known."""

import gymnasium
import numpy as np
import pytest

import envs_c

SAVE = {"get_state": lambda env: env.unwrapped.get_state(), "cloneState": lambda env: env.unwrapped.ale.cloneState(),
        "clone_state": lambda env: env.unwrapped.clone_state(include_rng=True)}
LOAD = {"get_state": lambda env, state: env.unwrapped.set_state(state),
        "cloneState": lambda env, state: env.unwrapped.ale.restoreState(state),
        "clone_state": lambda env, state: env.unwrapped.restore_state(state)}


def played(env, actions):
    """The results of the steps: [(observation, reward, terminated), ...]."""
    return [(step[0].tobytes(), *step[1:3]) for step in map(env.step, actions)]


@pytest.mark.parametrize("name", SAVE)
@pytest.mark.parametrize("settings", [{}, {"view": "pixels", "frame_stack": 3}], ids=str)
def test_a_restored_environment_continues_as_the_saved_one(name, settings):
    env, other = (gymnasium.make("Arcade/Breakout-v0", sticky=0.25, **settings) for _ in range(2))
    env.reset(seed=1), other.reset(seed=2)
    actions = np.random.default_rng(3).integers(0, 4, 60).tolist()
    played(env, actions[:20])
    state = SAVE[name](env)
    after = played(env, actions[20:])
    for again in (env, other):
        LOAD[name](again, state)
        assert played(again, actions[20:]) == after


def test_set_state_returns_the_observation_and_refuses_foreign_bytes():
    env = gymnasium.make("Arcade/Breakout-v0").unwrapped
    observation, _ = env.reset(seed=1)
    state = env.get_state()
    env.step(1), env.step(2)
    assert np.array_equal(env.set_state(state), observation)
    for load in (env.set_state, env.ale.restoreState, env.restore_state):
        with pytest.raises(envs_c.InvalidState):
            load(state[:-1])
    with pytest.raises(envs_c.InvalidArgument, match="include_rng must be True or False, not 'x'"):
        env.clone_state("x")


@pytest.mark.parametrize(("make", "message"), [
    (lambda: gymnasium.make("Arcade/Breakout-v0"), "options of reset must have no name 'foo': it takes none"),
    (lambda: envs_c.make("breakout", 2), "options of reset must have no name 'foo': it may have reset_mask"),
    (lambda: envs_c.make_async("breakout", 2), "options must be empty")])
def test_an_unknown_option_of_a_reset_is_refused(make, message):
    env = make()
    env.reset(options={})
    with pytest.raises(envs_c.InvalidArgument, match=message):
        env.reset(options={"foo": 1})


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_an_episode_that_begins_after_a_restored_end_has_no_older_frames(autoreset):
    ended = envs_c.make("cartpole", 1, autoreset="disabled", frame_stack=4)
    ended.reset(seed=1)
    while not ended.step([0])[2][0]:
        pass
    env = envs_c.make("cartpole", 1, autoreset=autoreset, frame_stack=4)
    env.reset(seed=2)
    env.set_state(ended.get_state())
    observations, *_ = env.step([0])
    assert not observations[0, :-1].any() and observations[0, -1].any()
    assert env.step([0])[0][0, -2:].any(1).tolist() == [True, True]
