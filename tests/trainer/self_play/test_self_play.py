"""Self-play: the source against a slow twin, the opponents against their policies, and complete runs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ranks_support
import torch
from go_board import Board

from bridge import Pipeline
from envs_c import VecEnv, game
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.config.config import ConfigError
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.self_play.pool import CURRENT
from trainer.self_play.source import SelfPlaySource
from trainer.training import train
from trainer.training.build import make_session

N = 6
SIZE = 5
ROLLOUT = 8 * 16  # steps of an iteration of `config`


def config(folder=None, *, iterations=6, env=None, policy=None, **settings) -> Config:
    return Config("go", EnvConfig(**{"num_envs": 8, "num_threads": 1, "options": {"size": SIZE, "komi": 0.5}, **(env or {})}),
                  PolicyConfig(**{"encoder": "mlp", "encoder_size": 16, "lstm_size": 12, "precision": "float32",
                                  **(policy or {})}),
                  PPOConfig(horizon=16, minibatch=64, total_steps=iterations * ROLLOUT, learning_rate=0.01),
                  self_play=SelfPlayConfig(**{"self_play": True, "pool_size": 3, "pool_active": 2, "snapshot_every": 2,
                                              "anchor_games": 3, **settings}),
                  run=RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False, checkpoint_seconds=0.0,
                                run_dir=None if folder is None else str(folder)))


# --- the source ------------------------------------------------------------------------------------------------------

class Script:
    """Opponents whose moves depend only on the observation; also their pool, which records the games drawn."""

    def __init__(self):
        self.pool, self.games = self, []

    def draw(self, environments, games):
        self.games += zip(environments.tolist(), games.tolist(), strict=True)
        return environments * 100 + games

    def forget(self, environments):
        """Does nothing: a scripted opponent has no state."""

    def act(self, lo, rows, opponent, step, host, actions):
        for row in rows:
            actions[row] = scripted(host["observation"][row], host["action_mask"][row])


def scripted(observation, mask) -> int:
    """A legal move that depends on the observation: a point if one is legal, else a pass."""
    points = np.flatnonzero(mask[:-1])
    weights = np.arange(1, observation.size + 1) ** 2
    return int(points[(observation.ravel() * weights).sum() % len(points)]) if len(points) else SIZE * SIZE


class Hand:
    """The twin of environment i: plain Python on a plain board."""

    def __init__(self, i):
        self.i, self.game, self.over = i, 0, True

    def step(self, action):
        """Play the learner's step; returns its reward. `over` is True if the game has ended."""
        if self.over:
            self.over, self.board, self.length, self.total = False, Board(SIZE, 0.5), 0, 0
            self.learner = (self.i + self.game) % 2  # 0: the learner has Black, which moves first
            self.game += 1
            self.board.look()
            return self.answer() if self.learner == 1 else 0
        self.length += 1
        self.over = self.board.move(action if action < SIZE * SIZE else None)
        self.board.look()
        reward = self.board.result(self.learner) if self.over else self.answer()
        self.total += reward
        return reward

    def answer(self):
        point = scripted(self.board.planes(), self.board.mask())
        self.over = self.board.move(point if point < SIZE * SIZE else None)
        self.board.look()
        return self.board.result(self.learner) if self.over else 0


@pytest.mark.parametrize("batches", [1, 2])
def test_the_source_equals_its_twin_at_every_step(batches):
    options = {"size": SIZE, "komi": 0.5, **game("go").two_players.both}
    source = SelfPlaySource(VecEnv(game("go"), N, num_threads=1, seed=3, options=options))
    source.opponents = script = Script()
    pipeline = Pipeline(source, batches)
    pipeline.reset()
    hands, rng, ends, captures, finished = [Hand(i) for i in range(N)], np.random.default_rng(1), [0, 0], 0, []
    for hand in hands:
        hand.step(None)
    expected, over = [0] * N, [False] * N
    for step in range(150):
        actions = np.zeros(N, int)
        for batch, slab in zip(pipeline.batches, pipeline.slabs, strict=True):
            for row, i in enumerate(range(batch.lo, batch.hi)):
                where, host, board = f"step {step}, environment {i}", slab.host, hands[i].board
                assert np.array_equal(host["observation"][row], board.planes()), where
                assert np.array_equal(host["action_mask"][row], board.mask()), where
                result = host["reward"][row], host["terminated"][row], host["truncated"][row]
                assert result == (expected[i], over[i], 0), where
                assert over[i] or board.to_play == hands[i].learner, where
                legal = np.flatnonzero(host["action_mask"][row])
                passes = rng.random() < 0.15  # so that both sides end games, some with their last move
                actions[i] = SIZE * SIZE if passes else rng.choice(legal[:-1]) if len(legal) > 1 else legal[0]
        for batch, slab in zip(pipeline.batches, pipeline.slabs, strict=True):
            chosen = torch.from_numpy(actions[batch.lo: batch.hi])
            pipeline.turn(batch, lambda slab=slab, chosen=chosen: slab.actions.copy_(chosen))
        pipeline.settle()
        for i, hand in enumerate(hands):
            stones = 0 if hand.over else SIZE**2 - hand.board.points.count(2)
            expected[i] = hand.step(int(actions[i]))
            captures += hand.length > 0 and SIZE**2 - hand.board.points.count(2) < stones
            over[i] = hand.over
            if hand.over:
                ends[hand.board.to_play == hand.learner] += 1
                finished.append((hand.total, hand.length, i))
    episodes = pipeline.take_episodes()
    assert sorted(zip(*(column.tolist() for column in episodes), strict=True)) == sorted(finished)
    noted = [pair for rows in source.finished for pair in zip(*(column.tolist() for column in rows), strict=True)]
    assert sorted(noted) == sorted((100 * i + game, total) for (total, _, i), game in zip(
        finished, numbers(finished), strict=True))
    assert sorted(script.games) == sorted((hand.i, k + 1) for hand in hands for k in range(hand.game))
    assert min(ends) > 3 and captures > 20 and {total for total, _, _ in finished} == {-1, 1}
    pipeline.close()


def numbers(finished):
    """The number of each game in its environment, from 1."""
    environments = [i for _, _, i in finished]
    return [environments[: k + 1].count(i) for k, i in enumerate(environments)]


@pytest.mark.parametrize("settings", [
    {"memory": "lstm"}, {"memory": "mingru", "layers": 2, "encoder_size": 12}, {"memory": "none"},
    {"memory": "lstm", "frame_stack": 3}, {"memory": "none", "encoder": "board", "frame_stack": 2}])
def test_opponents_equal_their_policies_unrolled_from_the_start_of_each_game(settings, monkeypatch):
    """Their logits and value equal those of `unroll` over all observations of the game so far."""
    session = make_session(config(policy=settings, iterations=100))
    opponents, games, compared = session.league.source.opponents, {}, set()
    act = opponents.act

    def checked(lo, rows, opponent, step, host, actions):
        act(lo, rows, opponent, step, host, actions)
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

    monkeypatch.setattr(opponents, "act", checked)
    session.pipeline.reset()  # so that `checked` gets every move
    for _ in range(7):
        train.iterate(session)
    assert compared >= {(number, later) for number in (CURRENT, 0, 1) for later in (False, True)}


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


# --- runs ------------------------------------------------------------------------------------------------------------

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
    assert all(text in printed for text in ("against random: won", "against greedy: won", "joined at step"))


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


@pytest.mark.parametrize("name", ["breakout", "gym:CartPole-v1"])
def test_games_that_are_not_for_two_players_are_refused(name):
    settings = replace(config(), game=name, env=EnvConfig(num_envs=8, num_threads=1))
    with pytest.raises(ConfigError, match=f"self_play must be false for {name}: self-play needs a two-player game"):
        make_session(settings)
