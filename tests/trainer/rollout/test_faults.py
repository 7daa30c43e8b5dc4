"""The first number of a rollout that is not finite is found in the sample of raw observations, too, with its step."""

import math

import pytest

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.rollout.actor import collect
from trainer.rollout.faults import first_fault
from trainer.training.build import make_session


@pytest.mark.parametrize(("horizon", "rows", "step"), [(16, [0], 16), (16, [3], 7), (20, [4], 9), (5, [2], 2), (5, [0], 5),
                                                       (16, [0, 3, 5], 7), (5, [0, 4], 4)])
def test_a_row_of_the_sample_stands_for_the_last_step_that_it_holds(horizon, rows, step):
    """The first row is written again after the last one, so it may hold a later step than the others."""
    session = make_session(Config("cartpole", EnvConfig(num_envs=4, num_threads=1),
                                  PolicyConfig(encoder_size=8, lstm_size=8, precision="float32", normalize_observations=True),
                                  PPOConfig(horizon=horizon, minibatch=4 * horizon), RunConfig(device="cpu")))
    collect(session.actor)
    assert first_fault(session.storage, 100, 8) is None
    session.storage.sample[rows, 1, 2] = math.inf
    assert first_fault(session.storage, 100, 8) == (100 + step, 9, "observation", math.inf)
