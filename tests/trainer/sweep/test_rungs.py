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


SELF_PLAY = overlay(Config("go"), {"self_play": {"self_play": True}})


def watched(folder, study, config=BASE) -> Watch:
    """Of a new trial, with rungs 500 steps apart."""
    return Watch(Plan(BASE, SPACE, folder, trials=1, startup=1, prune=True, minutes=None), study.ask(), config)


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


def test_trials_of_self_play_are_compared_by_their_games_against_the_strongest_opponent(tmp_path):
    """Only when a snapshot is rated: its result stands in each entry until the next one."""
    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner(1))
    study.add_trial(create_trial(value=1.0, intermediate_values={500: 0.1, 1000: 0.9, 1500: 0.5, 2000: 0.9}))
    watch = watched(tmp_path, study, SELF_PLAY)
    for step, rating, rate in ((500, -100.0, 0.25), (1000, -100.0, 0.25), (1500, 300.0, 0.5)):
        watch({"step": step, "seconds": 1.0, "score_mean": -0.9, "win_rate_random": 0.0, "win_rate_greedy": rate,
               "rating": rating})
    assert study.trials[1].intermediate_values == {500: 0.25, 1000: 0.25, 1500: 0.5}
    # the same score, of another snapshot
    with pytest.raises(optuna.TrialPruned, match=r"below the median at step 2,000, with a score of 0\.5"):
        watch({"step": 2000, "seconds": 1.0, "score_mean": 0.9, "win_rate_greedy": 0.5, "rating": 301.0})


@pytest.mark.parametrize("game", ["go", "cartpole", "gym:CartPole-v1"])
def test_trials_of_self_play_without_games_against_an_opponent_are_not_compared(tmp_path, game):
    """Those of a game for one player end with an error of their own."""
    study = optuna.create_study(direction="maximize")
    watch = watched(tmp_path, study, overlay(Config(game), {"self_play": {"self_play": True}}))
    watch({"step": 1500, "seconds": 1.0, "score_mean": 1.0, "win_rate_greedy": None, "rating": 0.0})
    assert study.trials[0].intermediate_values == ({} if game == "go" else {500: 1.0, 1000: 1.0, 1500: 1.0})


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
