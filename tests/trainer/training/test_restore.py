"""A restore checks every name, shape and dtype of a checkpoint, and the error names the tensor."""

import re
import shutil
from unittest.mock import Mock

import pytest
import torch
from trainer_support import ROLLOUT, config

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import CheckpointError, TrackerError
from trainer.log import trackers
from trainer.runs import checkpoint
from trainer.runs.metrics import read_metrics
from trainer.training import train as training
from trainer.training.build import make_session
from trainer.training.train import iterate, train

RUN = RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False)
SMALL = {"encoder_size": 16, "lstm_size": 12, "precision": "float32"}
CONFIGS = {
    "adam": Config("cartpole", EnvConfig(num_envs=8, num_threads=1),
                   PolicyConfig(**SMALL, normalize_observations=True, frame_stack=2),
                   PPOConfig(horizon=8, minibatch=32, total_steps=1000, normalize_rewards=True, normalize_steps=100), RUN),
    "muon": Config("cartpole", EnvConfig(num_envs=8, num_threads=1), PolicyConfig(**SMALL),
                   PPOConfig(horizon=8, minibatch=32, total_steps=1000, optimizer="muon"), RUN),
    "self-play": Config("go", EnvConfig(num_envs=8, num_threads=1, options={"size": 5, "komi": 0.5}),
                        PolicyConfig(**SMALL, encoder="mlp"), PPOConfig(horizon=8, minibatch=32, total_steps=1000),
                        self_play=SelfPlayConfig(self_play=True, pool_size=3, snapshot_every=1, anchor_games=2), run=RUN),
}
CHANGES = {
    "missing": lambda tensors, name: tensors.pop(name),
    "shape": lambda tensors, name: tensors.update({name: torch.stack([tensors[name]] * 2)}),
    "dtype": lambda tensors, name: tensors.update({name: tensors[name].to(torch.float16)}),
}
LEFT_OUT = ".momentum_buffer"  # a parameter without gradients has none


@pytest.fixture(scope="module", params=CONFIGS)
def saved(request, tmp_path_factory):
    """A session, its checkpoint and the path."""
    session = make_session(CONFIGS[request.param])
    iterate(session)
    iterate(session)
    path = session.save(tmp_path_factory.mktemp("run"))
    return session, checkpoint.load(path), path


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_tensor_that_does_not_fit_is_named(saved, change):
    session, content, path = saved
    for name in content.tensors:
        if change is CHANGES["missing"] and name.endswith(LEFT_OUT):
            continue
        tensors = dict(content.tensors)
        change(tensors, name)
        with pytest.raises(CheckpointError, match=rf"does not fit this run's settings: .*{re.escape(name)}\b") as error:
            session.restore(content._replace(tensors=tensors), path)
        assert "\n" not in str(error.value)
    session.restore(content, path)


@pytest.mark.parametrize("name", ["other", "policy.other", "actor.other", "pipeline.other", "league.other", "optimizer.other",
                                  "optimizer.heads.weight.other"])
def test_a_tensor_that_the_run_does_not_have_is_named(saved, name):
    session, content, path = saved
    tensors = content.tensors | {name: torch.zeros(3)}
    with pytest.raises(CheckpointError, match=f"must not have {name}"):
        session.restore(content._replace(tensors=tensors), path)


@pytest.mark.parametrize(("name", "value"), [("iteration", "3"), ("seconds", None), ("episodes", 1.5), ("recent", {}),
                                             ("recent", [[1.0]]), ("recent", [3]), ("recent", [[{}, 1]]),
                                             ("iteration", -1), ("seconds", float("nan")), ("num_batches", 0),
                                             ("precision", "load"), ("precision", None)])
def test_counters_that_do_not_fit_are_named(saved, name, value):
    session, content, path = saved
    with pytest.raises(CheckpointError, match=f"does not fit this run's settings: {name} must be"):
        session.restore(content._replace(meta=content.meta | {name: value}), path)


def test_a_run_resumed_from_an_older_checkpoint_keeps_the_best_of_the_steps_it_gives_up(tmp_path, capsys):
    train(config(tmp_path, iterations=4))
    older, *_, newest = sorted(tmp_path.glob("step_*.safetensors"))
    shutil.copyfile(newest, tmp_path / checkpoint.BEST)
    train(config(tmp_path, iterations=4, resume=str(older)))
    aside = tmp_path / f"best_{4 * ROLLOUT:012d}.safetensors"
    assert checkpoint.load(aside).meta["iteration"] == 4
    assert (f"best.safetensors is of a step later than {2 * ROLLOUT:,}; the first save renames it to {aside.name}"
            in capsys.readouterr().out)


class Refusing:
    """A tracker that accepts no run."""

    package = "tensorboard"

    def __init__(self, folder, settings, resume_step):
        raise TrackerError("no network")


@pytest.mark.parametrize("fails", ["the tracker", "the second iteration"])
def test_a_run_resumed_from_an_older_checkpoint_changes_nothing_of_the_later_steps_until_its_first_save(tmp_path, monkeypatch,
                                                                                                        fails):
    train(config(tmp_path, iterations=4))
    older, *_, newest = sorted(tmp_path.glob("step_*.safetensors"))
    shutil.copyfile(newest, tmp_path / checkpoint.BEST)
    kept = [tmp_path / "metrics.jsonl", *tmp_path.glob("*.safetensors")]
    before = [path.read_bytes() for path in kept]
    resumed = config(tmp_path, iterations=4, resume=str(older), checkpoint_seconds=1000.0)
    with monkeypatch.context() as patched:
        if fails == "the tracker":
            patched.setitem(trackers.TRACKERS, "tensorboard", Refusing)
        else:
            patched.setattr(training, "iterate", Mock(side_effect=[{"score_mean": 1.0}, OSError("killed")]))
        with pytest.raises((TrackerError, OSError)):
            train(resumed)
    assert [path.read_bytes() for path in kept] == before
    train(resumed)
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [k * ROLLOUT for k in (1, 2, 3, 4)]
