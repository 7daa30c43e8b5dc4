"""Judging a policy during its training: the scores that pick `best.safetensors` and prune the trials of a sweep.

The recent episodes of a training do not do: environments side by side that began together end their short episodes first, so
their mean is too low, and the more so the longer a good policy plays. Here each of some environments plays one whole episode,
as in an evaluation: with sampled actions, the environment's settings, and seeds that training and evaluation do not have.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from trainer.config import Config
from trainer.config.sections import SEEDS
from trainer.play import evaluate
from trainer.policy.policy import Policy
from trainer.runs.evaluation import JUDGMENTS

SHARE = 40       # of the training's steps, one in so many is spent on judgments, and those of the one at the end
PART = 8         # an episode ends when a judgment could have had one in so many of the training's steps so far,
SHORTEST = 100   # but not before it has had this many steps
SEED = 1 << 61   # added to the run's seed


class Stopped(Exception):
    """A judgment was stopped before its end."""


@dataclass
class Judge:
    """Judges a policy at up to JUDGMENTS steps of a training, evenly spread, and at its end.

    spent: environment steps of all judgments so far.
    last: environment steps of the last one.
    mean, step: the mean raw return of the last judgment, and the training's step.
    score: the same mean, or None if an episode was truncated at `longest`: in games that take points away it is too high.
    """

    config: Config
    spent: int = 0
    last: int = 0
    mean: float = 0.0
    score: float | None = None
    step: int = -1

    def is_due(self, step: int, lengths: Sequence[int], episodes: int) -> bool:
        """True if a judgment is due after an iteration that ended at `step`.

        It decides by steps and episodes, never by a clock, so all ranks agree.

        lengths: of the training's recent episodes. None is due before the end if one of these would be truncated.
        episodes: of the training that have ended.
        """
        if not self.config.judges:
            return False
        config, rollout = self.config, self.config.batch_steps
        if self._ends(step):
            return True
        interval = max(config.ppo.total_steps // JUDGMENTS, 1)
        if not lengths or step // interval == (step - rollout) // interval:
            return False
        expected = self._expected(step, lengths, episodes)
        return SHARE * (self.spent + expected) <= step and self._is_whole(lengths, self.longest(step))

    def _expected(self, step: int, lengths: Sequence[int], episodes: int) -> float:
        """Environment steps of a judgment at `step`, by the recent episodes and by the last judgment.

        The recent episodes favour short ones while environments that began together play their first. The mean length over the
        whole training, in which a running episode counts as half of one, does not.
        """
        overall = step / (episodes + self.config.env.num_envs / 2)
        return max(self.config.judges * max(sum(lengths) / len(lengths), overall), self.last)

    def longest(self, step: int) -> int:
        """Steps after which an episode of a judgment at `step` is truncated: some games have no end."""
        return min(max(step // PART // self.config.judges, SHORTEST), evaluate.LONGEST)

    def judge(self, policy: Policy, step: int, stop: Callable[[], bool] = lambda: False) -> float | None:
        """Play the episodes; returns their mean raw return, as `score` says, or None if `stop` returned True before their end.

        stop: called after each step.
        Raises ConfigError if an environment does not end its episode.
        """
        config, run = self.config, self.config.run
        env, longest = replace(config.env, num_threads=torch.get_num_threads()), self.longest(step)
        try:
            played = evaluate.play(policy, config.game, env, episodes=config.judges, seed=(run.seed + SEED) % SEEDS,
                                   longest=longest, tick=lambda *_: _go_on(stop))
        except Stopped:
            return None
        self.last = int(played.lengths.sum())
        self.spent += self.last
        self.step, self.mean = step, float(played.returns.mean())
        self.score = self.mean if self._is_whole(played.lengths.tolist(), longest) else None
        return self.score

    def _is_whole(self, lengths: Sequence[int], longest: int) -> bool:
        """True if no episode of these lengths is truncated at `longest`. A game of Gymnasium is never truncated."""
        limit = self.config.env.time_limit or evaluate.LONGEST
        return self.config.game.is_gym or longest >= limit or max(lengths) < longest

    def state(self) -> list[int]:
        """Numbers for a checkpoint."""
        return [self.spent, self.last]

    def restore(self, state: list[int]) -> None:
        """Take the result of `state`."""
        self.spent, self.last = state

    def score_at(self, step: int) -> float | None:
        """The score of a judgment at `step`, or None."""
        return self.score if self.step == step else None

    def stands_in(self, step: int) -> float | None:
        """What the policy of `step` counts as, if its judgment has no score; None if it has one, or if there was no judgment.

        Before the end of the training: less than any score. At the end: the mean of the truncated episodes. So a short
        training, whose later episodes are too long to be judged, keeps its last policy and not one of its first.
        """
        if self.step != step or self.score is not None:
            return None
        return self.mean if self._ends(step) else -math.inf

    def _ends(self, step: int) -> bool:
        """True if the training ends at `step`."""
        end = self.config.num_iterations * self.config.batch_steps
        return step >= min(end, self.config.run.stop_at or end)


def _go_on(stop: Callable[[], bool]) -> None:
    if stop():
        raise Stopped
