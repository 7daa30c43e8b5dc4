"""Whole episodes of a policy on a cartridge, and in our game for comparison."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.cartridges import features
from benchmarks.cartridges.agents import LONGEST, check
from benchmarks.cartridges.lockstep import SETTINGS
from benchmarks.transfer.replay import Record, checksum, same_here
from envs_c.catalog import game as game_of
from trainer.config import Config
from trainer.export.graph import StepGraph
from trainer.play import evaluate
from trainer.policy.policy import Policy
from trainer.results.published import more_features

Tick = Callable[[int, int, str], None]  # as of trainer/log/ticker.py


class Played(NamedTuple):
    """Whole episodes."""

    scores: np.ndarray   # (E,)
    lengths: np.ndarray  # (E,) steps
    same: np.ndarray     # (E,) whether our game repeats the cartridge's episode


class Console:
    """A cartridge as an environment: frame skip, no-op start, sticky actions and observations as in training."""

    def __init__(self, cartridge: Any, config: Config, sticky: float, seed: int):
        self.cartridge, self.sticky, self.random = cartridge.restart(), sticky, np.random.default_rng(seed)
        self.skip = config.env.frame_skip or game_of(config.game).frame_skip
        self.held, self.record = 0, Record([], [], False, {})
        self.pixels, self.has_ram = config.env.view == "pixels", config.game.is_cartridge
        if config.env.noop_max:
            for _ in range(int(self.random.integers(1, config.env.noop_max + 1))):
                self.frame(0)
        self.reader = features.reader_of(self.cartridge, config.game, config.env.view, config.env.options)

    def frame(self, action: int) -> float:
        """Play one frame; returns its points."""
        points: float
        points, over = self.cartridge.step(action)
        self.record.actions.append(action)
        self.record.points.append(points)
        self.record = self.record._replace(over=over)
        return points

    def read(self) -> np.ndarray:
        """The observation."""
        seen = self.reader.read()
        if (self.pixels or self.has_ram) and self.record.actions:
            self.record.pictures[len(self.record.actions)] = checksum(self.cartridge.ale.getRAM() if self.has_ram else seen)
        return seen

    def step(self, action: int) -> tuple[float, bool]:
        """Hold an action for the frames of a step; returns the points and whether the game is over."""
        points = 0.0
        for _ in range(self.skip):
            if self.random.random() >= self.sticky:
                self.held = action
            points += self.frame(self.held)
            if self.record.over:
                break
        return points, self.record.over


@cache
def cartridge_of(game: str, place: int) -> Any:
    """The cartridge in this place of a group. Opening one takes as long as a thousand frames, so features share it."""
    return features.open_cartridge(game)


@torch.no_grad()
def play(policy: Policy, config: Config, episodes: int, sticky: float, seed: int = 1, tick: Tick | None = None) -> Played:
    """Play whole episodes on the cartridge, side by side. Raises TrainerError if the game has none."""
    check(config)
    graph = StepGraph(policy)
    shared = cartridge_of.__wrapped__ if config.env.view == "pixels" else cartridge_of  # a restart leaves the last picture
    consoles = [Console(shared(config.game, k), config, sticky, seed + k) for k in range(episodes)]
    torch.manual_seed(seed)
    seen = torch.from_numpy(np.stack([console.read() for console in consoles]))
    _, *memory = graph.zeros(episodes, seen.dtype)
    scores, lengths, running = np.zeros(episodes), np.zeros(episodes, int), np.ones(episodes, bool)
    for step in range(config.env.time_limit or LONGEST):
        if memory:
            memory[0] = torch.full((episodes,), float(step == 0))  # start
        logits, _, *after = graph(seen, *memory)
        memory[1:] = after
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for k in np.flatnonzero(running):
            points, over = consoles[k].step(actions[k])
            scores[k] += points
            lengths[k] += 1
            running[k] = not over
            if not over:
                seen[k] = torch.from_numpy(consoles[k].read())
        if tick:
            tick(episodes - int(running.sum()), episodes, f"have ended, at step {step + 1:,}")
        if not running.any():
            break
    return Played(scores, lengths, same_here(config.game, [console.record for console in consoles]))


def play_here(policy: Policy, config: Config, episodes: int, sticky: float, seed: int, tick: Tick) -> Played:
    """The same in our game."""
    played = evaluate.play(policy, config.game, replace(config.env, sticky=sticky), episodes=episodes, seed=seed, tick=tick)
    return Played(played.returns, played.lengths, np.ones(episodes, bool))


def play_from_its_start(policy: Policy, config: Config, *arguments: Any) -> Played:
    """The same in our game, with the start of the cartridge."""
    start: dict[str, float | str] = {name: float(value) for name, value in SETTINGS.get(config.game, {}).items()}
    start |= more_features(config.env.options)
    return play_here(policy, replace(config, env=replace(config.env, options=start)), *arguments)
