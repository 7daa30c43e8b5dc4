"""What a sweep sees of a trial's trainings: their scores, by which a trial is pruned, and their cost."""

from collections.abc import Mapping
from statistics import fmean, median, stdev
from typing import Any

import optuna
from optuna.trial import TrialState

from envs_c.text import say
from trainer.config import Config
from trainer.config.games import find_game
from trainer.runs.evaluation import JUDGED
from trainer.sweep.plan import Plan
from trainer.sweep.trial import Outcome


class Watch:
    """Receives the metrics and the evaluation of each training of a trial, reports their scores, and prunes the trial.

    The first training is compared at the rungs. Its last score stands at each rung until it has another; it is compared only
    at the first of these: later its old score would stand beside newer ones of other trials. With several seeds a trial is then
    compared after each training, by the mean of those that have ended; Optuna knows the end of training k as
    step k * `longest`.
    A cost-aware sweep compares nothing: Optuna prunes only studies with one objective.
    In self-play the scores are those of `strongest`: mean returns there are against a trial's own pool, which grows with it.
    """

    def __init__(self, plan: Plan, trial: optuna.Trial, config: Config):
        self.plan, self.trial = plan, trial
        self.metric = strongest(config) or (JUDGED if config.judges else "score_mean")
        self.rating: float | None = None  # in self-play that of the newest score, which stands in each entry until the next one
        self.scores: list[float] = []    # of the trainings that have ended
        self.costs: list[tuple[float, int]] = []  # minutes and steps of the trainings that have ended
        self.current = (0.0, 0)          # of the one that runs
        self.score: float | None = None  # the newest one
        self.is_new = False              # True if no rung has it yet
        self.rungs = iter(range(plan.rung, config.ppo.total_steps, plan.rung))  # pruning at the last step saves nothing
        self.next = None if plan.cost_aware else next(self.rungs, None)

    def __call__(self, entry: Mapping[str, Any]) -> None:
        """Receive an entry of metrics.jsonl. Raises TrialPruned."""
        self.current = entry["seconds"] / 60, entry["step"]
        if self.plan.minutes is not None and self.current[0] > self.plan.minutes:
            raise pruned(self.trial, f"trained for longer than {self.plan.minutes:g} minutes, to step {entry['step']:,}")
        if entry.get(self.metric) is not None and (self.rating is None or entry.get("rating") != self.rating):
            self.score, self.rating, self.is_new = entry[self.metric], entry.get("rating"), True
        compared = False
        while self.next is not None and entry["step"] >= self.next:
            if self.score is not None:
                self.trial.report(self.score, self.next)
                compared, self.is_new = compared or self.is_new, False
            self.next = next(self.rungs, None)
        if compared and self.trial.should_prune():
            raise pruned(self.trial, f"below the median at step {entry['step']:,}, with a score of {self.score:.4g}")

    def ended(self, outcome: Outcome) -> None:
        """Receive the evaluation of a training that has ended. Raises TrialPruned."""
        self.scores.append(outcome.score)
        self.costs.append(self.current)
        self.next, self.current = None, (0.0, 0)
        count = len(self.scores)
        if count == self.plan.seeds or self.plan.cost_aware:
            return
        self.trial.report(fmean(self.scores), count * self.plan.longest)
        if self.plan.compares and self._is_behind(fmean(self.scores), count * self.plan.longest):
            raise pruned(self.trial, f"below the median after {count} of {self.plan.seeds} seeds, with a score of "
                                     f"{fmean(self.scores):.4g}")

    def _is_behind(self, score: float, step: int) -> bool:
        """True if a mean over seeds is below the median of the finished trials'; a pruner of Optuna takes a trial's best."""
        others = self.trial.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        values = [other.intermediate_values[step] for other in others if step in other.intermediate_values]
        return len(values) >= self.plan.startup and score < median(values)

    @property
    def minutes(self) -> float:
        """Of a training: the mean of those that have ended, or those of the first one so far."""
        return fmean(minutes for minutes, _ in self.costs or [self.current])

    def note_cost(self) -> None:
        """Store the cost of the trial: minutes and steps of a training."""
        self.trial.set_user_attr("minutes", self.minutes)
        self.trial.set_user_attr("steps", (self.costs or [self.current])[-1][1])


def strongest(config: Config) -> str | None:
    """In self-play the metric against the game's strongest opponent, against which a trial is also evaluated; else None.

    It is the share of the points of the newest snapshot's games; without `anchor_games` there is none, and nothing is compared.
    """
    players = None if config.game.is_gym or not config.self_play.self_play else find_game(config.game).two_players
    opponents = [*players.opponents] if players else []  # the weakest first
    return f"win_rate_{opponents[-1]}" if opponents else None


def over_seeds(outcomes: list[Outcome]) -> Outcome:
    """The score of a trial: the mean over its seeds and its standard error, or the only evaluation as it is."""
    if len(outcomes) == 1:
        return outcomes[0]
    scores = [outcome.score for outcome in outcomes]
    return Outcome(fmean(scores), stdev(scores) / len(scores) ** 0.5)


def pruned(trial: optuna.Trial, reason: str) -> optuna.TrialPruned:
    """The exception that prunes a trial; the reason is stored and printed."""
    trial.set_user_attr("reason", reason)
    say(f"trial {trial.number}: pruned: {reason}")
    return optuna.TrialPruned(reason)
