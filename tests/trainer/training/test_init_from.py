"""`--init-from RUN`: a new run starts with the weights of another one, with a new optimizer."""

from dataclasses import replace

import pytest
import torch
from trainer_support import config, same

from trainer.config.config import overlay
from trainer.errors import RunError, SettingError
from trainer.runs import checkpoint
from trainer.tensors import under
from trainer.training.build import make_session
from trainer.training.initial import initial_weights
from trainer.training.train import train

# Changes of the settings of the first run, of its game, and the parts that the second run makes anew.
CASES = {
    "the same settings": ("cartpole", {}, []),
    "another seed and other learning": ("cartpole", {"run": {"seed": 7}, "ppo": {"gamma": 0.9, "optimizer": "muon"}}, []),
    "other actions": ("tmaze", {}, ["heads"]),
    "other features and actions": ("breakout", {}, ["encoder", "heads"]),
    "masks and other features": ("go", {"env": {"time_limit": None, "sticky": 0.0, "options": {"size": 5.0}},
                                        "policy": {"encoder": "mlp"}}, ["encoder", "heads"]),
    "pictures": ("breakout", {"env": {"view": "pixels", "num_envs": 4}, "ppo": {"horizon": 16, "minibatch": 32}},
                 ["encoder", "heads"]),
    "another memory": ("cartpole", {"policy": {"memory": "mingru"}}, ["memory"]),
    "no memory": ("cartpole", {"policy": {"memory": "none"}}, ["memory"]),
    "a wider memory": ("cartpole", {"policy": {"lstm_size": 14}}, ["memory", "heads"]),
    "heads of one's own": ("cartpole", {"policy": {"heads": "own_learning:Deep"}}, ["heads"]),
    "normalized observations": ("cartpole", {"policy": {"normalize_observations": True}}, ["statistics of observations"]),
}
PART = {"encoder": "encoder", "heads": "heads", "normalizer": "statistics of observations"}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder of a trained run of cartpole."""
    return train(config(tmp_path_factory.mktemp("first") / "a", iterations=2))


@pytest.mark.parametrize("case", CASES)
def test_parts_that_fit_are_taken_and_one_line_names_those_that_are_new(first, tmp_path, case, capsys):
    game, changes, anew = CASES[case]
    settings = overlay(config(tmp_path / "b", iterations=1, game=game), changes)
    fresh = make_session(settings).policy.state_dict()
    folder = train(replace(settings, run=replace(settings.run, init_from=str(first), stop_at=1)))
    start = under("policy.", checkpoint.load(folder / "step_000000000000.safetensors").tensors)
    theirs = under("policy.", checkpoint.load(checkpoint.latest(first)).tensors)
    for name, tensor in start.items():
        new = PART.get(name.partition(".")[0], "memory") in anew
        assert torch.equal(tensor, fresh[name] if new else theirs[name]), name
    line, = (line for line in capsys.readouterr().out.splitlines() if line.startswith(f"weights of {checkpoint.latest(first)}"))
    assert [part for part in ("encoder", "memory", "heads", "statistics of observations") if f"the {part} (" in line] == \
        [part for part in ("encoder", "memory", "heads", "statistics of observations") if part in anew]


@pytest.mark.parametrize(("before", "after"), [(None, "own_learning:same"), ("own_learning:same", None)])
def test_an_encoder_is_taken_also_if_one_of_the_runs_has_an_observation_transform(tmp_path, before, after, capsys):
    first = train(overlay(config(tmp_path / "a", iterations=1), {"policy": {"observation_transform": before}}))
    second = overlay(config(tmp_path / "b", iterations=1, init_from=str(first), stop_at=1),
                     {"policy": {"observation_transform": after}})
    start = checkpoint.load(train(second) / "step_000000000000.safetensors").tensors
    theirs = checkpoint.load(checkpoint.latest(first)).tensors
    names = ["policy.encoder.weight", "policy.encoder.inner.weight"]
    assert torch.equal(start[names[after is not None]], theirs[names[before is not None]])
    assert "made anew" not in capsys.readouterr().out


def test_an_encoder_behind_a_transform_with_tensors_of_its_own_is_taken(tmp_path, capsys):
    transform = {"policy": {"observation_transform": "own_learning:scaled"}}
    first = train(overlay(config(tmp_path / "a", iterations=1), transform))
    train(overlay(config(tmp_path / "b", iterations=1, init_from=str(first), stop_at=1), transform))
    assert "made anew" not in capsys.readouterr().out


def test_the_optimizer_and_the_counters_are_new(first, tmp_path):
    folder = train(config(tmp_path / "b", iterations=1, init_from=str(first)))
    content = checkpoint.load(folder / "step_000000000000.safetensors")
    kept = under("optimizer.", content.tensors)
    assert all(name.startswith("reward_norm.") and not tensor.any() for name, tensor in kept.items())
    assert content.meta["iteration"] == content.meta["episodes"] == 0
    assert content.config.run.init_from == str(checkpoint.latest(first))


def test_the_same_start_gives_the_same_run_and_resuming_does_not_start_again(first, tmp_path):
    whole = train(config(tmp_path / "whole", iterations=4, init_from=str(first)))
    half = train(config(tmp_path / "half", iterations=4, init_from=str(first), stop_at=2 * 512))
    train(config(half, iterations=4, init_from=str(tmp_path / "gone"), resume=str(half)))
    same(*(checkpoint.load(checkpoint.latest(folder)).tensors for folder in (whole, half)))


def test_weights_of_which_nothing_fits_are_refused_and_no_folder_is_left(first, tmp_path):
    settings = overlay(config(tmp_path / "b", init_from=str(first)), {"policy": {"lstm_size": 9, "encoder_size": 9}})
    with pytest.raises(SettingError, match=r"^init_from must be a run whose encoder, memory or heads have the shapes"):
        train(settings)
    assert not (tmp_path / "b").exists()


def test_a_run_that_does_not_exist_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="there is no run at nowhere"):
        train(config(tmp_path / "b", init_from="nowhere"))
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_another_dtype_is_new(first):
    policy = make_session(config("unused")).policy
    policy.heads.double()
    state, line = initial_weights(policy, str(first))
    assert "the heads (heads.bias is (3,) float64, not (3,) float32 as there)" in line
    assert state["heads.bias"].dtype == torch.float64
