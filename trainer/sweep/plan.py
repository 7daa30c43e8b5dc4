"""A sweep's plan: what its trials are, how many, and when one is pruned."""

from dataclasses import dataclass
from pathlib import Path

from trainer.config import Config
from trainer.config.config import overlay
from trainer.runs.evaluation import JUDGMENTS
from trainer.sweep.space import Range

RUNGS = JUDGMENTS  # comparisons of the score during a training, at the steps at which it judges its policy
WARM_UP = 5  # the first 1/WARM_UP of a training is never pruned
FEWEST = 5   # finished trials with a score at a rung, or the startup trials if they are fewer, of which a median is taken


@dataclass(frozen=True)
class Plan:
    """A sweep, without its name and storage."""

    base: Config               # common settings of all trials
    ranges: tuple[Range, ...]  # of the other settings
    folder: Path               # for the runs of this process's trials
    trials: int                # of all processes and sessions together
    startup: int               # trials drawn at random; as many must finish before one is pruned
    prune: bool
    minutes: float | None      # of training; a longer trial is pruned
    consent: tuple[str, ...] = ()  # options of the sweep that allow code, for the trials; of no setting that is searched
    seeds: int = 1             # trainings of a trial, with successive seeds
    cost_aware: bool = False   # fewer minutes are an objective, too

    @property
    def compares(self) -> bool:
        """True if trials are pruned by their scores. A cost-aware sweep prunes none: Optuna prunes for a single objective."""
        return self.prune and not self.cost_aware

    @property
    def base_of_trials(self) -> Config:
        """`base` without judgments if no scores are compared: nothing reads them then. A number that the user chose stays."""
        chosen = self.base.run.judge_episodes is not None
        return self.base if self.compares or chosen else overlay(self.base, {"run": {"judge_episodes": 0}})

    @property
    def longest(self) -> int:
        """Steps of the longest trial in the ranges."""
        for one in self.ranges:
            if one.name == "total_steps":
                return int(max(one.choices or (one.high,)))
        return self.base.ppo.total_steps

    @property
    def rung(self) -> int:
        """Steps between two rungs."""
        return max(self.longest // RUNGS, 1)
