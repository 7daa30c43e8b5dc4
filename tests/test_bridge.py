"""Slabs hold their parts where they should, and a pipeline carries the same however it is cut into batches."""

import hashlib

import numpy as np
import pytest
import torch

import envs_c
from bridge import Pipeline, Slab


def make(num_batches=1, num_envs=10, num_threads=1, game="breakout", **settings) -> Pipeline:
    return Pipeline(envs_c.VecEnv(envs_c.game(game), num_envs, seed=3, num_threads=num_threads, **settings), num_batches)


def play(pipeline, steps, seed=0) -> str:
    """The hash of everything that random play brings, environment by environment."""
    random = np.random.default_rng(seed)
    seen = hashlib.sha256()
    for _ in range(steps):
        actions = torch.from_numpy(random.integers(0, pipeline.num_actions, pipeline.num_envs).astype(np.int32))
        brought = {name: [] for name in ("observation", "reward", "terminated", "truncated")}
        for batch in pipeline.batches:
            slab = pipeline.receive(batch)
            for name, parts in brought.items():
                parts.append(getattr(slab, name).clone())
            slab.actions.copy_(actions[batch.lo: batch.hi])
            pipeline.send(batch)
        for parts in brought.values():
            seen.update(torch.cat(parts).numpy().tobytes())
    return seen.hexdigest()


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("masked", [0, 5])
def test_a_slab_is_one_allocation_of_aligned_parts(dtype, masked):
    slab = Slab(3, (7,), dtype, masked)
    base = slab.contents().numel()
    starts = {name: part.ctypes.data for name, part in slab.host.items()}
    first = starts["observation"]
    for name, part in slab.host.items():
        assert starts[name] % 64 == 0
        assert first <= starts[name] <= starts[name] + part.nbytes <= first + base
        assert getattr(slab, name).data_ptr() == starts[name]  # on the CPU the device's side is the host's
    assert len(set(starts.values())) == len(starts)
    assert (slab.action_mask is None) == (masked == 0)


def test_a_slab_gives_back_its_contents():
    slab = Slab(3, (7,), "float32")
    slab.host["observation"][:] = np.arange(21).reshape(3, 7)
    kept = slab.contents()
    slab.host["observation"][:] = 0
    slab.restore(kept)
    assert slab.observation.flatten().tolist() == list(range(21))
    with pytest.raises(ValueError, match="cannot take"):
        slab.restore(kept[:-1])


@pytest.mark.parametrize("num_batches", [2, 3, 10])
def test_batches_carry_the_same_as_one(num_batches):
    whole, split = make(), make(num_batches)
    for pipeline in (whole, split):
        pipeline.reset()
    assert play(whole, 300) == play(split, 300)


def test_batches_are_even_and_cover_all():
    ranges = [(b.lo, b.hi) for b in make(3, num_envs=10).batches]
    assert ranges == [(0, 3), (3, 6), (6, 10)]


def test_episodes_are_reported_once_and_raw():
    pipeline = make(2, num_envs=8, game="cartpole", reward_clip=0.25)
    pipeline.reset()
    total, ended = np.zeros(8), []
    for _ in range(200):
        for batch in pipeline.batches:
            slab = pipeline.receive(batch)
            slab.actions.zero_()
            pipeline.send(batch)
            rows = slice(batch.lo, batch.hi)
            total[rows] += slab.reward.numpy() * 4  # what 0.25 was clipped from
            over = np.flatnonzero(slab.terminated.numpy()) + batch.lo
            ended.extend(total[over])
            total[over] = 0
    returns, lengths = pipeline.take_episodes()
    assert len(returns) > 50
    assert sorted(returns) == sorted(ended) == sorted(lengths)
    assert len(pipeline.take_episodes()[0]) == 0


def test_a_restored_pipeline_goes_on_as_if_never_left():
    pipeline = make(3)
    pipeline.reset()
    play(pipeline, 100)
    state = pipeline.state()
    wanted = play(pipeline, 100, seed=1)
    other = make(3)
    other.restore(state)
    assert play(other, 100, seed=1) == wanted


@pytest.mark.parametrize(("arguments", "message"), [
    ({"num_batches": 0}, "num_batches is 0"),
    ({"num_batches": 11}, "from 1 to the number of environments, 10"),
    ({"autoreset": "same_step"}, "'next_step', not 'same_step'"),
])
def test_what_a_pipeline_cannot_take_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)
