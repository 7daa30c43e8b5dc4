"""Watching: one environment that a policy or a person plays, shown step by step at the game's own speed.

A screen is a window (trainer/play/window.py) or the terminal (trainer/play/terminal.py): a context manager with

    show(picture, caption)    show a picture (height, width, 3) uint8 with a line of text;
    wait(seconds)             let that time pass; False once whoever watches has had enough.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bridge import Pipeline, open_device
from trainer.config import Config
from trainer.config.config import GYM
from trainer.environments import make_source
from trainer.errors import RunError
from trainer.play import film
from trainer.play.evaluate import episode_seed
from trainer.policy.policy import Policy
from trainer.rollout.actor import Actor, Storage, collect
from trainer.runs.find import short_name

PAUSE = 1.0  # seconds that an episode's last picture stays


class Ended(NamedTuple):
    """An episode that was watched to its end."""

    score: float  # raw
    length: int   # steps


class Watched:
    """One environment of a run, as it was trained in; `score` and `length` are those of the episode under way.

    policy: who plays; None for a person, whose actions are set as `chosen`.

    Raises RunError where the environment shows no pictures.
    """

    def __init__(self, config: Config, policy: Policy | None, *, seed: int, greedy: bool = False):
        settings = replace(config.env, num_envs=1, num_batches=1, reward_clip=None, sim="host")
        source = make_source(config.game, settings, 1, episode_seed(config.game, seed))
        self.foreign = config.game.startswith(GYM)
        if self.foreign and (len(source.observation_shape) != 2 or source.observation_dtype != "uint8"):
            raise RunError(f"{config.game} cannot be watched: its observations are no pictures; eval tells how it plays")
        self.title, self.source, self.rate, self.chosen = short_name(config.game), source, film.rate_of(source), 0
        device = config.run.device if policy is None else str(next(policy.parameters()).device)
        self.pipeline = Pipeline(source, 1, open_device(device))
        self.slab = self.pipeline.slabs[0]
        if policy is None:
            self._turn = partial(self.pipeline.turn, self.pipeline.batches[0], self._press)
        else:
            actor = Actor(policy, self.pipeline, Storage.empty(1, self.pipeline, policy), seed, greedy=greedy)
            self._turn = partial(collect, actor, bootstrap=False)
        self.score, self.length, self._over = 0.0, 0, False
        self.pipeline.reset()

    def picture(self) -> np.ndarray:
        """What it shows now, (height, width, 3) uint8."""
        if self.foreign:
            return np.repeat(self.slab.host["observation"][0][..., None], 3, 2)
        return self.source.env.render(0)

    def step(self) -> Ended | None:
        """Play a step; what ended with it. The step after an end begins the next episode."""
        self._turn()
        self.pipeline.settle()
        if self._over:
            self.score, self.length, self._over = 0.0, 0, False
            return None
        self.score += float(self.slab.host["reward"][0])
        self.length += 1
        episodes = self.pipeline.take_episodes()
        self._over = len(episodes.returns) > 0
        return Ended(float(episodes.returns[0]), int(episodes.lengths[0])) if self._over else None

    def close(self):
        self.pipeline.close()

    def _press(self):
        self.slab.actions.fill_(self.chosen)


def watch(watched: Watched, screen, *, episodes: int | None = None, speed: float = 1.0,
          choose: Callable[[], int | None] | None = None, clock: Callable[[], float] = time.perf_counter) -> Iterator[Ended]:
    """Show `watched` on `screen`; gives the episodes as they end, so many of them or until the screen is closed.

    speed: times the game's own. choose: the person's action; None while there is none, and the game waits for one.
    """
    period, count, due = 1 / (watched.rate * speed), 1, clock()
    while True:
        screen.show(watched.picture(), f"{watched.title}  episode {count}  score {watched.score:g}  step {watched.length}")
        due = max(due + period, clock())  # what came late is not made up for
        if not screen.wait(due - clock()):
            return
        if choose is not None:
            watched.chosen = choose()
            if watched.chosen is None:
                continue
        ended = watched.step()
        if ended is None:
            continue
        screen.show(watched.picture(), f"{watched.title}  episode {count} over  score {ended.score:g}  steps {ended.length}")
        yield ended
        count += 1
        if not screen.wait(PAUSE / speed) or (episodes is not None and count > episodes):
            return
        watched.chosen = 0
        watched.step()  # begins the next
        due = clock()
