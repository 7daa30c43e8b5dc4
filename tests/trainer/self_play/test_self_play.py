"""Self-play: the opponents against their policies, the league, and complete runs."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import ranks_support
import torch

import envs_c
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import ConfigError
from trainer.play import matches
from trainer.ranks import Ranks
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.self_play.pool import CURRENT
from trainer.training import train
from trainer.training.build import make_session

ROLLOUT = 8 * 16  # steps of an iteration of `config`


def config(folder=None, *, iterations=6, env=None, policy=None, **settings) -> Config:
    return Config("go", EnvConfig(**{"num_envs": 8, "num_threads": 1, "options": {"size": 5, "komi": 0.5}, **(env or {})}),
                  PolicyConfig(**{"encoder": "mlp", "encoder_size": 16, "lstm_size": 12, "precision": "float32",
                                  **(policy or {})}),
                  PPOConfig(horizon=16, minibatch=64, total_steps=iterations * ROLLOUT, learning_rate=0.01),
                  self_play=SelfPlayConfig(**{"self_play": True, "pool_size": 3, "pool_active": 2, "snapshot_every": 2,
                                              "anchor_games": 3, **settings}),
                  run=RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False, checkpoint_seconds=0.0,
                                run_dir=None if folder is None else str(folder)))


@pytest.mark.parametrize("settings", [
    {"memory": "lstm"}, {"memory": "mingru", "layers": 2, "encoder_size": 12}, {"memory": "none"},
    {"memory": "own_memories:Layered"},
    {"memory": "lstm", "frame_stack": 3}, {"memory": "none", "encoder": "board", "frame_stack": 2}])
def test_opponents_equal_their_policies_unrolled_from_the_start_of_each_game(settings, monkeypatch):
    """Their logits and value equal those of `unroll` over all observations of the game so far."""
    session = make_session(config(policy=settings, iterations=100))
    opponents, games, compared = session.league.source.opponents, {}, set()
    queue, fetch = opponents.queue, opponents.fetch

    def checked(lo, rows, opponent, step, host):
        actions = np.zeros(len(opponent), np.int32)
        queue(lo, rows, opponent, step, host)
        fetch(lo, rows, actions)
        for row in rows:
            key = lo + row, session.pipeline.source.games[lo + row]
            network, _ = session.league.pool.player(int(opponent[row]))
            frames = games.setdefault(key, [])
            frames.append(torch.from_numpy(host["observation"][row].copy()))
            assert host["action_mask"][row, actions[row]]
            if opponent[row] == CURRENT and session.iteration:
                continue  # the current policy has changed during the game, and so has its recurrent state
            before = network.frames - 1
            stack = torch.stack([torch.zeros_like(frames[0])] * before + frames)[:, None]
            start = torch.zeros(len(stack), 1)
            start[before] = 1
            with torch.no_grad():
                logits, value = network.unroll(network.preprocess_rollout(stack, start), start[before:],
                                               network.initial_state(1))
            assert torch.allclose(opponents.out[lo + row, :-1], logits[-1, 0], atol=1e-5)
            assert torch.allclose(opponents.out[lo + row, -1], value[-1, 0], atol=1e-5)
            compared.add((int(opponent[row]), len(frames) > 1))

    monkeypatch.setattr(opponents, "queue", checked)
    session.pipeline.reset()  # so that `checked` gets every move
    for _ in range(7):
        train.iterate(session)
    assert compared >= {(number, later) for number in (CURRENT, 0, 1) for later in (False, True)}


def test_opponents_do_not_act_by_the_learner_s_random_numbers():
    """They have the same keys: environment and step. So the policy would often play the same move on both sides."""
    session = make_session(config())
    assert session.league.source.opponents.seed != session.actor.seed


def test_the_number_of_batches_changes_neither_sides_nor_opponents():
    drawn = []
    for batches in (1, 2):
        session = make_session(config(env={"num_batches": batches}))
        collect(session.actor)
        session.pipeline.settle()
        source = session.pipeline.source
        drawn.append((source.games.tolist(), source.opponent.tolist(), source.second.tolist()))
    assert drawn[0] == drawn[1]


def test_every_tensor_of_the_environments_declares_their_dimension():
    session = make_session(config())
    source = session.pipeline.source
    state, dims = source.state(), source.environment_dims()
    assert dims.keys() == state.keys() and dims["environments"] == "snapshot"
    assert all(dim == "snapshot" or state[name].shape[dim] == source.num_envs for name, dim in dims.items())
    assert session.league.environment_dims() == {}


def test_the_league_records_the_games_of_all_ranks():
    league, ranks = make_session(config(pool_size=1)).league, Ranks()
    league.pool.add(1)  # member 0 leaves
    league.source.finished = [(np.array([1, CURRENT]), np.array([-1.0, 1.0]))]
    league.source.opponent[:] = CURRENT
    elsewhere = [(np.array([0]), np.array([1.0]))], np.array([0])
    ranks.everyone = lambda value: [value, elsewhere]
    league.end(2, ranks)
    assert league.pool.fresh == (1, 2) and league.source.finished == []
    assert league.pool.players.keys() == {0, 1}  # the other rank still plays against member 0


def test_a_draw_against_an_anchor_is_half_a_win():
    league = make_session(config()).league
    league.note_anchor("random", np.array([7.0, 0.0, -2.0, 0.0, 0.0]), 0)
    assert league.latest["win_rate_random"] == 0.5
    assert league.anchor_points[0, :, 0].tolist() == [2.5, 5.0]


def test_the_rating_of_a_run_is_that_of_its_newest_member():
    league = make_session(config()).league
    league.note_anchor("random", np.ones(6), 0)
    league.pool.note(np.zeros(6, int), np.ones(6))  # the learner beats it
    league.rate(0)
    ratings = {row["name"]: row["rating"] for row in league.table()}
    assert league.metrics()["rating"] == league.rating_at(0) == ratings["policy 0"] != ratings["learner"]
    assert league.rating_at(1) is None  # the policy has learned since


def test_the_win_rate_against_the_pool_is_the_learners_share_of_the_points_since_the_last_member_joined():
    league = make_session(config()).league
    assert league.metrics()["win_rate_pool"] is None
    league.pool.note(np.zeros(5, int), np.array([1.0, 1, 1, 0, -1]))
    assert league.metrics() | {"pool_size": 1, "win_rate_pool": 0.7} == league.metrics()
    league.pool.add(1)
    assert league.metrics() | {"pool_size": 2, "win_rate_pool": None} == league.metrics()


def test_the_printed_ratings_begin_with_the_strongest_player():
    league = make_session(config()).league
    league.note_anchor("random", np.ones(6), 0)
    league.note_anchor("greedy", -np.ones(6), 0)
    league.pool.note(np.zeros(6, int), np.array([1.0, 1, 1, 1, 1, -1]))
    league.rate(0)
    head, *lines = league.describe().splitlines()
    wanted = sorted(league.table(), key=lambda row: -row["rating"])
    assert head.split() == ["player", "rating", "error", "games", "joined", "at", "step"]
    assert [line[:14].strip() for line in lines] == [row["name"] for row in wanted]
    assert [[int(number) for number in line[14:40].split()] for line in lines] == [
        [round(row["rating"]), round(row["error"]), row["games"]] for row in wanted]
    assert wanted[0]["name"] != "random" and wanted[0]["rating"] > wanted[-1]["rating"]


def same(one, other):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor.nan_to_num(9e9), other[name].nan_to_num(9e9)) if tensor.is_floating_point() else \
            torch.equal(tensor, other[name]), name


@pytest.mark.parametrize("settings", [{}, {"opponent_draw": "hard", "snapshot_win_rate": 0.5, "pool_size": 2}])
def test_a_run_stopped_and_resumed_equals_one_that_never_stopped(tmp_path, settings):
    whole, parts = (config(tmp_path / name, iterations=7, **settings) for name in ("whole", "parts"))
    train.train(whole)
    train.train(replace(parts, run=replace(parts.run, stop_at=3 * ROLLOUT)))
    train.train(replace(parts, run=replace(parts.run, resume=parts.run.run_dir)))
    same(*(checkpoint.load(checkpoint.latest(run.run.run_dir))[0] for run in (whole, parts)))
    ours, theirs = ((tmp_path / name / "ratings.json").read_text() for name in ("whole", "parts"))
    assert ours == theirs
    metrics = [[json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
               for name in ("whole", "parts")]
    for mine, other in zip(*metrics, strict=True):
        assert all(mine[name] == other[name] for name in ("score_mean", "rating", "pool_size", "win_rate_random"))


def test_the_best_checkpoint_is_the_policy_that_had_the_best_rating_when_it_joined_the_pool(tmp_path):
    made = config(tmp_path / "run", iterations=11, snapshot_every=3, pool_size=2, anchor_games=32)
    folder = train.train(replace(made, run=replace(made.run, checkpoint_seconds=1000.0)))
    ratings = {line["step"]: line["rating"] for line in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())}
    joined = [k * ROLLOUT for k in (3, 6, 9)]
    best = max(joined, key=ratings.get)
    assert checkpoint.load(folder / checkpoint.BEST).meta["iteration"] * ROLLOUT == best
    assert checkpoint.best_score(folder) == ratings[best]
    saved = sorted(folder.glob("step_*.safetensors"))
    assert [checkpoint.load(path).meta["iteration"] for path in saved] == [6, 9, 11]


def test_until_the_policy_has_joined_the_pool_the_newest_is_the_best_one(tmp_path):
    folder = train.train(config(tmp_path / "run", iterations=3, snapshot_every=100))
    assert checkpoint.load(folder / checkpoint.BEST).meta["iteration"] == 3
    assert checkpoint.best_score(folder) is None


def test_a_run_writes_and_prints_all_ratings(tmp_path, capsys):
    made = config(tmp_path / "run", iterations=6)
    folder = train.train(replace(made, run=replace(made.run, eval_episodes=4)))
    players = json.loads((folder / "ratings.json").read_text())["players"]
    assert [player["name"] for player in players] == ["random", "greedy", *(f"policy {k}" for k in range(4)), "learner"]
    assert players[0]["rating"] == 0 and [player.get("step") for player in players[2:]] == [0, 256, 512, 768, None]
    assert [player.get("in_pool") for player in players[2:6]] == [True, False, True, True]
    assert all(player["games"] >= 6 for player in players)
    last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["pool_size"] == 3 and 0 <= last["win_rate_random"] <= 1 and last["rating"] is not None
    summary = json.loads((folder / "evaluation.json").read_text())
    assert summary["opponents"].keys() == {"random", "greedy"} and summary["mean"] == summary["opponents"]["greedy"]["mean"]
    printed = capsys.readouterr().out
    assert "joined at step" in printed
    for name, one in summary["opponents"].items():  # a win is 1 and a loss -1, and half a point of komi leaves no draw
        assert f"against {name}: won {(one['mean'] + 1) / 2:.0%}\n" in printed


def test_games_with_greedy_actions_leave_the_ratings_as_they_are(tmp_path):
    tables, log = [], SimpleNamespace(note=lambda text: None, ticker=None)
    for greedy in (False, True):
        session = make_session(config())
        run = replace(session.config.run, eval_episodes=8, eval_greedy=greedy)
        matches.finish(session.policy, session.league, run, tmp_path, log, step=0)
        tables.append(session.league.table())
    assert tables[0] == tables[1]


def test_a_draw_is_no_game_won(tmp_path, monkeypatch):
    real, notes = matches.play_protocols, []
    monkeypatch.setattr(matches, "play_protocols", lambda *given, **more: [
        one._replace(returns=np.array([1.0, 0, 0, -1])) for one in real(*given, **more)])
    session = make_session(config())
    run = replace(session.config.run, eval_episodes=4, eval_greedy=False)
    matches.finish(session.policy, session.league, run, tmp_path, SimpleNamespace(note=notes.append, ticker=None), step=0)
    assert [one for one in notes if one.startswith("against")] == ["against greedy: won 25%", "against random: won 25%"]


def test_an_interrupt_of_the_evaluation_loses_only_the_anchors_not_yet_played(tmp_path, monkeypatch):
    real, began = matches.play_protocols, []

    def interrupted_in_the_second(*given, **more):
        began.append(more["filmed"])
        if len(began) == 2:
            raise KeyboardInterrupt
        return real(*given, **more)

    monkeypatch.setattr(matches, "play_protocols", interrupted_in_the_second)
    session = make_session(config())
    run = replace(session.config.run, eval_episodes=4, gif=True)
    with pytest.raises(KeyboardInterrupt):
        matches.finish(session.policy, session.league, run, tmp_path, SimpleNamespace(note=print, ticker=None), step=5)
    summary = json.loads((tmp_path / "evaluation.json").read_text())
    assert summary["opponents"].keys() == {"greedy"} and summary["step"] == 5
    assert summary["mean"] == summary["opponents"]["greedy"]["mean"] and len(summary["others"]) == 1
    assert (tmp_path / "episode.gif").stat().st_size and "film_score" in summary


def on_a_rank(settings: Config, iterations: int, folder: str | None):
    """Train on one of two ranks; returns the opponents of its environments, and the league's record.

    folder: for a checkpoint at the end, or None.
    """
    session = make_session(settings, ranks_support.joined)
    for _ in range(iterations):
        train.iterate(session)
    if folder is not None:
        session.save(Path(folder))
    source, league = session.pipeline.source, session.league
    return ([getattr(source, name).tolist() for name in ("games", "opponent", "second")], league.pool.points.tolist(),
            league.table(), league.pool.members)


@pytest.mark.slow
def test_two_ranks_keep_one_pool_and_one_of_them_can_go_on_with_it(tmp_path):
    settings = config(env={"num_envs": 8})
    pair = ranks_support.Pair()
    try:
        ours, first = on_a_rank(settings, 1, None), pair(on_a_rank, settings, 1, None)
        assert [mine + others for mine, others in zip(first[0][0], first[1][0], strict=True)] == ours[0]
        assert first[0][1:] == first[1][1:] == ours[1:]
        later = pair(on_a_rank, settings, 5, str(tmp_path))
    finally:
        pair.close()
    assert later[0][1:] == later[1][1:] and len(later[0][3]) == 3
    alone = make_session(settings, resume=checkpoint.latest(tmp_path))
    assert alone.league.table() == later[0][2]
    assert alone.pipeline.source.opponent.tolist() == later[0][0][1] + later[1][0][1]
    assert alone.league.pool.players.keys() >= set(alone.pipeline.source.opponent.tolist()) - {CURRENT}
    train.iterate(alone)


@pytest.mark.parametrize("env, words", [
    ({"frame_skip": 2}, "frame_skip must be none in self-play, not 2"), ({"noop_max": 3}, "noop_max must be 0 .* not 3"),
    ({"sticky": 0.25, "reward_clip": 1.0}, "sticky must be 0.0 .* not 0.25"), ({"time_limit": 50}, "time_limit must be none"),
    ({"reward_clip": 1.0}, "reward_clip must be none .* not 1.0"), ({"sim": "device"}, "sim must be host .* not device"),
])
def test_settings_that_do_not_go_with_self_play_are_refused(env, words):
    with pytest.raises(ConfigError, match=words):
        make_session(config(env=env))


@pytest.mark.parametrize("options", [{"opponent": 9.0}, {"opponent": "greedy"}, {"colour": 7.0}])
def test_options_that_evaluations_would_refuse_are_refused_before_the_training(options):
    with pytest.raises(envs_c.EnvsError, match=f"option '{next(iter(options))}' of go must be"):
        make_session(config(env={"options": options}))


@pytest.mark.parametrize("name", ["breakout", "gym:CartPole-v1"])
def test_games_that_are_not_for_two_players_are_refused(name):
    settings = replace(config(), game=name, env=EnvConfig(num_envs=8, num_threads=1))
    with pytest.raises(ConfigError, match=f"self_play must be false for {name}: self-play needs a two-player game"):
        make_session(settings)
