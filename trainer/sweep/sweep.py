"""A sweep: trials with settings drawn by Optuna. Each is a training in a process of its own; trials with low scores are pruned.

The sweep maximizes one number, the mean score of a trial's evaluation, because Optuna prunes only studies with a single
objective. The cost of a trial, its minutes of training, is stored with it; the report shows score against cost.

Scores are compared at rungs, which are at the same steps in all trials. A trial is pruned if its best score so far is below
the median of the finished trials' scores at the same rung: the median stopping rule (Golovin et al., 2017, "Google Vizier: A
Service for Black-Box Optimization", KDD).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna

from envs_c.text import say
from trainer.config import Config
from trainer.errors import ConfigError
from trainer.process import signals_interrupt
from trainer.runs.evaluation import JUDGED, JUDGMENTS
from trainer.runs.folder import refuse_links
from trainer.sweep.folder import claim, end_leftovers, folder_of, made, mark_of, refuse_other
from trainer.sweep.report import counts, scored, values_text, write_report
from trainer.sweep.space import Range, draw, values_of
from trainer.sweep.storage import open_storage, storage_errors
from trainer.sweep.study import (
    SeededByTrial,
    counted,
    facts_of,
    fail_the_dead,
    find_study,
    offer_first,
    offered_twice,
    open_study,
    this_process,
)
from trainer.sweep.trial import TrialFailed, run_trial

RUNGS = JUDGMENTS  # comparisons of the score during a training, at the steps at which it judges its policy
WARM_UP = 5  # the first 1/WARM_UP of a training is never pruned


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


def run_sweep(plan: Plan, name: str, url: str) -> None:
    """Begin, join or resume the sweep `name`: run trials until there are enough, then report them.

    url: the storage.
    Ctrl-C (or SIGTERM, or a closed terminal) ends the running trial, marks it, and raises KeyboardInterrupt.
    Raises SweepError if the storage fails, or if it has another sweep of this name.
    """
    pruner = optuna.pruners.NopPruner()
    if plan.prune:
        pruner = optuna.pruners.MedianPruner(plan.startup, n_warmup_steps=plan.longest // WARM_UP)
    first = values_of(plan.ranges, plan.base)
    with storage_errors(url):
        with made(plan.folder):
            refuse_links(plan.folder, ".*")
            refuse_other(plan.folder, lambda: find_study(url, name))  # before a study is begun
            study, begun = open_study(open_storage(url), name, facts_of(plan.base, plan.ranges), first, pruner=pruner,
                                      sampler=SeededByTrial(plan.base.run.seed, plan.startup))
            claim(plan.folder, study, url)
        say(f"sweep {name}: {_opening(study, plan, begun, first)}")
        try:
            with signals_interrupt():
                _run_trials(study, plan, first)
        except KeyboardInterrupt:
            say(f"sweep {name}: stopped ({counts(study)}); the same command continues it")
            raise
        say(f"sweep {name}: {counts(study)}")
        write_report(study, plan.folder)


def _run_trials(study: optuna.Study, plan: Plan, first: dict[str, Any] | None) -> None:
    """Run trials until there are enough, including those of other processes. first: as for `offer_first`."""
    while True:
        for number in end_leftovers(plan.folder, study):
            say(f"trial {number}: ended; a killed sweep had left its training over")
        fail_the_dead(study)
        if len(counted(study)) >= plan.trials:
            return
        offer_first(study, first)
        study.optimize(lambda trial: _objective(plan, trial), n_trials=1, catch=(TrialFailed,))


def _opening(study: optuna.Study, plan: Plan, begun: bool, first: dict[str, Any] | None) -> str:
    """A line for the start of a session."""
    if not begun:
        return f"continuing in {plan.folder}, with {len(counted(study))} of {plan.trials} trials done"
    baseline = "the first uses the preset's settings" if first else "the ranges do not contain the preset's settings"
    return f"{plan.trials} trial{'s' * (plan.trials > 1)} of {plan.base.game} in {plan.folder}; {baseline}"


def _objective(plan: Plan, trial: optuna.Trial) -> float:
    """Run a trial and return its score. Raises TrialPruned or TrialFailed; the trial's attributes have the reason."""
    for key, value in this_process().items():
        trial.set_user_attr(key, value)
    if sum(other.number < trial.number for other in counted(trial.study)) >= plan.trials:
        trial.set_user_attr("reason", "one trial too many: another process began the last one")
        raise TrialFailed
    if offered_twice(trial):
        trial.set_user_attr("reason", "another process began the trial with these values")
        raise TrialFailed
    label = f"trial {trial.number}"
    try:
        config = draw(plan.ranges, trial, plan.base)
    except ConfigError as error:
        raise _pruned(trial, f"refused: {error}") from None
    folder = folder_of(trial.number, plan.folder)
    trial.set_user_attr("folder", str(folder))
    trial.set_user_attr("settings", {one.name: getattr(getattr(config, one.section), one.name) for one in plan.ranges}
                        | {"minibatch": config.ppo.minibatch})
    say(f"{label}: {values_text(trial.params | {'minibatch': config.ppo.minibatch})}")
    watch = _Watch(plan, trial, config)
    try:
        outcome = run_trial(config, folder, watch, plan.consent, mark_of(trial.number, trial.study))
    except TrialFailed as failure:
        trial.set_user_attr("failed", str(failure))
        say(f"{label}: failed: {failure}")
        raise
    except KeyboardInterrupt:
        trial.set_user_attr("reason", "interrupted")
        say(f"{label}: interrupted")
        raise
    finally:
        watch.note_cost()
    trial.set_user_attr("standard_error", outcome.standard_error)
    say(f"{label}: score {scored(outcome.score, outcome.standard_error)} after {watch.minutes:.3g} minutes of training")
    return outcome.score


class _Watch:
    """Receives the metrics of a trial, reports its score at the rungs, and prunes it."""

    def __init__(self, plan: Plan, trial: optuna.Trial, config: Config):
        self.plan, self.trial, total_steps = plan, trial, config.ppo.total_steps
        self.metric = JUDGED if config.judges else "score_mean"
        self.score: float | None = None  # since the last rung
        self.rungs = iter(range(plan.rung, total_steps, plan.rung))  # without the last step, since pruning there saves nothing
        self.next = next(self.rungs, None)
        self.step, self.minutes = 0, 0.0

    def __call__(self, entry: dict[str, Any]) -> None:
        self.step, self.minutes = entry["step"], entry["seconds"] / 60
        if self.plan.minutes is not None and self.minutes > self.plan.minutes:
            raise _pruned(self.trial, f"trained for longer than {self.plan.minutes:g} minutes, to step {self.step:,}")
        self.score = entry.get(self.metric) if entry.get(self.metric) is not None else self.score
        crossed, score = False, self.score
        while self.next is not None and self.step >= self.next:
            if score is not None:
                self.trial.report(score, self.next)
                crossed, self.score = True, None
            self.next = next(self.rungs, None)
        if crossed and self.trial.should_prune():
            raise _pruned(self.trial, f"below the median at step {self.step:,}, with a score of {score:.4g}")

    def note_cost(self) -> None:
        """Store the cost of the trial."""
        self.trial.set_user_attr("minutes", self.minutes)
        self.trial.set_user_attr("steps", self.step)


def _pruned(trial: optuna.Trial, reason: str) -> optuna.TrialPruned:
    """The exception that prunes a trial; the reason is stored and printed."""
    trial.set_user_attr("reason", reason)
    say(f"trial {trial.number}: pruned: {reason}")
    return optuna.TrialPruned(reason)
