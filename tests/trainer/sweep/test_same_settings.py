"""Sweeps and benches that older versions began: settings that were added since are no difference."""

import copy

import optuna
import pytest

from trainer.config import Config, PolicyConfig, RunConfig
from trainer.errors import SweepError
from trainer.sweep.bench import Plan
from trainer.sweep.space import Range
from trainer.sweep.study import SeededByTrial, facts_of, first_difference, open_study
from trainer.sweep.tasks import open_bench

PPO = {"gamma": 0.99, "noise_hold": 1, "loss": None}


@pytest.mark.parametrize(("there", "here", "difference"), [
    ({"ppo": PPO}, {"ppo": PPO}, None),
    ({"ppo": {"gamma": 0.99}}, {"ppo": PPO}, None),
    ({"ppo": {"gamma": 0.99}}, {"ppo": PPO | {"noise_hold": 4}}, "--noise-hold is 4 and was 1"),
    ({"ppo": {"gamma": 0.5}}, {"ppo": PPO}, "--gamma is 0.99 and was 0.5"),
    ({"ppo": {"noise_hold": 1, "loss": None}}, {"ppo": PPO}, "--gamma is 0.99 and was none"),
    ({"ppo": PPO | {"old": 3}}, {"ppo": PPO}, "--old is none and was 3"),
    ({"game": "pong", "ppo": PPO}, {"game": "breakout", "ppo": PPO}, "game is breakout and was pong"),
    ({"game": "pong", "env": {"sticky": 0.0}}, {"game": "breakout", "env": {"sticky": 0.25}},
     "game is breakout and was pong"),
    ({"ppo": 3}, {"ppo": PPO}, f"ppo is {PPO!r} and was 3"),
    (None, {"ppo": PPO}, "they are damaged")])
def test_a_difference_is_named_and_added_settings_count_with_their_value_from_before(there, here, difference):
    assert first_difference(there, here) == difference


def of_an_older_version(study, attribute, sections):
    """Take a setting that was added later out of the study; `sections` finds the sections in the attribute."""
    value = copy.deepcopy(study.user_attrs[attribute])
    del sections(value)["policy"]["noise_hold_after"]
    study.set_user_attr(attribute, value)


@pytest.fixture
def storage():
    return optuna.storages.InMemoryStorage()


def test_a_bench_of_an_older_version_goes_on(storage):
    settings = Config("pong", policy=PolicyConfig(noise_hold_after="any")).to_dict()
    of_an_older_version(open_bench(storage, "bench", {"pong": settings}), "game pong", lambda value: value)
    open_bench(storage, "bench", {"pong": settings})
    with pytest.raises(SweepError, match=r"pong had other settings \(--noise-hold-after is truncation and was any\)"):
        open_bench(storage, "bench", {"pong": settings | {"policy": settings["policy"] | {"noise_hold_after": "truncation"}}})


def test_a_sweep_with_the_weights_of_another_run_is_another_sweep(storage):
    open_study(storage, "sweep", facts_of(Config("pong"), ()), None)
    with pytest.raises(SweepError, match="exists, but --init-from is runs/other and was none; give the options"):
        open_study(storage, "sweep", facts_of(Config("pong", run=RunConfig(init_from="runs/other")), ()), None)


@pytest.mark.parametrize("seed", [0, 2**32, 2**63 - 1])
def test_a_sweep_takes_every_seed_that_a_training_takes(seed):
    SeededByTrial(seed, 2)


def test_a_bench_with_the_weights_of_another_run_is_another_bench(storage, tmp_path):
    def settings(config):
        return Plan({"pong": config}, (), 1, 1, tmp_path).settings

    open_bench(storage, "bench", settings(Config("pong")))
    with pytest.raises(SweepError, match=r"pong had other settings \(--init-from is runs/other and was none\)"):
        open_bench(storage, "bench", settings(Config("pong", run=RunConfig(init_from="runs/other"))))


def test_a_sweep_of_an_older_version_goes_on(storage):
    facts = facts_of(Config("pong", policy=PolicyConfig(noise_hold_after="any")), ())
    of_an_older_version(open_study(storage, "sweep", facts, None)[0], "facts", lambda value: value["settings"])
    assert open_study(storage, "sweep", facts, None)[1] is False
    facts["settings"]["policy"]["noise_hold_after"] = "truncation"
    with pytest.raises(SweepError, match="exists, but --noise-hold-after is truncation and was any; give the options"):
        open_study(storage, "sweep", facts, None)


def test_a_setting_without_effect_is_no_difference(storage):
    one, other = (facts_of(Config("pong", policy=PolicyConfig(noise_hold=1, noise_hold_after=after)), ())
                  for after in ("any", "truncation"))
    open_study(storage, "sweep", one, None)
    assert open_study(storage, "sweep", other, None)[1] is False


def test_a_setting_that_has_an_effect_with_some_values_of_a_range_is_a_difference(storage):
    ranges = (Range("policy", "noise_hold", choices=(1, 16)),)
    one, other = (facts_of(Config("pong", policy=PolicyConfig(noise_hold=1, noise_hold_after=after)), ranges)
                  for after in ("any", "truncation"))
    open_study(storage, "sweep", one, None)
    with pytest.raises(SweepError, match="exists, but --noise-hold-after is truncation and was any; give the options"):
        open_study(storage, "sweep", other, None)
