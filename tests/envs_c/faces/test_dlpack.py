"""Observations by DLPack: torch and JAX see the buffers themselves, without a copy, and the next step in them."""

import gc

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.asynchronous import ArcadeAsyncEnv
from envs_c.gymnasium_env.buffers import ALIGNMENT

SHAPES = [(1, {}), (3, {}), (64, {}), (7, {"frame_stack": 3}), (3, {"view": "pixels"}),
          (5, {"view": "pixels", "frame_stack": 4})]


def torch_shared(array):
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(array)
    return tensor, tensor.data_ptr(), tensor.numpy


def jax_shared(array):
    pytest.importorskip("jax")
    import jax.numpy as jnp
    shared = jnp.from_dlpack(array, copy=False)  # an error if it needs a copy
    return shared, shared.unsafe_buffer_pointer(), lambda: np.asarray(shared)


LIBRARIES = {"torch": torch_shared, "jax": jax_shared}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("num_envs", "settings"), SHAPES)
def test_an_observation_is_shared_and_holds_the_next_step(toy, library, num_envs, settings):
    env = vector(toy, num_envs, seed=1, copy=False, **settings)
    observation, _ = env.reset()
    _shared, address, read = LIBRARIES[library](observation)
    assert address == observation.ctypes.data
    for _ in range(3):
        after = env.step(np.full(num_envs, 2))[0]
        assert after is observation
        assert np.array_equal(read(), observation)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_asynchronous_batch_is_shared_and_holds_the_next_recv(toy, library):
    env = ArcadeAsyncEnv(vector(toy, 6, seed=1, copy=False), 2, num_threads=1)
    observation, _ = env.reset()
    _shared, address, read = LIBRARIES[library](observation)
    assert address == observation.ctypes.data
    assert env.recv()[0] is observation and np.array_equal(read(), observation)
    env.close()


@pytest.mark.parametrize(("num_envs", "settings"), SHAPES)
def test_buffers_begin_at_a_multiple_of_64_bytes(toy, num_envs, settings):
    env = vector(toy, num_envs, seed=1, copy=False, **settings)
    batch = ArcadeAsyncEnv(vector(toy, num_envs, seed=1, copy=False, **settings), 1, num_threads=1)
    assert [made.reset()[0].ctypes.data % ALIGNMENT for made in (env, batch)] == [0, 0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_shared_memory_outlives_its_environments(toy, library):
    env = vector(toy, 64, seed=1, copy=False)
    observation, _ = env.reset()
    expected = observation.copy()
    _shared, _, read = LIBRARIES[library](observation)
    env.close()
    del env, observation
    gc.collect()
    junk = [np.full_like(expected, 7) for _ in range(20)]
    assert np.array_equal(read(), expected) and len(junk) == 20


@pytest.mark.parametrize("copy", [True, False])
def test_results_are_writable_for_libraries_that_refuse_read_only_arrays(each_kind, copy):
    env = vector(each_kind, 2, seed=1, copy=copy)
    observation, _ = env.reset()
    results = (observation, *env.step(np.zeros(2, int))[:4])
    assert all(result.flags.writeable and result.flags.c_contiguous for result in results)
    assert all(np.from_dlpack(result).ctypes.data == result.ctypes.data for result in results)


def test_actions_may_be_tensors_and_read_only_arrays(toy):
    torch = pytest.importorskip("torch")
    env, other = vector(toy, 4, seed=1), vector(toy, 4, seed=1)
    env.reset(), other.reset()
    actions = np.array([0, 1, 2, 3], np.int32)
    expected = env.step(actions)[0]
    actions.flags.writeable = False
    assert np.array_equal(other.step(actions)[0], expected)
    other.reset(seed=1), env.reset(seed=1)
    assert np.array_equal(other.step(torch.tensor(actions.tolist()))[0], env.step(actions)[0])


def test_jax_actions_are_taken(toy):
    jnp = pytest.importorskip("jax.numpy")
    env, other = vector(toy, 4, seed=1), vector(toy, 4, seed=1)
    env.reset(), other.reset()
    assert np.array_equal(env.step(jnp.array([0, 1, 2, 3]))[0], other.step([0, 1, 2, 3])[0])


def test_own_buffers_at_any_address_may_be_shared_with_torch():
    torch = pytest.importorskip("torch")
    core = envs_c.VecEnv(envs_c.game("breakout"), 4, seed=1)
    observation = torch.zeros(4, *core.observation_shape)
    reward, terminated, truncated = torch.zeros(3, 4)
    batch = core.bind(0, 4, actions=np.zeros(4, np.int32), observation=observation.numpy(), reward=reward.numpy(),
                      terminated=terminated.numpy(), truncated=truncated.numpy())
    batch.reset()
    assert observation.abs().sum() > 0
