"""An environment of Gymnasium's that counts its steps. Processes of environments import this file, and no torch."""

import gymnasium
import numpy as np


class Counting(gymnasium.Env):
    """Counts its steps.

    length: steps after which an episode terminates.
    cut: steps after which an episode is truncated.
    fault: number of the step, over all episodes, in which it raises OSError.
    first_action: the smallest action.
    """

    observation_space = gymnasium.spaces.Box(0, 1000, (2,), np.float64)

    def __init__(self, length=5, cut=1000, fault=1000, first_action=0):
        self.length, self.cut, self.fault = length, cut, fault
        self.action_space = gymnasium.spaces.Discrete(3, start=first_action)
        self.total = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(2), {}

    def step(self, action):
        if not self.action_space.contains(action):
            raise ValueError(f"action {action}")
        self.steps, self.total = self.steps + 1, self.total + 1
        if self.total == self.fault:
            raise OSError("the cartridge is hot")
        return np.array([self.steps, action], float), 2.0 * self.steps, self.steps == self.length, self.steps == self.cut, {}
