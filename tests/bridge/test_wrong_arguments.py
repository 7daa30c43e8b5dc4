"""Wrong arguments of slabs and of a pipeline's methods are named, and change nothing."""

import numpy as np
import pytest
import torch
from simulation_support import tensors

import envs_c
from bridge import HostDevice, Pipeline, Slab
from bridge.on_device.pipeline import OnDevicePipeline


def make():
    return Pipeline(envs_c.VecEnv(envs_c.game("breakout"), 10, seed=3, num_threads=1), 2)


def on_device():
    return OnDevicePipeline(tensors(10), HostDevice())


@pytest.mark.parametrize(("name", "value", "message"), [
    ("environments", None, "^environments is missing; it must be a tensor$"),
    ("environments", b"", "^environments must be a tensor, not b''$"),
    ("environments", torch.zeros(5, dtype=torch.uint8), "state of envs_c|this snapshot"),
    ("slab.reward", None, r"^slab.reward is missing; it must be \(10,\) torch.float32$"),
    ("slab.reward", torch.zeros(10, dtype=torch.float64), r"^slab.reward must be \(10,\) .*float32, not \(10,\) .*float64$"),
    ("slab.observation", torch.zeros(9, 4), r"^slab.observation must be \(10, .*\) .*, not \(9, 4\) torch.float32$"),
])
@pytest.mark.parametrize("kind", [make, on_device])
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(kind, name, value, message):
    pipeline, same, other = kind(), kind(), kind()
    for each in (pipeline, same, other):
        each.reset()
    for each in (pipeline, same):
        each.turns(10, [slab.actions.zero_ for slab in each.slabs])
    state = {**other.state(), name: value}
    with pytest.raises(ValueError, match=message):
        pipeline.restore({key: part for key, part in state.items() if part is not None})
    wanted = same.state()  # with the actions of the last turn
    assert all(torch.equal(part, wanted[key]) for key, part in pipeline.state().items())


@pytest.mark.parametrize(("count", "works", "message"), [
    (1, [len], r"^works must be 2 functions without arguments, one for each batch, not \[<built-in function len>\]$"),
    (1, [None, None], r"^works must be .*, not \[None, None\]$"), (1, 5, "^works must be .*, not 5$"),
    (-1, [len, len], "^count must be an integer from 0 to .*, not -1$"), ("2", [len, len], "^count must be .*, not '2'$"),
])
def test_wrong_turns_are_refused(count, works, message):
    with pytest.raises(envs_c.InvalidArgument, match=message):
        make().turns(count, works)


@pytest.mark.parametrize(("environments", "wrong"), [
    ([10], "10"), ([0, -1], "-1"), ([1.5], "1.5"), (np.array([True]), "True"), ("a", "'a'")])
def test_only_environments_of_the_pipeline_are_held(environments, wrong):
    pipeline = make()
    with pytest.raises(envs_c.InvalidArgument, match=f"^each of environments must be an integer from 0 to 9, not {wrong}$"):
        pipeline.hold(environments)
    pipeline.hold([1, 9])
    assert [bound.stepped.tolist() for bound in pipeline._bound] == [[True, False, True, True, True], [True] * 4 + [False]]


@pytest.mark.parametrize(("name", "value"), [
    ("count", 0), ("count", -1), ("count", "a"), ("dtype", "float64"), ("dtype", "xx"),
    ("action_mask_size", -1)])
def test_a_wrong_argument_of_a_slab_is_named(name, value):
    with pytest.raises(envs_c.InvalidArgument, match=f"^{name} must be .*, not .*{value}.*$"):
        Slab(**{"count": 2, "shape": (4,), "dtype": "uint8", name: value})
