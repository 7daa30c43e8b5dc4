"""NumPy's numbers are numbers wherever one is asked for, and a masked array or a tensor elsewhere is no array of actions."""

import array
import collections

import gymnasium
import numpy as np
import pytest

import envs_c
from envs_c.errors import InvalidArgument
from envs_c.numbers import is_boolean, is_integer, is_number, is_stored, plain


def first_draw(env) -> int:
    return int(env.unwrapped.np_random.integers(1 << 30))


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, int])
def test_a_seed_of_any_integer_seeds_the_environment_and_its_generator(kind):
    draws = []
    for seed in (3, kind(3)):
        single, vector = gymnasium.make("envs_c:Arcade/CartPole-v0"), envs_c.make("cartpole", num_envs=2)
        several = envs_c.make_async("cartpole", 2)
        observations = [env.reset(seed=seed)[0] for env in (single, vector, several)]
        draws.append([*map(first_draw, (single, vector, several)), *(one.tobytes() for one in observations)])
        for env in (single, vector, several):
            env.close()
    assert draws[0] == draws[1]


@pytest.mark.parametrize("make", [lambda: range(3, 5), lambda: collections.deque([3, 4]), lambda: array.array("q", [3, 4]),
                                  lambda: np.array([3, 4], np.uint8), lambda: pytest.importorskip("torch").tensor([3, 4])],
                         ids=["range", "deque", "array", "numpy", "tensor"])
def test_every_sequence_of_integers_is_one_of_seeds(make):
    wanted = envs_c.make("cartpole", 2, seed=[3, 4]).reset()[0]
    several = envs_c.make_async("cartpole", 2)
    assert np.array_equal(envs_c.make("cartpole", 2, seed=make()).reset()[0], wanted)
    for env in (envs_c.make("cartpole", 2), several):
        assert np.array_equal(env.reset(seed=make())[0], wanted)
    several.close()


@pytest.mark.parametrize(("make", "message"), [
    (lambda torch: torch.tensor([3.0, 4.0]), r"^seed\[0\] must be an integer from 0 to .*, not .*3"),
    (lambda torch: torch.tensor([True, True]), r"^seed\[0\] must be an integer from 0 to .*, not .*True"),
    (lambda torch: torch.tensor([3.0, 4.0], requires_grad=True), "^seed must be an integer from 0 to .*, or one for each"),
    (lambda torch: torch.tensor([1, 2, 3]), "^seed must have one entry for each of the 2 environments; it has 3 entries"),
    (lambda torch: memoryview(b"ab"), "^seed must be an integer from 0 to"), (lambda torch: b"ab", "^seed must be an integer")])
def test_a_tensor_or_bytes_that_are_no_seeds_are_told_what_seeds_are(make, message):
    given = make(pytest.importorskip("torch"))
    with pytest.raises(InvalidArgument, match=message):
        envs_c.make("cartpole", 2, seed=given)


def test_sync_vector_environments_pass_their_seeds_on():
    env = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("envs_c:Arcade/CartPole-v0")] * 2)
    first, _ = env.reset(seed=[np.int64(3), np.int32(4)])
    again, _ = env.reset(seed=[3, 4])
    env.close()
    assert np.array_equal(first, again)


def test_asynchronous_environments_seed_their_generator():
    with_seed = envs_c.make_async("cartpole", 2)
    draws = []
    for _ in range(2):
        with_seed.reset(seed=3)
        draws.append(first_draw(with_seed))
        with_seed.recv() if with_seed.in_flight else None
    with_seed.close()
    assert draws[0] == draws[1]


@pytest.mark.parametrize("settings", [{"num_envs": np.int64(2)}, {"num_envs": 2, "sticky": np.float32(0.25)},
                                      {"num_envs": 2, "copy": np.bool_(False)}, {"num_envs": 2, "frame_skip": np.uint8(2)},
                                      {"num_envs": 2, "reward_clip": np.float32(1)}, {"num_envs": 2, "time_limit": np.int16(9)},
                                      {"num_envs": 2, "lives": np.int64(3)}])
def test_settings_take_numbers_of_numpy(settings):
    env = envs_c.make("breakout", **settings)
    env.reset(seed=1)
    env.close()


def test_what_a_number_is():
    assert all(map(is_number, (1, 1.5, np.int8(1), np.float16(1.5), np.longdouble(2))))
    assert not any(map(is_number, (True, np.bool_(True), np.nan, np.float32("inf"), 10**400, "1", None, np.array(1), 1j)))
    assert is_integer(np.int64(1)) and not is_integer(np.bool_(True)) and not is_integer(1.0) and is_boolean(np.bool_(False))
    assert [type(plain(value)) for value in (np.int64(1), np.float32(1), np.longdouble(1), np.bool_(True), "x")] == [
        int, float, float, bool, str]
    assert is_stored(1e100) and not is_stored(1e101) and not is_stored(float("nan")) and not is_stored(True)


MASKED = np.ma.MaskedArray([0, 1], mask=[False, True])
DOORS = {
    "step": lambda env: env.step(MASKED), "reset": lambda env: env.reset(options={"reset_mask": MASKED.astype(bool)}),
    "get_state": lambda env: env.get_state(MASKED), "set_state": lambda env: env.set_state(env.get_state([0, 1]), MASKED),
    "seed": lambda env: env.reset(seed=MASKED),
    "send": lambda env: asynchronous(lambda other: other.send(MASKED, [0, 1])),
    "env_id": lambda env: asynchronous(lambda other: other.send([0, 0], MASKED)),
    "buffer": lambda env: bound(env, np.ma.MaskedArray(np.zeros(2, np.int32))),
}


def bound(env, actions):
    """Bind buffers of the caller's own, with these actions."""
    outputs = {name: np.zeros(2, np.float32) for name in ("reward", "terminated", "truncated")}
    env.core.bind(0, 2, actions=actions, observation=np.zeros((2, 4), np.float32), **outputs)


def asynchronous(call):
    env = envs_c.make_async("cartpole", 2)
    try:
        env.reset(seed=1)
        call(env)
    finally:
        env.close()


@pytest.mark.parametrize("door", DOORS)
def test_a_masked_array_is_refused(door):
    env = envs_c.make("cartpole", num_envs=2)
    env.reset(seed=1)
    with pytest.raises(InvalidArgument, match="must be a plain array, not a masked one, whose mask would be ignored"):
        DOORS[door](env)
    env.close()


class OnGpu:
    """Refuses NumPy as a tensor on a GPU does."""

    def detach(self):
        """Here for its name."""

    def __array__(self, *given, **more):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")


def test_a_tensor_with_a_gradient_or_on_a_gpu_is_told_what_to_do():
    torch = pytest.importorskip("torch")
    env, single = envs_c.make("cartpole", num_envs=2), gymnasium.make("envs_c:Arcade/CartPole-v0").unwrapped
    env.reset(seed=1)
    single.reset(seed=1)
    for actions in (torch.zeros(2, requires_grad=True), OnGpu(), [OnGpu(), OnGpu()]):
        with pytest.raises(InvalidArgument, match=r"^actions must be integers of shape \(2,\), not .* and a tensor is passed "
                                                  r"as actions\.detach\(\)\.cpu\(\)$"):
            env.step(actions)
    with pytest.raises(InvalidArgument, match=r"^action must be an integer from 0 to 1, .* as action\.detach\(\)\.cpu\(\)$"):
        single.step(OnGpu())
    env.step(torch.zeros(2, dtype=torch.int64))
    for made in (env, single):
        made.close()


def test_stable_baselines3_checks_actions_when_they_are_given():
    sb3 = pytest.importorskip("envs_c.sb3")
    env = sb3.make("cartpole", 2)
    env.reset()
    for actions in (MASKED, [0, 0, 0], [0.0, 1.0], [[0], [1, 2]]):
        with pytest.raises(InvalidArgument, match=r"^actions must be"):
            env.step_async(actions)
    env.step_async([0, 1])
    env.step_wait()
    env.close()
