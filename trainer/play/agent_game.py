"""Watching one environment, played by a policy, step by step at the game's own speed.

envs_c/play/ has the screens, and the games that a person plays.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from bridge import Pipeline, open_device
from bridge.gymnasium_source import GymnasiumSource
from bridge.source import closed_on_error
from envs_c.play.keyboard_game import Ended
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.environments import episode_seed, make_source, rate_of, single
from trainer.errors import FilmError, TrainerError
from trainer.play.replay import draws, make_drawn, picture
from trainer.policy.policy import Policy
from trainer.rollout.actor import Actor, collect
from trainer.rollout.storage import Storage

PAUSE = 1.0  # seconds for the last picture of an episode


def can_show(source: GymnasiumSource) -> bool:
    """True if environments of Gymnasium can be watched: they draw themselves, or their observations are grey pictures."""
    return draws(source) or (len(source.observation_shape) == 2 and source.observation_dtype == "uint8")


def can_watch(game: GameName, env: EnvConfig, source: GymnasiumSource) -> bool:
    """True if the environments of a training of Gymnasium's can be watched.

    source: of the training. It may be a vector environment that draws nothing, while `single` takes an environment by itself.
    """
    if can_show(source) or type(source.envs[0].unwrapped) in (SyncVectorEnv, AsyncVectorEnv):
        return can_show(source)
    with contextlib.suppress(TrainerError):
        alone = single(game, env)
        if alone != env:
            with contextlib.closing(make_source(game, alone, 1, 0)) as one:
                return can_show(one)
    return False


class AgentGame:
    """One environment; `score` and `length` belong to the current episode.

    game: name of the game.
    env: settings of the environment, as in training.
    policy: the player.
    seed: the same seed gives the same episodes.
    greedy: take the most likely action instead of sampling.

    Raises FilmError if the environment has no pictures.
    """

    def __init__(self, game: GameName, env: EnvConfig, policy: Policy, *, seed: int, greedy: bool = False):
        settings = replace(env, num_envs=1, num_batches=1, reward_clip=None, sim="host")
        make = make_drawn if game.is_gym else partial(make_source, num_envs=1)
        source = make(game, single(game, settings), seed=episode_seed(game, seed))
        self.is_gym, self.title, self.source, self.rate = game.is_gym, game.short, source, rate_of(source)
        with closed_on_error(source):
            self._prepare(policy, seed, greedy)

    def _prepare(self, policy: Policy, seed: int, greedy: bool):
        """Make the pipeline, and begin the first episode."""
        source = self.source
        if self.is_gym and not can_show(source):
            raise FilmError(f"{self.title} cannot be watched: it has no render mode rgb_array, and its observations are not "
                            "pictures; `eval` measures its score")
        self.pipeline = Pipeline(source, 1, open_device(str(next(policy.parameters()).device)))
        self.slab = self.pipeline.slabs[0]
        self._actor = Actor(policy, self.pipeline, Storage.empty(1, self.pipeline, policy), seed, greedy=greedy)
        self.score, self.length, self._over = 0.0, 0, False
        self.pipeline.reset()

    def picture(self) -> np.ndarray:
        """The current picture, (height, width, 3) uint8."""
        if draws(self.source):
            return picture(self.source)
        if self.is_gym:
            return np.repeat(self.slab.host["observation"][0][..., None], 3, 2)
        return self.source.env.render(0)

    def step(self) -> Ended | None:
        """Play a step; returns the episode if it ended. The step after an end begins the next episode."""
        collect(self._actor, bootstrap=False)
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


def show(played: AgentGame, screen, *, episodes: int | None = None, speed: float = 1.0,
          clock: Callable[[], float] = time.perf_counter) -> Iterator[Ended]:
    """Play and show an episode after another; yields each episode when it ends.

    played: the environment and its player.
    screen: see envs_c/play/__init__.py.
    episodes: stop after this many; None to go on until the screen is closed.
    speed: multiple of the game's own speed.
    clock: returns the time in seconds.
    """
    period, count, due = 1 / (played.rate * speed), 1, clock()
    while True:
        screen.show(played.picture(), f"{played.title}  episode {count}  score {played.score:g}  step {played.length}")
        due = max(due + period, clock())  # delays are not made up for
        if not screen.wait(due - clock()):
            return
        ended = played.step()
        if ended is None:
            continue
        screen.show(played.picture(), f"{played.title}  episode {count} over  score {ended.score:g}  steps {ended.length}")
        yield ended
        count += 1
        if not screen.wait(PAUSE / speed) or (episodes is not None and count > episodes):
            return
        played.step()  # begins the next episode
        due = clock()
