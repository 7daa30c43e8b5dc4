"""A Gymnasium environment for tests, which records its life and fails on request.

Toy.made has every Toy since `register` (the fixture `toys` in the tests that use it), the closed ones too.
"""

import contextlib

import gymnasium
import numpy as np

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.games import GameName

GAME = GameName("gym:Toy-v0")


class Toy(gymnasium.Env):
    """Random observations, rewards of 1; an episode ends after `length` steps.

    nan, infinite, reward: number of the step, counted from 1 over all episodes, whose observation is nan or -inf, or whose
        reward is nan; nan=0 is the reset.
    fault: number of the step that raises OSError; 0 is the reset.
    refused: the number, counted from 0, of the Toy that cannot be made.
    """

    made: "list[Toy]" = []
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, length=5, nan=None, infinite=None, reward=None, fault=None, refused=None, close_fails=0):
        if refused == len(self.made):
            raise OSError("the cartridge does not fit")
        self.length, self.nan, self.infinite, self.reward, self.fault = length, nan, infinite, reward, fault
        self.close_fails = close_fails
        self.taken = self.closed = 0  # steps; calls of close
        self.seeds: list[int] = []    # of the resets with a seed
        self.made.append(self)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.fault == 0:
            raise OSError("the cartridge is hot")
        self.seeds += [] if seed is None else [seed]
        self.steps = 0
        return np.array([np.nan, 0.0]) if self.nan == 0 else self.np_random.normal(size=2), {}

    def step(self, action):
        self.steps, self.taken = self.steps + 1, self.taken + 1
        if self.taken == self.fault:
            raise OSError("the cartridge is hot")
        observation = self.np_random.normal(size=2)
        if self.taken in (self.nan, self.infinite):
            observation[1] = np.nan if self.taken == self.nan else -np.inf
        return observation, np.nan if self.taken == self.reward else 1.0, self.steps == self.length, False, {}

    def close(self):
        self.closed += 1
        if self.close_fails:
            raise OSError("the door is stuck")


@contextlib.contextmanager
def registered():
    """Toy-v0 is registered in this context; yields Toy.made, which is empty at first."""
    Toy.made.clear()
    gymnasium.register("Toy-v0", entry_point=Toy)
    yield Toy.made
    gymnasium.registry.pop("Toy-v0")


def config(folder, *, options=None, policy=None, ppo=None, **run) -> Config:
    """A small run of Toys."""
    return Config(GAME, EnvConfig(num_envs=4, num_threads=1, num_batches=2, options=options or {}),
                  PolicyConfig(**{"encoder_size": 8, "lstm_size": 8, "precision": "float32", **(policy or {})}),
                  PPOConfig(**{"horizon": 8, "minibatch": 32, "total_steps": 128, **(ppo or {})}),
                  RunConfig(**{"run_dir": str(folder), "device": "cpu", "dashboard": False, "eval_episodes": 0, "gif": False,
                               **run}))
