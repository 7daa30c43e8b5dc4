"""Several choices and continuous actions from the rollout to the exported file."""

import functools
import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from aiming import KINDS, config, registered
from trainer_support import same

from examples import play_exported
from trainer.__main__ import main
from trainer.config import EnvConfig
from trainer.errors import FilmError
from trainer.play.agent_game import AgentGame
from trainer.play.evaluate import play
from trainer.policy.load import load_run
from trainer.ppo.losses import losses, select
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.tensors import under
from trainer.training.build import make_session
from trainer.training.train import iterate, train

ONNX = all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript", "onnxruntime"))


@pytest.fixture(autouse=True)
def environments():
    with registered():
        yield


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A function that trains with one kind of actions, once; returns the run's folder."""
    return functools.cache(lambda kind: train(config(tmp_path_factory.mktemp(kind) / "run", kind)))


@pytest.fixture
def run(kind, trained, tmp_path):
    """A copy of a trained run's folder."""
    return Path(shutil.copytree(trained(kind), tmp_path / "run"))


@pytest.mark.parametrize("memory", ["lstm", "mingru", "none"])
def test_the_first_ratio_is_one_and_each_parameter_gets_a_gradient(kind, memory, tmp_path):
    session = make_session(config(tmp_path, kind, policy={"memory": memory}))
    collect(session.actor)
    stored = session.storage
    assert stored.action.shape == (32, 8, 2) and len(stored.action.unique()) > 2
    batch = select(session.policy, stored, stored.advantages(stored.reward[1:], 0.99, 0.95), torch.arange(8))
    loss, _, ratio = losses(session.policy, batch, session.config.ppo)
    assert (ratio - 1).abs().max() <= 1e-5
    loss.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in session.policy.parameters())
    session.close()


def test_it_learns(kind, tmp_path):
    session = make_session(config(tmp_path, kind, iterations=40))
    scores = [iterate(session)["score_mean"] for _ in range(40)]
    assert scores[0] < -3 and scores[-1] > -2  # means over the last 256 episodes; -5 at random, 0 at best
    session.close()


def test_a_resumed_run_has_the_weights_and_the_optimizer_of_the_saved_one(run, kind):
    path = checkpoint.latest(run)
    resumed = make_session(config(run, kind), resume=path)
    saved = checkpoint.load(path).tensors
    same(resumed.policy.state_dict(), under("policy.", saved))
    learned = under("optimizer.", saved)
    learned["reward_norm.gathered"] = torch.zeros_like(learned["reward_norm.gathered"])  # all environments begin new episodes
    same(resumed.learner.state(), learned)
    iterate(resumed)
    resumed.close()


def test_greedy_episodes_have_no_random_numbers_and_sampled_ones_have(run, kind):
    _, policy, settings = load_run(run, "cpu")
    env = EnvConfig(num_threads=1)
    greedy, again, sampled = (play(policy, settings.game, env, episodes=3, seed=seed, greedy=greedy, filmed=1.0)
                              for seed, greedy in ((1, True), (1, True), (1, False)))
    assert greedy.actions.shape[1:] == (3, 2)
    assert np.array_equal(greedy.actions, again.actions) and not np.array_equal(greedy.actions, sampled.actions)
    space = KINDS[kind]
    if kind == "Numbers":
        assert greedy.actions.dtype == np.float32
        assert len(np.unique(greedy.actions[..., 0])) == 2  # one mean for each observation; the policy has no memory
    else:
        assert (greedy.actions < space.nvec).all()


def test_an_exported_policy_equals_it_and_the_example_plays_it(run, kind, capsys):
    formats = ["safetensors", *(["onnx"] if ONNX else [])]
    for file_format in formats:
        assert main(["export", str(run), "--format", file_format]) == 0
        assert "checked on 1,000 observations gathered by playing" in capsys.readouterr().out
        scores = play_exported.play(str(run / f"policy.{file_format}"), 5)
        assert (scores < 0).all() and (scores > -10).all()
    about, _ = play_exported.open_safetensors(run / "policy.safetensors")
    assert json.loads(json.dumps(about, allow_nan=False)) == about
    actions = about["actions"]
    if kind == "Numbers":
        deviation = load_run(run, "cpu")[1].distribution.log_deviation.exp().tolist()
        assert (actions["kind"], actions["low"], actions["high"]) == ("box", [-2, 0], [2, 10])
        assert (actions["shift"], actions["factor"], actions["deviation"]) == ([0, 5], [2, 5], deviation)
    else:
        assert (actions["kind"], actions["sizes"], actions["start"]) == ("multi_discrete", [3, 2], [1, 0])


def test_an_agent_is_watched_only_if_there_are_pictures(run):
    _, policy, settings = load_run(run, "cpu")
    with pytest.raises(FilmError, match="cannot be watched: it has no render mode rgb_array, and its observations are not"):
        AgentGame(settings.game, settings.env, policy, seed=1)


@pytest.mark.parametrize(("words", "text"), [
    ("record {run}", "record must be able to draw any episode, but gym:{kind}-v0 cannot be drawn"),
    ("gym:{kind}-v0 --self-play --run-dir {run}2", "--self-play must be false for gym:{kind}-v0"),
])
def test_what_an_environment_cannot_do_is_refused_in_one_line(run, kind, words, text, capsys):
    assert main(words.format(run=run, kind=kind).split()) == 2
    printed = capsys.readouterr().err
    assert text.format(kind=kind) in printed and printed.count("\n") == 1
