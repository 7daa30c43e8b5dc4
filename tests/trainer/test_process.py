"""Memory and signals of the process."""

import os
import resource
import signal

import pytest

from trainer import process
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.training.build import make_session
from trainer.training.train import iterate


@pytest.mark.skipif(not process.can_keep_freed_memory(), reason="this C library has no mallopt")
def test_a_repeated_update_takes_no_fresh_pages():
    session = make_session(Config("breakout", EnvConfig(num_envs=512, num_threads=1), PolicyConfig(precision="float32"),
                                  PPOConfig(horizon=32, minibatch=512 * 32), RunConfig(device="cpu")))
    for _ in range(4):
        iterate(session)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        iterate(session)
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / 2**20
    assert megabytes < 3 * 8  # one of the dozen tensors of hidden states that an update makes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_only_asks_and_the_second_acts_as_before(number):
    seen = []
    before = signal.signal(number, lambda *_: seen.append(number))
    try:
        with process.Interrupt() as interrupt:
            os.kill(os.getpid(), number)
            assert interrupt.asked and not seen
            os.kill(os.getpid(), number)
        assert seen == [number]
    finally:
        signal.signal(number, before)


def test_an_ignored_hangup_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.Interrupt() as interrupt:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupt.asked
    finally:
        signal.signal(signal.SIGHUP, before)
