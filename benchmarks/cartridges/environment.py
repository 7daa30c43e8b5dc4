"""A cartridge as an environment of Gymnasium, with the features of our game: `gym:benchmarks.cartridges.environment:Cartridge`.

    python -m trainer gym:benchmarks.cartridges.environment:Cartridge --options game=pong

`Ours` is our game as the same environment, frame by frame: for the same seeds and actions, both give the same.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from benchmarks.cartridges.agents import LONGEST
from benchmarks.cartridges.features import Observer, open_cartridge
from benchmarks.cartridges.lockstep import twin_of
from envs_c.catalog import game as game_of


class Cartridge(gymnasium.Env):
    """One cartridge under ale-py. Observations are the features of our game, read from RAM; actions are those of our game.

    game: one of our games after cartridges.
    frame_skip: frames of a step; None for our game's.
    noop_max: an episode begins with 1 to so many frames of NOOP, or with none if it is 0.
    time_limit: steps after which an episode is truncated.
    """

    def __init__(self, game: str = "breakout", frame_skip: int | None = None, noop_max: int = 30, time_limit: int = LONGEST):
        self.frame_skip, self.noop_max, self.time_limit = frame_skip or game_of(game).frame_skip, noop_max, time_limit
        self.machine, self.reader, actions = self.open(game)
        self.seen = np.zeros(game_of(game).feature_shape, np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, self.seen.shape, np.float32)
        self.action_space = spaces.Discrete(actions)
        self.steps = 0

    def open(self, game: str) -> tuple[Any, Any, int]:
        """The machine, which has `restart` and `step`; the reader of its features, which has `read`; the number of actions."""
        cartridge = open_cartridge(game)
        return cartridge, Observer(cartridge, game), len(cartridge.actions)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self.machine.restart()
        for _ in range(int(self.np_random.integers(1, self.noop_max + 1)) if self.noop_max else 0):
            self.machine.step(0)
        self.steps = 0
        self.seen = self.reader.read()
        return self.seen, {}

    def step(self, action):
        points, over = 0.0, False
        for _ in range(self.frame_skip):
            reward, over = self.machine.step(int(action))
            points += float(reward)
            if over:
                break
        self.steps += 1
        if not over:  # the cartridge's last state may be none of ours
            self.seen = self.reader.read()
        return self.seen, points, bool(over), not over and self.steps >= self.time_limit, {}


class Ours(Cartridge):
    """Our game as the same environment. It starts as the cartridge does."""

    def open(self, game: str) -> tuple[Any, Any, int]:
        machine = OurMachine(game)
        reader = Observer(machine.twin, game) if hasattr(machine.twin, "state") else machine
        return machine, reader, len(game_of(game).actions)


class OurMachine:
    """Our game with the interface of a cartridge and of its reader."""

    def __init__(self, game: str):
        self.twin = twin_of(game, time_limit=0)
        self.start = self.twin.env.get_state()

    def restart(self):
        """Go back to the start."""
        self.twin.seen = self.twin.env.set_state(self.start)[0]

    def step(self, action: int):
        """Play one frame; returns its reward and whether the game is over."""
        return self.twin.step(action)

    def read(self) -> np.ndarray:
        """The features, (F,) float32."""
        return self.twin.seen
