"""Evaluations play whole episodes, the same for the same seed."""

import contextlib
import dataclasses
import json
import math
import re
from functools import partial
from types import SimpleNamespace

import foreign
import gymnasium
import numpy as np
import pytest
import torch
from evaluate_support import config, play
from verb_support import refused

from trainer.__main__ import main
from trainer.config import EnvConfig, RunConfig
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.no_ops import with_no_ops
from trainer.environments import episode_seed, make_source
from trainer.errors import ConfigError
from trainer.files import read_json
from trainer.play import evaluate
from trainer.play.described import describe
from trainer.policy.make import make_policy
from trainer.runs.evaluation import every
from trainer.training.train import train


def test_every_environment_plays_one_complete_episode():
    result = play(config())
    assert len(result.returns) == 20
    assert (result.returns == result.lengths).all()  # CartPole gives 1 a step
    assert len(result.actions) == result.lengths.max()
    assert result.returns.min() < result.returns.max()


def test_the_score_is_raw():
    assert (play(config(reward_clip=0.1)).returns == play(config()).returns).all()


def test_equal_seeds_give_equal_results_and_other_seeds_others():
    first, again, other = (play(config(), seed=seed).returns for seed in (4, 4, 5))
    assert (first == again).all()
    assert (first != other).any()


def test_an_evaluation_leaves_torchs_number_of_threads_to_the_caller():
    before = torch.get_num_threads()
    settings = config()
    play(dataclasses.replace(settings, env=dataclasses.replace(settings.env, num_threads=before + 1)), episodes=2)
    assert torch.get_num_threads() == before


def test_equal_episodes_count_as_one_in_the_interval():
    """Greedy Breakout without sticky actions repeats its few starts; sampled episodes are all different."""
    greedy, sampled = (play(config("breakout", time_limit=60), greedy=greedy).summary() for greedy in (True, False))
    assert greedy["episodes"] == sampled["episodes"] == sampled["different_episodes"] == 20
    assert 1 <= greedy["different_episodes"] < 10
    assert f" 20 ({greedy['different_episodes']} different) " in describe(greedy)
    assert "different" not in describe(sampled)


def test_episodes_from_different_starts_are_different_though_all_actions_and_scores_are_equal():
    result = play(config(time_limit=3), greedy=True)
    assert set(result.returns) == {3.0}
    assert result.summary()["different_episodes"] == 20


def test_greedy_play_takes_the_likeliest_action():
    settings = config()
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    with torch.no_grad():
        policy.heads.bias[:2] = torch.tensor([0.0, 0.5])  # RIGHT is more likely everywhere
    greedy, sampled = (evaluate.play(policy, settings.game, settings.env, episodes=20, seed=4, greedy=greedy, filmed=math.inf)
                       for greedy in (True, False))
    first = [result.actions[step, 0] for result in (greedy, sampled) for step in range(int(result.lengths[0]))]
    assert set(first[: int(greedy.lengths[0])]) == {1}
    assert set(first[int(greedy.lengths[0]):]) == {0, 1}


@pytest.mark.parametrize("limit", [None, 40, 200])
def test_an_evaluation_of_endless_play_ends(monkeypatch, limit):
    monkeypatch.setattr(evaluate, "LONGEST", 50)
    settings = config("breakout")
    settings = dataclasses.replace(settings, env=dataclasses.replace(settings.env, time_limit=limit))
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    with torch.no_grad():
        policy.heads.weight.zero_()
        policy.heads.bias[:4] = torch.tensor([50.0, 0.0, 0.0, 0.0])  # never serves
    result = evaluate.play(policy, settings.game, settings.env, episodes=3, seed=0)
    assert result.lengths.tolist() == [min(limit or 50, 50)] * 3
    assert result.summary()["truncated"] == 3


def test_the_summary_equals_numpys():
    result = play(config())
    summary = result.summary()
    scores = result.returns
    assert summary["mean"] == pytest.approx(scores.mean())
    assert summary["standard_error"] == pytest.approx(scores.std(ddof=1) / 20**0.5)
    assert (summary["median"], summary["min"], summary["max"]) == (np.median(scores), scores.min(), scores.max())
    assert summary["episodes"] == 20
    heading, names, values = describe(summary).splitlines()
    assert heading.startswith("evaluation: raw scores to game over")
    row = dict(zip(re.split(r" {2,}", names), re.split(r" {2,}", values), strict=True))
    low, high = summary["mean_interval"]
    assert row == {"actions": "sampled", "sticky": "0", "no-ops": "0", "episodes": "20", "mean": f"{scores.mean():.4g}",
                   "95% interval": f"{low:.4g} to {high:.4g}", "median": f"{np.median(scores):.4g}",
                   "min": f"{scores.min():g}", "max": f"{scores.max():g}", "length": f"{summary['mean_length']:.0f}",
                   "truncated": "0"}


def limited_to_20(env):
    return gymnasium.wrappers.TimeLimit(env, 20)


@pytest.mark.parametrize(("game", "settings"), [
    ("cartpole", {"time_limit": 20}), ("gym:CartPole-v1", {"wrap": f"{__name__}:limited_to_20"})])
def test_an_evaluation_counts_the_episodes_that_a_limit_ended(game, settings):
    result = play(config(GameName(game), **settings), episodes=40)
    at_limit = result.lengths == 20
    assert 0 < at_limit.sum() < 40
    assert (result.truncated <= at_limit).all()  # an episode may also end in the very last step
    assert result.summary()["truncated"] == result.truncated.sum() >= at_limit.sum() - 2


@pytest.mark.parametrize("view", ["features", "pixels"])
def test_both_views_can_be_evaluated(view):
    result = play(dataclasses.replace(config(), env=EnvConfig(view=view, num_threads=1)), episodes=3)
    assert (result.lengths > 5).all()


@pytest.mark.parametrize(("game", "limit"), [("cartpole", 2**64), ("gym:ALE/Breakout-v5", 2**31 - 2**20)])
def test_seeds_of_evaluations_differ_from_those_of_trainings_and_fit(game, limit):
    seeds = [episode_seed(GameName(game), seed) for seed in (0, 1, 2, 2**31 - 1, 2**40, 2**62 - 1)]
    assert len(set(seeds)) == len(seeds)
    assert all(2**20 < seed < limit for seed in seeds[:3]) and max(seeds) < limit


def test_sampled_and_greedy_actions_and_both_protocols_stand_side_by_side():
    settings = config("breakout", time_limit=60, frame_skip=2)
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    played = evaluate.play_protocols(policy, settings.game, settings.env, greedy=None, sticky=(0.0, 0.25), episodes=3, seed=1)
    summary = evaluate.together(played)
    assert [(one["protocol"]["sticky"], one["protocol"]["actions"]) for one in every(summary)] == [
        (0.0, "sampled"), (0.0, "greedy"), (0.25, "sampled"), (0.25, "greedy")]
    assert [one.source.env.sticky for one in played] == [0.0, 0.0, 0.25, 0.25]
    assert summary["protocol"] == {"actions": "sampled", "sticky": 0.0, "noop_max": 0, "frame_skip": 2, "time_limit": 60,
                                   "scores": "raw", "end": "game over"}
    lines = describe(summary).splitlines()
    assert lines[0] == "evaluation: raw scores to game over or step 60" and max(map(len, lines)) < 100
    assert [line.split()[:4] for line in lines[2:]] == [
        ["sampled", "0", "0", "3"], ["greedy", "0", "0", "3"], ["sampled", "0.25", "0", "3"], ["greedy", "0.25", "0", "3"]]
    changed = dataclasses.replace(settings.env, sticky=0.25)
    alone = evaluate.play(policy, settings.game, changed, episodes=3, seed=1, greedy=True)
    assert (alone.returns == played[3].returns).all() and (alone.lengths == played[3].lengths).all()


def test_no_ops_begin_the_episodes_without_sticky_actions_and_make_greedy_ones_differ():
    settings = config("seaquest", time_limit=20)
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    both = partial(evaluate.play_protocols, policy, settings.game, settings.env, greedy=True, sticky=(0.0, 0.25), episodes=20,
                   seed=4)
    without, some = ([one.summary() for one in both(noop_max=most)] for most in (None, 30))
    assert [one["protocol"]["noop_max"] for one in (*without, *some)] == [0, 0, 30, 0]
    assert without[0]["different_episodes"] < some[0]["different_episodes"]
    assert without[1]["mean"] == some[1]["mean"]


@pytest.mark.parametrize(("noop_max", "expected"), [(None, [7, 7]), (0, [0, 0]), (30, [30, 0])])
def test_no_ops_of_an_evaluation_replace_those_of_the_training_and_are_none_with_sticky_actions(noop_max, expected):
    settings = config("seaquest", time_limit=20, noop_max=7)
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    played = evaluate.play_protocols(policy, settings.game, settings.env, greedy=False, sticky=(0.0, 0.25), noop_max=noop_max,
                                     episodes=2, seed=4)
    assert [one.protocol["noop_max"] for one in played] == [one.source.env.noop_max for one in played] == expected


def test_a_game_without_a_no_op_begins_as_ever():
    env = EnvConfig()
    for game in ("snake", "gym:CartPole-v1"):
        assert with_no_ops(GameName(game), env, 30) is env
    assert with_no_ops(GameName("pong"), env, 30).noop_max == 30


def test_an_evaluation_of_an_earlier_version_says_that_its_protocol_is_unknown():
    summary = play(config()).summary()
    del summary["protocol"]
    assert every(summary) == [summary]
    lines = describe(summary).splitlines()
    assert lines[0] == "evaluation: sampled or greedy actions, by an earlier version that did not note which"
    assert lines[2].split()[:3] == ["unknown", "own", "own"]


@pytest.mark.parametrize("option", ["--sticky 0", "--noop-max 5", "--noop-max 0"])
def test_settings_of_our_own_games_are_refused_for_a_gymnasium_environment(tmp_path, capsys, option):
    with foreign.registered():
        folder = train(foreign.config(tmp_path / "run"))
        capsys.readouterr()
        error = refused(capsys, f"eval {folder} --episodes 2 --device cpu {option}")
    assert error.startswith(f"error: {option.split()[0]} must be left out for {foreign.GAME}: only our own games have this")


def test_an_evaluation_shows_how_many_episodes_have_ended():
    ticks = []
    result = play(config(), tick=lambda *tick: ticks.append(tick))
    assert ticks[-1] == (20, 20, f"have ended, at step {result.lengths.max():,}")
    assert [done for done, _, _ in ticks] == [int((result.lengths <= step).sum()) for step in range(1, len(ticks) + 1)]


def limited(env):
    return gymnasium.wrappers.TimeLimit(env, 6)


@pytest.mark.parametrize(("length", "wrap", "endless"), [
    (20, "none", False), (10**9, "none", True), (10**9, f"{__name__}:limited", False)])
def test_a_training_whose_episodes_have_no_end_suggests_a_limit(tmp_path, monkeypatch, capsys, length, wrap, endless):
    monkeypatch.setattr(evaluate, "LONGEST", 30)
    with foreign.registered():
        settings = overlay(foreign.config(tmp_path / "run", eval_episodes=2, options={"length": length}),
                           {"env": {"wrap": wrap}})
        error = r"2 of 2 episodes did not end within 30 steps, .*\.TimeLimit and the setting wrap \(docs/gymnasium.md\)"
        with pytest.raises(ConfigError, match=error) if endless else contextlib.nullcontext():
            train(settings)
    note = "no episode has ended in this training; if those of gym:Toy-v0 have no end, the evaluation fails at step 30: give"
    assert (note in capsys.readouterr().out) == endless == (not (tmp_path / "run" / "evaluation.json").exists())


def endless(*arguments, greedy=False, real=evaluate.play, **more):
    """`evaluate.play` of a policy that ends no episode with greedy actions."""
    if greedy:
        raise ConfigError("20 of 20 episodes did not end")
    return real(*arguments, greedy=greedy, **more)


def test_eval_keeps_the_sampled_evaluation_if_greedy_episodes_do_not_end(tmp_path, monkeypatch, capsys):
    with foreign.registered():
        folder = str(train(foreign.config(tmp_path / "run")))
        monkeypatch.setattr(evaluate, "play", endless)
        command = ["eval", folder, "--episodes=3", "--device=cpu"]
        capsys.readouterr()
        assert main(command) == 0
        *table, note = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in table] == ["evaluation:", "actions", "sampled"]
        assert note == "there is no evaluation with greedy actions: 20 of 20 episodes did not end"
        assert main([*command, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["missing"] == [note] and found["others"] == []
        assert main([*command, "--no-greedy"]) == 0 and note not in capsys.readouterr().out
        assert main([*command, "--greedy"]) == 2
        assert capsys.readouterr().err == "error: 20 of 20 episodes did not end\n"


def test_the_end_of_a_training_keeps_the_sampled_evaluation_if_greedy_episodes_do_not_end(tmp_path, monkeypatch):
    notes = []
    log = SimpleNamespace(note=notes.append, ticker=lambda text: contextlib.nullcontext())
    settings = dataclasses.replace(config(), run=RunConfig(seed=2, device="cpu", eval_episodes=3, gif=False))
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), 2, torch.float32)
    evaluate.finish(policy, settings.game, settings.env, settings.run, tmp_path, log, step=64)
    assert [one["protocol"]["actions"] for one in every(read_json(tmp_path / "evaluation.json"))] == ["sampled", "greedy"]
    assert [note.split()[0] for note in notes] == ["evaluation:", "actions", "sampled", "evaluation:", "actions", "greedy"]
    evaluate.finish(policy, settings.game, settings.env, dataclasses.replace(settings.run, eval_greedy=False), tmp_path, log,
                    step=64)
    assert [one["protocol"]["actions"] for one in every(read_json(tmp_path / "evaluation.json"))] == ["sampled"]
    monkeypatch.setattr(evaluate, "play", endless)
    evaluate.finish(policy, settings.game, settings.env, settings.run, tmp_path, log, step=64)
    assert [one["protocol"]["actions"] for one in every(read_json(tmp_path / "evaluation.json"))] == ["sampled"]
    assert notes[-1] == "there is no evaluation with greedy actions: 20 of 20 episodes did not end"
