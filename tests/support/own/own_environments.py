"""Gymnasium environments of the user's own, found by import path, with observations of many kinds."""

import gymnasium
import numpy as np
from gymnasium import spaces

PICTURE = spaces.Box(0, 255, (36, 40, 3), np.uint8)
MIXED = spaces.Dict({
    "camera": PICTURE, "board": spaces.Box(0, 1, (5, 6, 2), np.uint8), "speed": spaces.Box(-np.inf, np.inf, (3,)),
    "place": spaces.Tuple((spaces.Discrete(5, start=-2), spaces.MultiDiscrete([3, 4]))), "bits": spaces.MultiBinary((2, 2)),
    "action_mask": spaces.MultiBinary(3)})


class Sampling(gymnasium.Env):
    """Observations drawn from `observation_space`; episodes of 7 steps. Action 1 is never action_mask, if there is a mask."""

    action_space = spaces.Discrete(3)
    observation_space = MIXED

    def _observe(self):
        observation = self.observation_space.sample()
        if isinstance(observation, dict) and "action_mask" in observation:
            observation["action_mask"][:] = (1, 0, 1) if self.steps < 7 else 0
        return observation

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.steps = 0
        return self._observe(), {}

    def step(self, action):
        if action == 1 and "action_mask" in getattr(self.observation_space, "spaces", ()):
            raise ValueError("action 1 is not action_mask")
        self.steps += 1
        return self._observe(), float(action), self.steps == 7, False, {}


class Mixed(Sampling):
    """A mask and observations of all kinds."""


class Kinds(Sampling):
    observation_space = spaces.Dict(room=spaces.Discrete(300), speed=Sampling.observation_space["speed"])


class Pictures(Sampling):
    observation_space = PICTURE


class Line(Sampling):
    """Discrete observations: the reward is the action if the place is even, and its negative otherwise."""

    observation_space = spaces.Discrete(6)
    action_space = spaces.Discrete(2)

    def __init__(self, length=7, name="line", loud=False):
        if not isinstance(length, int) or not isinstance(name, str):
            raise KeyError(name)
        self.length, self.name, self.loud = length, name, loud

    def step(self, action):
        reward = float(action) if self.at % 2 == 0 else -float(action)
        self.steps += 1
        return self._observe(), reward, self.steps == self.length, False, {}

    def _observe(self):
        self.at = int(self.np_random.integers(6))
        return self.at


class Sized(Line):
    """A Line that must be told its length."""

    def __init__(self, size):
        super().__init__(size)


def short(env):
    """A wrapper that ends episodes after 3 steps."""
    return gymnasium.wrappers.TimeLimit(env, 3)


def nothing(env):
    """No wrapper."""


NUMBER = 3
