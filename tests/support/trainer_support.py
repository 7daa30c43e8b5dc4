"""Helpers for tests of the trainer."""

import time

import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig

# First observations of episodes in 9 steps of 5 environments, as (t, environment), by name.
STARTS = {
    "never": [],
    "at the first step": [(0, 1)],
    "in the middle": [(4, 1), (4, 2)],
    "at the last step": [(8, 0)],
    "twice": [(2, 3), (6, 3)],
    "at every step": [(t, 2) for t in range(9)],
}

ROLLOUT = 16 * 32  # steps of an iteration of `config`


def config(folder, *, iterations=8, game="cartpole", seed=5, precision="float32", **run) -> Config:
    return Config(game, EnvConfig(num_envs=16, num_threads=1, sticky=0.1, time_limit=60),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision=precision),
                  PPOConfig(horizon=32, minibatch=128, epochs=2, total_steps=iterations * ROLLOUT),
                  RunConfig(**{"seed": seed, "device": "cpu", "dashboard": False, "eval_episodes": 0, "gif": False,
                               "run_dir": str(folder), "checkpoint_seconds": 0.0, **run}))


def same(one: dict, other: dict):
    """Asserts that two dicts of tensors are equal, bit for bit."""
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def wait_for(condition, process, seconds=90):
    """Wait until `condition()` is true; fail if the process ends before."""
    stop = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < stop, "waited too long"
        time.sleep(0.005)
