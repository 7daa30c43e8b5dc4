"""Observations of Gymnasium's spaces: what lies in a row, in which shape, dtype and scale; which spaces are refused."""

import json

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from own_environments import MIXED, Mixed, Sampling

from bridge import EnvironmentFailed, GymnasiumSource, Pipeline
from bridge.layout import MOST_KINDS, Layout, Observations

BYTES = {"low": 0, "dtype": np.uint8}


@pytest.mark.parametrize(("space", "shape", "dtype", "scale"), [
    (spaces.Box(high=255, shape=(9,), **BYTES), (9,), "uint8", 1 / 255),
    (spaces.Box(high=1, shape=(3, 64, 64), **BYTES), (3, 64, 64), "uint8", 1.0),
    (spaces.Box(high=15, shape=(64, 60, 3), **BYTES), (3, 64, 60), "uint8", 1 / 15),
    (spaces.Box(high=255, shape=(84, 84, 1), **BYTES), (84, 84), "uint8", 1 / 255),
    (spaces.Box(high=255, shape=(1, 84, 84), **BYTES), (84, 84), "uint8", 1 / 255),
    (spaces.Box(high=255, shape=(4, 84, 80, 3), **BYTES), (4, 3, 84, 80), "uint8", 1 / 255),
    (spaces.Box(high=255, shape=(4, 84, 84), **BYTES), (4, 84, 84), "uint8", 1 / 255),
    (spaces.Box(0, 255, (64, 64, 3)), (3, 64, 64), "float32", 1 / 255),
    (spaces.Box(-10, 10, (2,)), (2,), "float32", 0.1),
    (spaces.Box(0, 1, (2,), np.float64), (2,), "float32", 1.0),
    (spaces.Box(np.array([-1, -8]), np.array([1, 8]), dtype=np.float32), (2,), "float32", 1.0),
    (spaces.Box(-np.inf, np.inf, (2, 2)), (2, 2), "float32", 1.0),
    (spaces.Dict(obs=spaces.Box(-4, 4, (2,)), action_mask=spaces.MultiBinary(3)), (2,), "float32", 0.25),
])
def test_a_box_keeps_its_shape_with_channels_first_and_is_scaled_by_its_own_bounds(space, shape, dtype, scale):
    found = Observations(space)
    assert (found.shape, found.dtype, found.scale, found.layout) == (shape, dtype, pytest.approx(scale), None)


@pytest.mark.parametrize(("space", "dtype", "kinds"), [
    (spaces.Discrete(16), "uint8", (16,)),
    (spaces.Discrete(256), "uint8", (256,)),
    (spaces.Discrete(257), "float32", (257,)),
    (spaces.MultiDiscrete([[3, 4], [5, 6]]), "uint8", (3, 4, 5, 6)),
    (spaces.Tuple((spaces.Discrete(3), spaces.Discrete(4, start=7))), "uint8", (3, 4)),
    (spaces.MultiBinary((2, 3)), "uint8", ()),
    (spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(high=9, shape=(2,), **BYTES)), "uint8", (3,)),
    (spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1, 1, (2,))), "float32", (3,)),
    (MIXED, "float32", (5, 3, 4)),
])
def test_other_spaces_become_a_row_of_bytes_if_bytes_hold_it(space, dtype, kinds):
    found = Observations(space)
    assert found.dtype == dtype and found.shape == (found.layout.size,) and found.scale == 1.0
    assert tuple(one for part in found.layout.parts for one in part.kinds) == kinds
    assert Layout.from_list(json.loads(json.dumps(found.layout.to_list()))) == found.layout


@pytest.mark.parametrize(("space", "sentence"), [
    (spaces.Text(3), "observations must be Box, Discrete, .* or a Dict or Tuple of them, but they are Text"),
    (spaces.Dict(x=spaces.Discrete(2), y=spaces.Dict(word=spaces.Text(3))), "but y.word is Text.*FilterObservation"),
    (spaces.Sequence(spaces.Discrete(2)), "but they are Sequence"),
    (spaces.Graph(spaces.Discrete(2), None), "but they are Graph"),
    (spaces.Dict(), "at least one number in each part"),
    (spaces.Box(0, 1, (0,)), "at least one number in each part"),
    (spaces.Discrete(MOST_KINDS + 1), "at most 16,384 values of Discrete and MultiDiscrete together, not 16,385"),
    (spaces.Dict(x=spaces.Discrete(2), action_mask=spaces.Discrete(2)), "action_mask of observations must be MultiBinary"),
])
def test_spaces_that_cannot_be_rows_are_refused_in_one_line(space, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        Observations(space)
    assert "\n" not in str(error.value)


def test_plain_observations_keep_shape_and_scale_of_older_versions():
    found = Observations(spaces.Box(high=1, shape=(64, 64, 3), **BYTES), plain=True)
    assert found.shape == (64, 64, 3) and found.scale == 1 / 255
    with pytest.raises(ValueError, match="must be a Box of numbers with --observations plain, not Discrete"):
        Observations(spaces.Discrete(3), plain=True)


def pipeline_of(*kinds):
    return Pipeline(GymnasiumSource([SyncVectorEnv([kind]) for kind in kinds], seed=3), len(kinds))


def test_every_part_of_an_observation_arrives_in_its_columns():
    pipeline = pipeline_of(Mixed, Mixed)
    layout = pipeline.source.layout
    pipeline.reset()
    for index, slab in enumerate(pipeline.slabs):
        env = Mixed()
        expected, _ = env.reset(seed=3 + index)
        row = slab.host["observation"][0]
        found = {part.name: row[columns].reshape(part.shape)
                 for part, columns in zip(layout.parts, layout.columns(), strict=True)}
        np.testing.assert_array_equal(found["camera"], np.moveaxis(expected["camera"], -1, 0))
        np.testing.assert_array_equal(found["board"], np.moveaxis(expected["board"], -1, 0))
        np.testing.assert_array_equal(found["speed"], expected["speed"])
        np.testing.assert_array_equal(found["bits"], expected["bits"].ravel())
        assert found["place.0"] == expected["place"][0] + 2
        np.testing.assert_array_equal(found["place.1"], expected["place"][1])
        assert slab.host["action_mask"].tolist() == [[1, 0, 1]]
    pipeline.close()


def faulty(space, **wrong):
    """The class of an environment whose first observation after a step is wrong."""
    class Faulty(Sampling):
        observation_space = space

        def _observe(self):
            observation = super()._observe()
            return observation if self.steps == 0 else observation | wrong if wrong else 17
    return Faulty


@pytest.mark.parametrize(("kind", "sentence"), [
    (faulty(spaces.Discrete(16)), r"^environment 1 \(SyncVectorEnv\) returned 17 in its observation, which is not in Discrete"),
    (faulty(spaces.Dict(a=spaces.Discrete(3, start=1)), a=0), "returned 0 as a in its observation, which is not in Discrete"),
    (faulty(MIXED, action_mask=np.zeros(3, np.int8)), "returned an action_mask that allows none of 3 actions"),
])
def test_a_number_outside_of_its_space_ends_the_run_and_names_the_environment(kind, sentence):
    ok = type("Fine", (Sampling,), {"observation_space": kind.observation_space})
    pipeline = pipeline_of(ok, kind)
    pipeline.reset()
    with pytest.raises(EnvironmentFailed, match=sentence):
        for batch in pipeline.batches:
            pipeline.turn(batch, lambda: None)
        pipeline.settle()
    pipeline.close()


def test_a_mask_must_fit_the_actions():
    wrong = type("Wrong", (Mixed,), {"action_space": spaces.Discrete(4)})
    with pytest.raises(ValueError, match=r"action_mask of observations must have one number for each action of Discrete\(4\)"):
        pipeline_of(wrong)
