"""The example that plays a cartridge: a tiny policy plays by features and by pixels; what cannot be played is one line."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

import envs_c
from benchmarks.cartridges.features import Camera, open_cartridge
from benchmarks.cartridges.twins import TWINS
from examples import play_the_cartridge
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import TrainerError
from trainer.policy.make import make_policy

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


def tiny(game: str, **settings) -> tuple:
    """An untrained policy of a small LSTM, and its config; an episode has at most 12 steps."""
    config = Config(game)
    config = replace(config, env=replace(config.env, time_limit=12, **settings),
                     policy=replace(config.policy, encoder_size=16, lstm_size=8))
    source = make_source(game, config.env, 1, 0)
    policy = make_policy(config.policy, source, 0, torch.float32)
    source.close()
    return policy, config


@pytest.mark.parametrize("game, view", [*((game, "features") for game in TWINS), ("breakout", "pixels")])
def test_a_policy_plays_the_cartridge(game, view):
    policy, config = tiny(game, view=view)
    scores = play_the_cartridge.play(policy, config, 2, sticky=0.25)
    assert scores.shape == (2,) and (scores >= 0).all()


@pytest.fixture
def two_runs(monkeypatch):
    """The arguments of two runs, whose policies are untrained."""
    made = {game: (Path(game, "step_1.safetensors"), *tiny(game)) for game in ("breakout", "freeway")}
    monkeypatch.setattr(play_the_cartridge, "load_run", lambda run, device: made[run])
    return list(made)


def test_several_runs_and_sticky_values_give_one_table_and_what_was_played_is_kept(two_runs, tmp_path, capsys, monkeypatch):
    arguments = [*two_runs, "--episodes", "3", "--sticky", "0", "0.25", "--noops", "4", "--out", str(tmp_path / "scores.jsonl")]
    monkeypatch.setattr(play_the_cartridge, "GROUP", 2)
    rows = play_the_cartridge.main(arguments)
    expected = [[game, "features", sticky, "3"] for game in two_runs for sticky in ("0", "0.25")]
    assert [row[:3] + row[6:] for row in rows] == expected
    lines = (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * 2 * 2 * 2 and capsys.readouterr().out.count("| freeway") == 2
    (tmp_path / "scores.jsonl").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    played = []
    monkeypatch.setattr(play_the_cartridge, "play", lambda *_: pytest.fail("this was played"))
    real = play_the_cartridge.evaluate.play
    monkeypatch.setattr(play_the_cartridge.evaluate, "play", lambda *a, **b: (played.append(1), real(*a, **b))[1])
    assert play_the_cartridge.main(arguments) == rows and len(played) == 1
    assert (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines() == lines


@pytest.mark.parametrize("arguments, text", [
    (["--episodes", "0"], "--episodes must be an integer of at least 1, not 0"),
    (["--sticky", "0", "2"], "--sticky must be a number from 0 to 1, not 2.0"),
    (["--noops", "-1"], "--noops must be an integer of at least 0, not -1"),
    (["--out", "missing/scores.jsonl"], "--out must be a file in a folder that exists"),
    (["--out", __file__], "line 1 is not one of its lines"),
])
def test_wrong_arguments_are_refused_in_a_line(two_runs, arguments, text, capsys):
    with pytest.raises(SystemExit) as caught:
        play_the_cartridge.main([*two_runs, *arguments])
    assert text in f"{caught.value} {capsys.readouterr().err.splitlines()[-1:]}"


@pytest.mark.parametrize("game, settings, text", [
    ("cartpole", {}, "only these games have a cartridge"),
    ("breakout", {"options": {"lives": 3.0}}, "must have no options of the game"),
])
def test_a_run_that_no_cartridge_plays_is_refused(game, settings, text):
    with pytest.raises(TrainerError, match=text):
        play_the_cartridge.play(*tiny(game, **settings), 1, 0.0)


def test_the_grey_picture_is_the_one_of_our_game():
    theirs, env = open_cartridge("breakout"), envs_c.make("breakout", 1, view="pixels", frame_skip=1)
    ours = env.reset()[0][0]
    assert np.array_equal(env.render()[0], theirs.screen())
    assert np.abs(Camera(theirs).read().astype(int) - ours).max() <= 1
