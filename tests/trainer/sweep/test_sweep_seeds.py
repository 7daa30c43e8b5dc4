"""Sweeps whose trials have several seeds, and sweeps that look for few minutes as well as for high scores."""

from dataclasses import replace

import optuna
import pytest
from sweep_support import BASE, quality, stand_in

from trainer.config.games import GameName
from trainer.config.preset import preset_file
from trainer.errors import SweepError
from trainer.sweep.report import settings_of
from trainer.sweep.trial import Outcome

PRUNED, COMPLETE = optuna.trial.TrialState.PRUNED, optuna.trial.TrialState.COMPLETE


def by_seed(config, folder, watch):
    """A stand-in whose seeds 1, 2 and 3 have 10 points less, as many, and 10 more."""
    outcome = stand_in(config, folder, watch)
    return outcome._replace(score=outcome.score + 10 * (config.run.seed - 2))


def test_the_score_of_a_trial_is_the_mean_over_its_seeds(sweep, capsys):
    seen = []

    def trial(config, folder, watch):
        seen.append((config.run.seed, folder.name))
        return by_seed(config, folder, watch)
    study = sweep(2, trial=trial, seeds=3)
    assert seen == [(seed, f"trial-{number:04d}-s{seed}") for number in range(2) for seed in (1, 2, 3)]
    facts = study.trials[0].user_attrs
    assert study.trials[0].value == pytest.approx(quality(BASE))
    assert facts["standard_error"] == pytest.approx(10 / 3**0.5)
    assert (facts["minutes"], facts["steps"]) == (1.0, 10_000), "of a training, not of all three"
    assert "minutes of training, the means of 3 seeds" in capsys.readouterr().out


def test_the_minutes_of_a_trial_are_the_mean_over_its_seeds(sweep):
    def trial(config, folder, watch):
        watch({"step": 10_000, "seconds": {1: 60.0, 2: 120.0, 3: 540.0}[config.run.seed], "score_judged": 1.0})
        return Outcome(1.0, 1.0)
    assert sweep(1, trial=trial, seeds=3).trials[0].user_attrs["minutes"] == pytest.approx(4.0)


@pytest.mark.parametrize(("bad_seed", "runs"), [(1, 1), (2, 2), (3, 3)])
def test_a_trial_is_compared_with_the_others_after_each_seed_but_the_last(sweep, bad_seed, runs):
    """The fifth trial fails with one seed: after that one it is below the median, and no further seed is trained."""
    seen = []

    def trial(config, folder, watch):
        number = int(folder.name[6:10])
        seen.append(number)
        bad = number == 4 and config.run.seed == bad_seed
        return Outcome(-1000.0 if bad else 100.0 + number, 1.0)
    study = sweep(5, trial=trial, seeds=3, startup=4, prune=True)
    last = study.trials[4]
    assert seen.count(4) == runs
    assert last.state == (COMPLETE if bad_seed == 3 else PRUNED)
    if bad_seed == 1:
        assert last.user_attrs["reason"] == "below the median after 1 of 3 seeds, with a score of -1000"
    if bad_seed == 2:
        assert last.user_attrs["reason"] == "below the median after 2 of 3 seeds, with a score of -448"
    assert [study.trials[number].state for number in range(4)] == [COMPLETE] * 4


def test_only_the_first_seed_is_compared_during_its_training(sweep):
    study = sweep(1, seeds=2, prune=True)
    assert sorted(study.trials[0].intermediate_values) == [*range(500, 10_000, 500), 10_000]
    assert study.trials[0].intermediate_values[10_000] == pytest.approx(quality(BASE))


def test_a_trial_is_pruned_when_one_of_its_seeds_takes_too_long(sweep):
    seen = []

    def trial(config, folder, watch):
        seen.append(folder.name)
        watch({"step": 10_000, "seconds": 600.0 if folder.name == "trial-0001-s2" else 240.0, "score_judged": 1.0})
        return Outcome(1.0, 1.0)
    study = sweep(2, trial=trial, seeds=3, minutes=5)
    assert study.trials[1].user_attrs["reason"] == "trained for longer than 5 minutes, to step 10,000"
    assert seen == ["trial-0000-s1", "trial-0000-s2", "trial-0000-s3", "trial-0001-s1", "trial-0001-s2"]


@pytest.mark.parametrize(("first", "then", "sentence"), [
    ({"seeds": 2}, {"seeds": 3}, "--seeds is 3 and was 2"),
    ({}, {"seeds": 3}, "--seeds is 3 and was 1"),
    ({}, {"cost_aware": True}, "--cost-aware is True and was False"),
    ({"cost_aware": True}, {}, "--cost-aware is False and was True"),
])
def test_a_sweep_with_another_number_of_seeds_or_another_aim_does_not_join(sweep, first, then, sentence):
    sweep(1, **first)
    with pytest.raises(SweepError, match=f"the sweep 'test' exists, but {sentence}"):
        sweep(2, **then)


def test_a_sweep_from_before_there_were_seeds_goes_on(sweep):
    study = sweep(1)
    facts = study.user_attrs["facts"]
    del facts["settings"]["run"]["seeds"], facts["settings"]["run"]["cost_aware"]
    study.set_user_attr("facts", facts)
    assert len(sweep(2).trials) == 2


def costly(config, folder, watch):
    """A stand-in whose score grows with its steps as its minutes do; three epochs take three times as long for nothing."""
    minutes = config.ppo.total_steps / 1000 * (3 if config.ppo.epochs == 3 else 1)
    watch({"step": config.ppo.total_steps, "seconds": 60 * minutes, "score_judged": 0.0})
    return Outcome(config.ppo.total_steps / 100, 1.0)


COSTS = {"ppo": {"total_steps": {"choices": [2000, 5000, 10_000]}, "epochs": {"choices": [1, 3]}}}
PRESET = replace(BASE, ppo=replace(BASE.ppo, epochs=1))


def test_a_cost_aware_sweep_ends_with_a_preset_for_each_cost(sweep, capsys):
    """Of six settings the three with one epoch are the front: in the table in the order of minutes, and a preset each."""
    stale = sweep.folder / "front" / "trial-9999.toml"
    sweep(1, trial=costly, base=PRESET, space=COSTS, cost_aware=True, pictures=True)
    stale.write_bytes(b"")
    study = sweep(25, trial=costly, base=PRESET, space=COSTS, cost_aware=True, pictures=True)
    assert not stale.exists()
    assert all(trial.values == [trial.values[0], trial.user_attrs["minutes"]] for trial in study.trials)
    front = {(trial.values[0], trial.values[1]) for trial in study.best_trials}
    assert front == {(20.0, 2.0), (50.0, 5.0), (100.0, 10.0)}
    numbers = sorted(int(path.stem[6:]) for path in (sweep.folder / "front").iterdir())
    assert {tuple(study.trials[number].values) for number in numbers} == front
    for number in numbers:
        path = sweep.folder / "front" / f"trial-{number:04d}.toml"
        assert preset_file(GameName("cartpole"), str(path)) == settings_of(study, study.trials[number])
    assert preset_file(GameName("cartpole"), str(sweep.folder / "best.toml")).ppo.total_steps == 10_000
    printed = capsys.readouterr().out
    table = [line.split() for line in printed.partition("standard error")[0].splitlines()]
    rows = table[max(k for k, row in enumerate(table) if row[:2] == ["trial", "score"]) + 1 :]
    minutes = [float(row[3]) for row in rows if len(row) > 4 and row[0].isdigit()]
    assert minutes == sorted(minutes) and set(minutes) == {2.0, 5.0, 10.0}
    assert "curves.png: not drawn, since a cost-aware sweep compares no scores during the trainings" in printed
    assert {path.name for path in sweep.folder.iterdir()} == {"best.toml", "front", "history.png", "importances.png",
                                                              "pareto.png", "study.json", "sweep.db"}


def test_a_cost_aware_sweep_prunes_no_trial_for_its_score(sweep):
    study = sweep(8, trial=stand_in, cost_aware=True, prune=True, startup=1)
    assert [trial.state for trial in study.trials] == [COMPLETE] * 8
