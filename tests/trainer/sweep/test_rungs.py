"""The scores that a trial reports at its rungs, by which others are pruned."""

import optuna
import pytest
from optuna.trial import TrialState, create_trial
from sweep_support import BASE as SMALL

from trainer.config import Config
from trainer.config.config import overlay
from trainer.sweep.plan import Plan
from trainer.sweep.space import parse_space
from trainer.sweep.trial import Outcome
from trainer.sweep.watch import Watch

BASE = overlay(Config("cartpole"), {"ppo": {"total_steps": 10_000}})
SPACE = parse_space({"ppo": {"learning_rate": {"low": 0.001, "high": 0.1}}})


def watched(folder, study) -> Watch:
    """Of a new trial, with rungs 500 steps apart."""
    return Watch(Plan(BASE, SPACE, folder, trials=1, startup=1, prune=True, minutes=None), study.ask(), BASE)


def test_a_score_stands_at_each_rung_until_there_is_another(tmp_path):
    """A judgment belongs to the rungs that its iteration has passed."""
    study = optuna.create_study(direction="maximize")
    watch = watched(tmp_path, study)
    for step, score in ((200, 1.0), (400, 2.0), (600, None), (1000, None), (2000, 3.0), (3000, None)):
        watch({"step": step, "seconds": 1.0, "score_judged": score})
    assert study.trials[0].intermediate_values == {500: 2.0, 1000: 2.0, 1500: 3.0, 2000: 3.0, 2500: 3.0, 3000: 3.0}


def test_a_trial_is_compared_when_it_has_a_new_score(tmp_path):
    """Its old one says less about it than the others' newer ones about them."""
    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner(1))
    study.add_trial(create_trial(value=1.0, intermediate_values={500: 1.0, 1000: 10.0, 1500: 10.0}))
    watch = watched(tmp_path, study)
    watch({"step": 500, "seconds": 1.0, "score_judged": 5.0})
    watch({"step": 1000, "seconds": 1.0, "score_judged": None})
    with pytest.raises(optuna.TrialPruned, match="below the median at step 1,500, with a score of 6"):
        watch({"step": 1500, "seconds": 1.0, "score_judged": 6.0})


@pytest.mark.parametrize(("startup", "step"), [(6, 8000), (5, 8000), (3, 6000)])
def test_a_median_is_of_five_finished_trials_or_of_the_startup_ones_if_they_are_fewer(sweep, startup, step):
    """Trial k < 7 is judged first after k + 4 thousand steps; a later one, which is behind them all, after each thousand.

    step: at which the later one is pruned. The trials 0 to 4 have scores at 8,000 steps, and 0 to 2 at 6,000.
    """
    numbers = iter(range(8))

    def trial(config, folder, watch):
        number = next(numbers)
        for k in range(1, 11):
            watch({"step": k * 1000, "seconds": 1.0, "score_judged": 0.0 if number == 7 else 9.0 if k >= number + 4 else None})
        return Outcome(9.0, 1.0)
    last = sweep(8, trial=trial, prune=True, startup=startup).trials[7]
    assert last.state == TrialState.PRUNED and f"at step {step:,}," in last.user_attrs["reason"]


@pytest.mark.parametrize(("episodes", "options", "judged"), [
    (None, {"prune": True}, None), (None, {"prune": False}, 0), (None, {"prune": True, "cost_aware": True}, 0),
    (8, {"prune": False}, 8)])
def test_trials_are_judged_if_their_scores_are_compared_or_if_the_user_says_so(sweep, episodes, options, judged):
    seen = []

    def trial(config, folder, watch):
        seen.append(config.run.judge_episodes)
        watch({"step": 10_000, "seconds": 1.0})
        return Outcome(1.0, 1.0)
    sweep(1, trial=trial, base=overlay(SMALL, {"run": {"judge_episodes": episodes}}), **options)
    assert seen == [judged]
