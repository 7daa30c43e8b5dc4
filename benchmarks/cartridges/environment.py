"""A cartridge as an environment of Gymnasium, with the features of our game: `gym:benchmarks.cartridges.environment:Cartridge`.

    python -m trainer gym:benchmarks.cartridges.environment:Cartridge --options game=pong
"""

import gymnasium
import numpy as np
from gymnasium import spaces

from benchmarks.cartridges.agents import LONGEST
from benchmarks.cartridges.features import Observer, open_cartridge
from envs_c.catalog import game as game_of


class Cartridge(gymnasium.Env):
    """One cartridge under ale-py. Observations are the features of our game, read from RAM; actions are those of our game.

    game: one of our games after cartridges.
    frame_skip: frames of a step; None for our game's.
    noop_max: an episode begins with 1 to so many frames of NOOP, or with none if it is 0.
    time_limit: steps after which an episode is truncated.
    """

    def __init__(self, game: str = "breakout", frame_skip: int | None = None, noop_max: int = 30, time_limit: int = LONGEST):
        self.cartridge = open_cartridge(game)
        self.observer = Observer(self.cartridge, game)
        self.frame_skip, self.noop_max, self.time_limit = frame_skip or game_of(game).frame_skip, noop_max, time_limit
        self.observation_space = spaces.Box(-np.inf, np.inf, self.observer.features.shape[1:], np.float32)
        self.action_space = spaces.Discrete(len(self.cartridge.actions))
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self.cartridge.restart()
        for _ in range(int(self.np_random.integers(1, self.noop_max + 1)) if self.noop_max else 0):
            self.cartridge.step(0)
        self.steps = 0
        return self.observer.read(), {}

    def step(self, action):
        points, over = 0.0, False
        for _ in range(self.frame_skip):
            reward, over = self.cartridge.step(int(action))
            points += reward
            if over:
                break
        self.steps += 1
        observation = self.observer.features[0].copy() if over else self.observer.read()  # the last state may be none of ours
        return observation, points, over, not over and self.steps >= self.time_limit, {}
