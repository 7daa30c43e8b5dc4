"""Gymnasium's environments that the trainer made are closed once, however their use ends."""

import contextlib
import functools

import gymnasium
import numpy as np
import pytest
import torch
from foreign import GAME, Toy, config, registered
from gymnasium.vector import SyncVectorEnv

from bridge import EnvironmentFailed, GymnasiumSource, HostDevice, Pipeline
from trainer.__main__ import main
from trainer.environments import make_source
from trainer.errors import ConfigError, FilmError
from trainer.export.export import export_run
from trainer.log.run_log import RunLog
from trainer.play import evaluate
from trainer.play.agent_game import AgentGame
from trainer.policy.load import load_run
from trainer.runs import checkpoint
from trainer.training import batches, build, train
from trainer.training.profile import profile_run


class Pictures(Toy):
    """A Toy with pictures."""

    observation_space = gymnasium.spaces.Box(0, 255, (8, 8), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros((8, 8), np.uint8), {}

    def step(self, action):
        return np.zeros((8, 8), np.uint8), *super().step(action)[1:]


@pytest.fixture
def toys():
    with registered() as made:
        yield made


def closed(toys, count):
    """True if `count` Toys were made and each was closed once."""
    return len(toys) == count and [toy.closed for toy in toys] == [1] * count


def trained(folder, **settings):
    return train.train(config(folder, **settings))


def interrupted(monkeypatch, owner, name, call=1):
    """The method `name` of `owner` raises KeyboardInterrupt in this call."""
    original, calls = getattr(owner, name), []

    @functools.wraps(original)
    def raising(*arguments, **settings):
        calls.append(arguments)
        if len(calls) == call:
            raise KeyboardInterrupt
        return original(*arguments, **settings)
    monkeypatch.setattr(owner, name, raising)


def test_after_a_training_and_its_evaluation(tmp_path, toys):
    trained(tmp_path / "run", eval_episodes=3)
    assert closed(toys, 4 + 2 * 3)  # sampled and greedy actions


def test_after_a_resume(tmp_path, toys):
    trained(tmp_path / "run", stop_at=64)
    again = config(tmp_path / "run", resume=str(tmp_path / "run"))
    train.train(again)
    assert closed(toys, 4 + 4)


def test_after_an_environment_has_failed(tmp_path, toys):
    with pytest.raises(EnvironmentFailed, match=r"environment 0 .* raised OSError in step"):
        trained(tmp_path / "run", options={"fault": 12})
    assert closed(toys, 4)


@pytest.mark.parametrize(("owner", "name", "made"), [
    (train, "iterate", 4), (RunLog, "iteration", 4), (evaluate, "collect", 4 + 3), (build, "Actor", 4), (checkpoint, "save", 4),
    (Toy, "reset", 4)], ids=["in a rollout", "in the log", "in the evaluation", "while it is built", "in the first checkpoint",
                             "in the first reset"])
def test_after_ctrl_c(tmp_path, toys, monkeypatch, owner, name, made):
    interrupted(monkeypatch, owner, name)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "run", eval_episodes=3)
    assert closed(toys, made)


@pytest.mark.parametrize(("settings", "error", "made"), [
    ({"options": {"fault": 0}}, EnvironmentFailed, 4),
    ({"options": {"refused": 2}}, ConfigError, 2),
    ({"policy": {"encoder": "board"}}, ConfigError, 4)],
    ids=["the first reset fails", "the second vector environment cannot be made", "the policy cannot be made"])
def test_after_a_training_that_could_not_begin(tmp_path, toys, settings, error, made):
    with pytest.raises(error):
        trained(tmp_path / "run", **settings)
    assert closed(toys, made)


def test_unsuitable_environments_too(toys, monkeypatch):
    monkeypatch.setattr(Toy, "action_space", gymnasium.spaces.Text(2))
    with pytest.raises(ConfigError, match="actions must be Discrete, MultiDiscrete, "):
        make_source(GAME, config("").env, 4, 0, 2)
    assert closed(toys, 4)


@pytest.mark.parametrize("options", [{}, {"fault": 0}], ids=["measured", "failed"])
def test_those_made_to_choose_the_number_of_batches(toys, monkeypatch, options):
    monkeypatch.setattr(batches, "SECONDS", 0.0)
    share = config("", options=options)
    with pytest.raises(EnvironmentFailed) if options else contextlib.nullcontext():
        assert batches.step_seconds(share, HostDevice(), torch.float32, 2, graphs=True) > 0
    assert closed(toys, 4)


def test_after_every_verb(tmp_path, toys, capsys):
    folder = str(trained(tmp_path / "run"))
    toys.clear()
    assert main(["eval", folder, "--episodes=3", "--device=cpu"]) == 0
    assert closed(toys, 1 + 2 * 3)
    toys.clear()
    assert main(["export", folder]) == 0
    assert len(toys) > 1 and closed(toys, len(toys))
    toys.clear()
    assert main(["record", folder, "--device=cpu"]) == 2 and main(["play", folder, "--terminal", "--device=cpu"]) == 2
    assert closed(toys, len(toys))
    toys.clear()
    profile_run(config(""), 1, tmp_path / "trace.json")
    assert closed(toys, 4)


@pytest.mark.parametrize("call", [2, 12])
def test_after_an_interrupted_evaluation_or_export(tmp_path, toys, monkeypatch, call):
    folder = trained(tmp_path / "run")
    toys.clear()
    interrupted(monkeypatch, Toy, "step", call)
    with pytest.raises(KeyboardInterrupt):
        evaluate.evaluate_run(folder, episodes=3, seed=1, device="cpu", greedy=False, out=None)
    interrupted(monkeypatch, Toy, "reset", call)
    with pytest.raises(KeyboardInterrupt):
        export_run(folder, ("safetensors",), None)
    assert len(toys) > 4 and closed(toys, len(toys))


@pytest.mark.parametrize("fails", [False, True])
def test_after_watching(tmp_path, toys, monkeypatch, fails):
    gymnasium.registry.pop("Toy-v0")
    gymnasium.register("Toy-v0", entry_point=Pictures)
    folder = trained(tmp_path / "run", policy={"encoder": "mlp"})
    _, policy, settings = load_run(folder, "cpu")
    toys.clear()
    if fails:
        interrupted(monkeypatch, Pictures, "reset")
    with pytest.raises(KeyboardInterrupt) if fails else contextlib.nullcontext():
        played = AgentGame(settings.game, settings.env, policy, seed=1)
        played.step()
        played.close()
    assert closed(toys, 1)


def test_what_cannot_be_watched(tmp_path, toys):
    _, policy, settings = load_run(trained(tmp_path / "run"), "cpu")
    toys.clear()
    with pytest.raises(FilmError, match=f"{GAME} cannot be watched: it has no render mode rgb_array, and its observations"):
        AgentGame(settings.game, settings.env, policy, seed=1)
    assert closed(toys, 1)


def test_an_environment_that_cannot_be_closed_does_not_keep_the_others_open(toys):
    source = make_source(GAME, config("", options={"close_fails": 1}).env, 4, 0, 2)
    with pytest.warns(RuntimeWarning, match="an environment of Toy-v0 raised OSError in close: the door is stuck") as warned:
        Pipeline(source, 2).close()
    assert closed(toys, 4) and len(warned) == 4


def test_a_pipeline_leaves_the_caller_s_environments_open(toys):
    env = SyncVectorEnv([Toy] * 2)
    pipeline = Pipeline(GymnasiumSource([env]), 1, HostDevice())
    pipeline.reset()
    pipeline.close()
    assert [toy.closed for toy in toys] == [0, 0]
    env.close()
