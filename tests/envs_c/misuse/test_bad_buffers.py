"""Wrong buffers: VecEnv.bind names the buffer and states the requirement, and no state changes."""

import numpy as np
import pytest

import envs_c
from envs_c import InvalidArgument, VecEnv
from envs_c.testing.play import bind, buffers

N = 5


def misaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    return raw.view(array.dtype).reshape(array.shape)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


BUFFERS = {  # how the array is changed, a part of the message, the buffers or dtypes without this error
    "a list": (lambda array: array.tolist(), "not a list", None),
    "too long": (lambda array: np.concatenate([array, array]), "it has shape", None),
    "another dtype": (lambda array: array.astype(np.float64), "dtype float64", None),
    "another byte order": (lambda array: array.astype(array.dtype.newbyteorder()), "dtype >", ("uint8",)),
    "strided": (lambda array: np.repeat(array, 2, axis=0)[::2], "not C-contiguous", None),
    "read-only": (read_only, "it is read-only", ("actions",)),
    "misaligned": (misaligned, "not a multiple of 4", ("uint8",)),
}


@pytest.mark.parametrize("buffer", ["actions", "observation", "reward", "terminated", "truncated", "final_observation",
                                    "action_mask", "final_action_mask"])
@pytest.mark.parametrize("kind", BUFFERS)
def test_buffers_that_do_not_fit_are_named(toy, kind, buffer):
    spoil, word, exempt = BUFFERS[kind]
    core = VecEnv(toy, N, seed=1)
    before = core.get_state()
    arrays = buffers(core)
    if exempt and (buffer in exempt or str(arrays[buffer].dtype) in exempt):
        bind(core, {**arrays, buffer: spoil(arrays[buffer])}, 0, N)
        return
    right = arrays[buffer]
    with pytest.raises(InvalidArgument) as caught:
        core.bind(0, N, **{**arrays, buffer: spoil(right)})
    words = [f"buffer {buffer} ", word, "C-contiguous", str(right.shape), str(right.dtype)]
    assert all(word in str(caught.value) for word in words), caught.value
    assert core.get_state() == before


def test_a_fortran_ordered_observation_is_refused(toy):
    core = VecEnv(toy, N)
    with pytest.raises(InvalidArgument, match=r"buffer observation must be .*; it is not C-contiguous"):
        core.bind(0, N, **{**buffers(core), "observation": np.zeros((N, 2, 3), np.uint8, order="F")})


def test_same_step_needs_a_buffer_of_last_observations(toy):
    core = VecEnv(toy, N, autoreset="same_step")
    arrays = {name: array for name, array in buffers(core).items() if not name.startswith("final")}
    with pytest.raises(InvalidArgument, match="final_observation"):
        core.bind(0, N, **arrays)


@pytest.mark.parametrize(("lo", "hi"), [(2, 2), (3, 2), (-1, 2), (0, N + 1)])
def test_a_batch_lies_among_the_environments(toy, lo, hi):
    core = VecEnv(toy, N)
    with pytest.raises(InvalidArgument, match=rf"of 0 \.\. 4, not {lo} \.\. {hi - 1}"):
        core.bind(lo, hi, **buffers(core))


@pytest.mark.parametrize("name", ["ended", "ended_return", "ended_length", "lives", "final_lives"])
def test_the_engines_arrays_cannot_be_resized(name):
    core = VecEnv(envs_c.game("breakout"), N, count_lives=True)
    for options in ({}, {"refcheck": False}):
        with pytest.raises(ValueError, match="cannot resize this array"):
            getattr(core, name).resize(1 << 20, **options)
    with pytest.raises(ValueError, match="cannot resize"):
        getattr(core, name).base.resize(1 << 20)


def test_the_buffers_of_a_batch_cannot_be_resized(toy):
    core = VecEnv(toy, N)
    batch = core.bind(0, N, **buffers(core))
    for k in range(len(batch.buffers) - 2):  # without pictures
        with pytest.raises(ValueError, match="cannot resize"):
            batch.buffers[k].resize(1 << 20)
