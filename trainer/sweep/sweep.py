"""A sweep: trials with settings drawn by Optuna. Each is a training in a process of its own; trials with low scores are pruned.

The sweep maximizes one number, the mean score of a trial's evaluations, because Optuna prunes only studies with a single
objective. The cost of a trial, its minutes of training, is stored with it; the report shows score against cost. A cost-aware
sweep has both as objectives, and prunes no trial for its score.

Scores are compared at rungs, which are at the same steps in all trials. A trial is pruned if its best score so far is below
the median of the finished trials' scores at the same rung: the median stopping rule (Golovin et al., 2017, "Google Vizier: A
Service for Black-Box Optimization", KDD). A trial has few judgments, and each trial at other rungs, so its last score also
stands at the later rungs. A trial is compared only with a new score, and with a median of at least FEWEST trials.
"""

from typing import Any

import optuna

from envs_c.text import say
from trainer.config import Config
from trainer.config.config import overlay
from trainer.errors import ConfigError
from trainer.process import signals_interrupt
from trainer.runs.folder import refuse_links
from trainer.sweep.folder import claim, end_leftovers, folder_of, made, mark_of, refuse_other
from trainer.sweep.plan import FEWEST, WARM_UP, Plan
from trainer.sweep.report import counts, scored, values_text, write_report
from trainer.sweep.space import draw, values_of
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
from trainer.sweep.trial import Outcome, TrialFailed, run_trial
from trainer.sweep.watch import Watch, over_seeds, pruned


def run_sweep(plan: Plan, name: str, url: str) -> None:
    """Begin, join or resume the sweep `name`: run trials until there are enough, then report them.

    url: the storage.
    Ctrl-C (or SIGTERM, or a closed terminal) ends the running trial, marks it, and raises KeyboardInterrupt.
    Raises SweepError if the storage fails, or if it has another sweep of this name.
    """
    pruner = optuna.pruners.NopPruner()
    if plan.compares:
        pruner = optuna.pruners.MedianPruner(plan.startup, n_warmup_steps=plan.longest // WARM_UP,
                                             n_min_trials=min(FEWEST, plan.startup))
    first = values_of(plan.ranges, plan.base)
    with storage_errors(url):
        with made(plan.folder):
            refuse_links(plan.folder, ".*")
            refuse_other(plan.folder, lambda: find_study(url, name))  # before a study is begun
            study, begun = open_study(open_storage(url), name, facts_of(plan.base, plan.ranges, plan.seeds, plan.cost_aware),
                                      first, pruner=pruner,
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


def _objective(plan: Plan, trial: optuna.Trial) -> float | tuple[float, float]:
    """Run a trial and return its score, and in a cost-aware sweep its minutes.

    Raises TrialPruned or TrialFailed; the trial's attributes have the reason.
    """
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
        config = draw(plan.ranges, trial, plan.base_of_trials)
    except ConfigError as error:
        raise pruned(trial, f"refused: {error}") from None
    trial.set_user_attr("settings", {one.name: getattr(getattr(config, one.section), one.name) for one in plan.ranges}
                        | {"minibatch": config.ppo.minibatch})
    say(f"{label}: {values_text(trial.params | {'minibatch': config.ppo.minibatch})}")
    watch = Watch(plan, trial, config)
    try:
        outcome = over_seeds(_trainings(plan, trial, config, watch))
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
    say(f"{label}: score {scored(outcome.score, outcome.standard_error)} after {watch.minutes:.3g} minutes of training"
        + f", the means of {plan.seeds} seeds" * (plan.seeds > 1))
    return (outcome.score, watch.minutes) if plan.cost_aware else outcome.score


def _trainings(plan: Plan, trial: optuna.Trial, config: Config, watch: Watch) -> list[Outcome]:
    """Run the trainings of a trial, one after another, and return their evaluations. Raises TrialPruned or TrialFailed."""
    outcomes = []
    for number in range(plan.seeds):
        seed = config.run.seed + number
        folder = folder_of(trial.number, plan.folder, seed if plan.seeds > 1 else None)
        trial.set_user_attr("folder", str(folder))
        outcomes.append(run_trial(overlay(config, {"run": {"seed": seed}}), folder, watch, plan.consent,
                                  mark_of(trial.number, trial.study)))
        if plan.seeds > 1:
            say(f"trial {trial.number}: seed {seed}: {scored(*outcomes[-1])}")
        watch.ended(outcomes[-1])
    return outcomes
