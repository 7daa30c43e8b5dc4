"""What vector environments return is checked in each step: its form, shapes and types, and whether it fits into float32."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from bridge import EnvironmentFailed, GymnasiumSource, Pipeline

COUNT = 4
BOX = spaces.Box(-1, 1, (3,), np.float32)
BYTES = spaces.Box(0, 255, (3,), np.uint8)
PAIR = spaces.Dict(near=BOX, place=spaces.Discrete(5))


def same(*result):
    return result


class Native(VectorEnv):
    """A vector environment of its own class, whose results `change` may spoil: (observation, reward, ends, cuts, info)."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, change=None, space=BOX, begin=None):
        self.num_envs, self.change, self.begin = COUNT, change or same, begin or same
        self.single_observation_space, self.single_action_space = space, spaces.Discrete(2)
        self.observation_space = batch_space(space, COUNT)

    def reset(self, *, seed=None, options=None):
        return self.begin(self.observation_space.sample(), {})

    def step(self, actions):
        return self.change(self.observation_space.sample(), np.ones(COUNT), np.arange(COUNT) == 1, np.zeros(COUNT, bool), {})


class Single(gymnasium.Env):
    """An environment whose results `change` may spoil."""

    action_space = spaces.Discrete(2)

    def __init__(self, change=None, space=BOX, begin=None):
        self.observation_space = space
        self.change, self.begin = change or same, begin or same

    def reset(self, *, seed=None, options=None):
        return self.begin(self.observation_space.sample(), {})

    def step(self, action):
        return self.change(self.observation_space.sample(), 1.0, False, False, {})


def stepped(env, reward_clip=None):
    """The slab of a pipeline of `env` after a reset and a step, and its episodes."""
    pipeline = Pipeline(GymnasiumSource([env], reward_clip, owned=True))
    try:
        pipeline.reset()
        pipeline.turn(pipeline.batches[0], lambda: pipeline.slabs[0].actions.zero_())
        pipeline.settle()
        return pipeline.slabs[0].host, pipeline.take_episodes()
    finally:
        pipeline.close()


def failed(env, who, problem):
    with pytest.raises(EnvironmentFailed, match=f"^{re.escape(f'{who} returned {problem}')}") as error:
        stepped(env)
    assert ": correct the environment" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(("change", "problem"), [
    (lambda o, *rest: (o.T, *rest), "an observation of shape (3, 4), but it must have the shape (4, 3), in Box("),
    (lambda o, *rest: (o[:-1], *rest), "an observation of shape (3, 3), but it must have the shape (4, 3), in Box("),
    (lambda o, *rest: (o[0], *rest), "an observation of shape (3,), but it must have the shape (4, 3), in Box("),
    (lambda o, *rest: (o.astype(object), *rest), "an observation of type object, but it must be float32, in Box("),
    (lambda o, *rest: ([[1.0, 2.0], [3.0]], *rest), "an observation that is no array of numbers ("),
    (lambda o, r, *rest: (o, r[:, None], *rest), "a reward of shape (4, 1), but it must have the shape (4,), one number"),
    (lambda o, r, *rest: (o, 1.0, *rest), "a reward of shape (), but it must have the shape (4,), one number for each"),
    (lambda o, r, *rest: (o, [None] * COUNT, *rest), "a reward of type object, but it must be an array of numbers"),
    (lambda o, r, ends, *rest: (o, r, False, *rest), "terminated of shape (), but it must have the shape (4,), one number"),
    (lambda o, r, e, cuts, info: (o, r, e, cuts[1:], info), "truncated of shape (3,), but it must have the shape (4,), one"),
    (lambda o, r, e, cuts, info: (o, r, e, cuts.astype(str), info), "truncated of type <U5, but it must be an array of bools"),
    (lambda o, r, ends, cuts, info: (o, r, ends, info), "4 values in step, but it must return (observation, reward,"),
    (lambda o, *rest: o, "a value of type ndarray in step, but it must return (observation, reward, terminated, "),
])
def test_a_native_step_of_a_wrong_form_is_refused_with_what_it_must_be(change, problem):
    failed(Native(change), "environments 0 to 3 (Native)", problem)


@pytest.mark.parametrize(("space", "begin", "problem"), [
    (BOX, lambda o, info: o, "a value of type ndarray in reset, but it must return (observation, info)"),
    (BOX, lambda o, info: (o.T, info), "an observation of shape (3, 4), but it must have the shape (4, 3), in Box("),
    (PAIR, lambda o, info: ({"near": o["near"]}, info), "an observation without place, which must be in Discrete(5)"),
    (PAIR, lambda o, info: (o["near"], info), "an observation without near, which must be in Box("),
    (PAIR, lambda o, info: (o | {"near": o["near"][0]}, info), "a near in its observation of shape (3,), but it must have"),
    (BYTES, lambda o, info: (o.astype(int), info), "an observation of type int64, but it must be uint8, in Box("),
])
def test_a_native_reset_of_a_wrong_form_is_refused_with_what_it_must_be(space, begin, problem):
    failed(Native(space=space, begin=begin), "environments 0 to 3 (Native)", problem)


@pytest.mark.parametrize("dtype", [bool, int, np.float32, list])
def test_ends_may_be_bools_or_numbers_in_any_array(dtype):
    def change(o, r, ends, cuts, info):
        one, other = (ends.tolist(), cuts.tolist()) if dtype is list else (ends.astype(dtype), cuts.astype(dtype))
        return o, r, one, other, info
    host, episodes = stepped(Native(change))
    assert host["terminated"].tolist() == [0, 1, 0, 0] and episodes.environments.tolist() == [1]


@pytest.mark.parametrize(("change", "space", "problem"), [
    (lambda o, *rest: (np.zeros(4), *rest), BOX, "an observation of shape (4,), but it must have the shape (3,), in Box("),
    (lambda o, *rest: (0.5, *rest), BOX, "an observation of shape (), but it must have the shape (3,), in Box("),
    (lambda o, *rest: (np.zeros(3, np.float32), *rest), BYTES, "an observation of type float32, but it must be uint8, in Box("),
    (lambda o, *rest: (o | {"place": [1]}, *rest), PAIR, "a place in its observation of shape (1,), but it must have the"),
    (lambda o, r, *rest: (o, np.array([1.0]), *rest), BOX, "array([1.]) as its reward, but it must be one number, such as 1.0"),
    (lambda o, r, *rest: (o, None, *rest), BOX, "None as its reward, but it must be one number, such as 1.0"),
    (lambda o, r, *rest: (o, "1", *rest), BOX, "'1' as its reward, but it must be one number, such as 1.0"),
    (lambda o, r, e, *rest: (o, r, [True, False], *rest), BOX, "[True, False] as terminated, but it must be True or False"),
    (lambda *result: result[:4], BOX, "4 values in step, but it must return (observation, reward, terminated, truncated,"),
])
def test_a_wrong_result_of_one_environment_names_it_and_what_it_must_be(change, space, problem):
    envs = [lambda: Single(space=space), lambda: Single(change, space), lambda: Single(space=space)]
    failed(SyncVectorEnv(envs, autoreset_mode=AutoresetMode.NEXT_STEP), "environment 1 (SyncVectorEnv)", problem)


def test_a_reset_of_a_wrong_form_names_its_environment():
    envs = [Single, lambda: Single(begin=lambda o, info: (o[:2], info))]
    failed(SyncVectorEnv(envs, autoreset_mode=AutoresetMode.NEXT_STEP), "environment 1 (SyncVectorEnv)",
           "an observation of shape (2,)")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("env", "problem"), [
    (lambda: Native(lambda o, r, *rest: (o, r * 1e39, *rest)), "1e+39 in its reward in step 1 of its episode"),
    (lambda: Native(lambda o, *rest: (o.astype(float) + 1e300, *rest)), "inf in its observation in step 1 of its episode"),
])
def test_a_number_beyond_float32_is_named_without_numpy_s_warning(env, problem):
    failed(env(), "environment 0 (Native)", problem)


def test_a_reward_beyond_float32_is_clipped_like_any_other():
    host, _ = stepped(Native(lambda o, r, *rest: (o, r * 1e39, *rest)), reward_clip=1.0)
    assert host["reward"].tolist() == [1.0] * COUNT


@pytest.mark.parametrize("shares", [[COUNT], [2, 2]])
def test_one_object_in_the_place_of_several_environments_is_refused(shares):
    shared = Single()
    made = iter([Single(), shared, Single(), shared])
    envs = [SyncVectorEnv([lambda: next(made)] * count, autoreset_mode=AutoresetMode.NEXT_STEP) for count in shares]
    with pytest.raises(ValueError, match=r"environments 1 and 3 are the same one: the function .* must make a new one in each"):
        GymnasiumSource(envs)
