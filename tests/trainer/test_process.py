"""What a training frees stays with the process."""

import resource

import pytest

from trainer import process
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.training.session import Session
from trainer.training.train import iterate


@pytest.mark.skipif(not process.can_keep_freed_memory(), reason="this C library has no mallopt")
def test_an_update_takes_no_fresh_pages_once_it_has_been_done_before():
    session = Session(Config("breakout", EnvConfig(num_envs=512, num_threads=1), PolicyConfig(precision="float32"),
                             PPOConfig(horizon=32, minibatch=512 * 32), RunConfig(device="cpu")))
    for _ in range(4):
        iterate(session)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        iterate(session)
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / 2**20
    assert megabytes < 3 * 8  # one of the update's tensors of hidden states, of which it makes a dozen
