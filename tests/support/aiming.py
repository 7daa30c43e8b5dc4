"""Environments for tests, with each kind of actions: the reward is highest for the action that the observation names."""

import contextlib

import gymnasium
import numpy as np
from gymnasium import spaces

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig

KINDS = {
    "Choices": spaces.MultiDiscrete([3, 2], start=[1, 0]),
    "Numbers": spaces.Box(np.array([-2, 0], np.float32), np.array([2, 10], np.float32)),
}


class Aiming(gymnasium.Env):
    """An episode has 10 steps. The observation is 0 or 1; the right action is the lowest or the highest one of the space.

    kind: a name in KINDS.
    """

    observation_space = spaces.Box(0, 1, (1,), np.float32)

    def __init__(self, kind):
        self.action_space = KINDS[kind]

    def _observe(self):
        self.goal = int(self.np_random.integers(2))
        return np.array([self.goal], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._observe(), {}

    def step(self, action):
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is not in {self.action_space}")
        space = self.action_space
        box = isinstance(space, spaces.Box)
        low, high = (space.low, space.high) if box else (space.start, space.start + space.nvec - 1)
        wanted = high if self.goal else low
        self.steps += 1
        return self._observe(), float(-(np.abs(action - wanted) / (high - low)).mean()), self.steps == 10, False, {}


@contextlib.contextmanager
def registered():
    """gym:Choices-v0 and gym:Numbers-v0 exist in this context."""
    for kind in KINDS:
        gymnasium.register(f"{kind}-v0", entry_point=Aiming, kwargs={"kind": kind})
    yield
    for kind in KINDS:
        gymnasium.registry.pop(f"{kind}-v0")


def config(folder, kind, *, iterations=4, policy=None, **run) -> Config:
    """A small run."""
    return Config(f"gym:{kind}-v0", EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(**{"memory": "none", "encoder_size": 16, "lstm_size": 16, "precision": "float32",
                                  **(policy or {})}),
                  PPOConfig(horizon=32, minibatch=64, epochs=4, total_steps=iterations * 256, learning_rate=0.01),
                  RunConfig(**{"run_dir": str(folder), "device": "cpu", "dashboard": False, "eval_episodes": 0, "gif": False,
                               "checkpoint_seconds": 0.0, **run}))
