"""The example that plays a cartridge: a tiny policy plays by features and by pixels; what cannot be played is one line."""

import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from benchmarks.cartridges.agents import Agent, load_agent
from benchmarks.cartridges.features import Camera, open_cartridge
from benchmarks.cartridges.lockstep import twin_of
from benchmarks.cartridges.twins import TWINS
from benchmarks.transfer import table
from benchmarks.transfer.play import play
from benchmarks.transfer.replay import Record, checksum, same_here
from examples import play_the_cartridge
from trainer import Session
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import TrainerError
from trainer.play import evaluate
from trainer.policy.make import make_policy

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


EXACT_PICTURES = ("breakout", "pong", "freeway", "asterix")


def tiny(game: str, **settings) -> tuple:
    """An untrained policy of a small LSTM, and its config; an episode has at most 12 steps."""
    config = Config(game)
    config = replace(config, env=replace(config.env, time_limit=12, **settings),
                     policy=replace(config.policy, encoder_size=16, lstm_size=8))
    source = make_source(config.game, config.env, 1, 0)
    policy = make_policy(config.policy, source, 0, torch.float32)
    source.close()
    return policy, config


@pytest.mark.parametrize("game, settings", [
    *((game, {}) for game in TWINS), *((game, {"view": "pixels"}) for game in EXACT_PICTURES),
    *((game, {"options": {"forecast": 1.0}}) for game in ("freeway", "seaquest", "space_invaders"))])
def test_a_policy_plays_the_cartridge(game, settings):
    policy, config = tiny(game, **settings)
    played = play(policy, config, 2, sticky=0.25)
    assert played.scores.shape == (2,) and (played.scores >= 0).all() and (played.lengths == 12).all()
    assert played.same.all()  # our game repeats both episodes, and the policy sees the same pictures in it


def test_an_episode_that_our_game_does_not_repeat_is_found():
    theirs, actions = open_cartridge("breakout"), [1] * 200
    points = [theirs.step(action)[0] for action in actions]
    same = Record(actions, points, False, {200: checksum(Camera(theirs).read())})
    assert sum(points) == 0 and theirs.state()["lives"] == 3  # two balls were lost
    others = {"points": [*points[:-1], 1]}, {"over": True}, {"pictures": {199: same.pictures[200]}}
    assert same_here("breakout", [same, *(same._replace(**other) for other in others)]).tolist() == [True, False, False, False]


@pytest.fixture
def two_runs(monkeypatch):
    """The arguments of two runs, whose policies are untrained."""
    made = {game: Agent("untrained", *tiny(game), game) for game in ("breakout", "freeway")}
    monkeypatch.setattr(table, "load_agent", lambda run, plain: made[run])
    return list(made)


def test_several_runs_and_sticky_values_give_one_table_and_what_was_played_is_kept(two_runs, tmp_path, capsys, monkeypatch):
    arguments = [*two_runs, "--episodes", "3", "--sticky", "0", "0.25", "--noops", "4", "--out", str(tmp_path / "scores.jsonl")]
    monkeypatch.setattr(table, "GROUP", 2)
    rows = play_the_cartridge.main(arguments)
    expected = [[game, "untrained", "features", sticky, "3 of 3", "3"] for game in two_runs for sticky in ("0", "0.25")]
    assert [row[:4] + row[8:] for row in rows] == expected
    lines = (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * 2 * 3 and capsys.readouterr().out.count("| freeway") == 2
    last = json.loads(lines[-1])
    assert [group[:2] for group in last["groups"]] == [[0, 2], [2, 1]]  # the first episode and the number of a group
    shorter = json.dumps(last | {"groups": last["groups"][:1]})
    (tmp_path / "scores.jsonl").write_text("\n".join([*lines[:-1], shorter]) + "\n", encoding="utf-8")
    played = []
    monkeypatch.setattr(table, "play", lambda *_: pytest.fail("this was played"))
    real = evaluate.play
    monkeypatch.setattr(evaluate, "play", lambda *a, **b: (played.append(1), real(*a, **b))[1])
    assert play_the_cartridge.main(arguments) == rows and len(played) == 1
    assert (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines() == lines


@pytest.mark.parametrize("arguments, text", [
    (["--episodes", "0"], "argument --episodes: must be an integer of at least 1, not 0"),
    (["--sticky", "0", "2"], "--sticky must be a number from 0 to 1, not 2.0"),
    (["--noops", "-1"], "argument --noops: must be an integer of at least 0, not -1"),
    (["--out", "missing/scores.jsonl"], "--out must be a file in a folder that exists"),
    (["--out", __file__], "line 1 is not one of its lines"),
])
def test_wrong_arguments_are_refused_in_a_line(two_runs, arguments, text, capsys):
    with pytest.raises(SystemExit) as caught:
        play_the_cartridge.main([*two_runs, *arguments])
    assert text in f"{caught.value} {capsys.readouterr().err.splitlines()[-1:]}"


@pytest.mark.parametrize("game, settings, text", [
    ("cartpole", {}, "only these games have a cartridge"),
    ("freeway", {"options": {"forecast": 1.0, "harmless_cars": 1.0}}, "must have no options that change the game"),
    ("breakout", {"options": {"lives": 3.0}}, "must have no options that change the game"),
])
def test_a_run_that_no_cartridge_plays_is_refused(game, settings, text):
    with pytest.raises(TrainerError, match=text):
        play(*tiny(game, **settings), 1, 0.0)


def test_the_agents_of_the_arcade_play_the_game_without_options_and_with_a_limit():
    for game in TWINS:
        agent = load_agent(game)
        assert agent.config.game == game and not agent.config.env.options and agent.config.env.time_limit == 27_000


@pytest.mark.parametrize("game, options, kept", [
    ("enduro", {"start_speed": 60}, {}), ("freeway", {"difficulty": 1, "forecast": 1}, {"forecast": 1.0})])
def test_a_run_with_options_is_refused_unless_those_that_change_the_game_are_left_out(game, options, kept, tmp_path):
    with Session(game, options=options, num_envs=1, horizon=8, minibatch=8, total_steps=8, encoder_size=16,
                 lstm_size=8) as session:
        path = session.save(tmp_path / "run")
    with pytest.raises(TrainerError, match=r"must have no options that change the game, .* add --plain"):
        load_agent(str(path.parent))
    agent = load_agent(str(path.parent), plain=True)
    assert (agent.name, agent.config.env.options) == ("run/step_000000000000", kept)
    assert agent.config.env.time_limit <= 27_000


@pytest.mark.parametrize("game", EXACT_PICTURES)
def test_grey_pictures_are_those_of_our_game(game):
    theirs, ours = open_cartridge(game).restart(), twin_of(game, view="pixels", time_limit=0)
    camera = Camera(theirs)
    for frame, action in enumerate(np.random.default_rng(1).integers(3, size=150).repeat(4)):
        assert theirs.step(action)[1] == ours.step(action)[1]
        if frame == 0:  # the console has not drawn a whole picture yet
            continue
        assert np.array_equal(ours.picture(), theirs.masked()), f"frame {frame}"
        assert np.array_equal(camera.read(), ours.seen.reshape(84, 84)), f"frame {frame}"
