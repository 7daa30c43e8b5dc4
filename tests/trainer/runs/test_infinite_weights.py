"""A checkpoint with an infinite or NaN number, whose checksums are right, is refused in one line by every command."""

import math

import pytest
import torch
from trainer_support import config
from verb_support import refused

from trainer.config.config import overlay
from trainer.errors import CheckpointError
from trainer.export.agents import agent_bytes
from trainer.policy.load import load_policy
from trainer.runs import checkpoint, checkpoint_file
from trainer.training.build import make_session
from trainer.training.train import train

READERS = ("--resume RUN", "eval RUN --episodes 2", "record RUN --episodes 2", "arcade --run RUN --out page",
           "export RUN --out policy.safetensors", "cartpole --init-from RUN --run-dir new --device cpu")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trained run."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    changes = {"policy": {"normalize_observations": True}, "ppo": {"normalize_rewards": True}, "run": {"stop_at": 512}}
    return train(overlay(config(folder, iterations=2), changes))


@pytest.fixture
def changed(trained, tmp_path, monkeypatch):
    """A function that writes a number into a tensor of a copy of the newest checkpoint, and returns the path of the copy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()

    def change(name: str, value: float):
        tensors, envelope = checkpoint_file.read(checkpoint.latest(trained))
        tensors[name].view(-1)[-1] = value
        path = checkpoint.path_of(tmp_path / "run", envelope["step"])
        path.write_bytes(checkpoint_file.encode(tensors, envelope))
        return path
    return change


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("words", READERS)
def test_every_command_names_the_file_and_the_tensor(changed, capsys, words, value):
    path = changed("policy.heads.weight", value)
    error = refused(capsys, words.replace("RUN", "run"))
    assert f"{path.name} cannot be used: policy.heads.weight must be finite, but it holds {value}; pass another" in error


@pytest.mark.parametrize("name", ["actor.h", "optimizer.heads.bias.exp_avg", "optimizer.heads.bias.step",
                                  "optimizer.reward_norm.square", "pipeline.slab.reward", "pipeline.slab.terminated",
                                  "policy.normalizer.mean"])
def test_a_resumed_run_names_the_rest_of_its_state(changed, capsys, name):
    changed(name, math.nan)
    assert f"cannot be used: {name} must be finite, but it holds nan" in refused(capsys, "--resume run")


def test_an_infinite_observation_which_a_normalizer_clips_is_resumed(changed):
    path = changed("pipeline.slab.observation", math.inf)
    make_session(overlay(checkpoint.read_config(path), {"run": {"stop_at": None}}), resume=path).close()


def test_agents_of_pages_are_checked_too(changed):
    with pytest.raises(CheckpointError, match=r"policy\.input must be finite, but it holds inf"):
        agent_bytes(changed("policy.input", math.inf))


def test_a_buffer_that_is_made_with_infinite_numbers_may_hold_them(tmp_path):
    settings = overlay(config(tmp_path / "run", iterations=1), {"policy": {"encoder": "own_encoders:Masked"}})
    path = checkpoint.latest(train(settings))
    policy, _ = load_policy(path, trust_code=True)
    assert torch.isinf(policy.state_dict()["encoder.module.mask"]).any()
    make_session(settings, resume=path).close()
    tensors, envelope = checkpoint_file.read(path)
    tensors["policy.encoder.module.mask"].fill_(math.inf)
    path.write_bytes(checkpoint_file.encode(tensors, envelope))
    with pytest.raises(CheckpointError, match=r"policy\.encoder\.module\.mask must be finite"):
        load_policy(path, trust_code=True)


def test_a_league_without_a_rating_is_resumed(tmp_path):
    changes = {"self_play": {"self_play": True}, "env": {"sticky": 0.0, "time_limit": None, "options": {"size": 5.0}}}
    settings = overlay(config(tmp_path / "run", iterations=1, game="go"), changes)
    path = checkpoint.path_of(train(settings), 0)
    assert torch.isnan(checkpoint.load(path).tensors["league.figures"]).any()
    make_session(settings, resume=path).close()
