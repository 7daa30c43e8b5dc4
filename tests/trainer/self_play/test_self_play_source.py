"""The source of self-play against a slow twin: two-player games on a plain board."""

import numpy as np
import pytest
import torch
from go_board import Board

from bridge import Pipeline
from envs_c import VecEnv, game
from trainer.self_play.source import SelfPlaySource

N = 6
SIZE = 5


class Script:
    """Opponents whose moves depend only on the observation; also their pool, which records the games drawn."""

    overlaps = True

    def __init__(self):
        self.pool, self.games, self.queued = self, [], {}

    def draw(self, environments, games):
        self.games += zip(environments.tolist(), games.tolist(), strict=True)
        return environments * 100 + games

    def forget(self, environments):
        """Does nothing: a scripted opponent has no state."""

    def queue(self, lo, rows, opponent, step, host):
        self.queued[lo] = {row: scripted(host["observation"][row], host["action_mask"][row]) for row in rows}

    def fetch(self, lo, rows, actions):
        for row in rows:
            actions[row] = self.queued[lo][row]


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
                action_mask = np.flatnonzero(host["action_mask"][row])
                passes = rng.random() < 0.15  # so that both sides end games, some with their last move
                actions[i] = SIZE * SIZE if passes else rng.choice(action_mask[:-1]) if len(action_mask) > 1 else action_mask[0]
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


def sides_and_opponents(first: int, count: int):
    """Play `count` environments of a run, from number `first`; returns games, opponents and sides of each."""
    options = {"size": SIZE, "komi": 0.5, **game("go").two_players.both}
    source = SelfPlaySource(VecEnv(game("go"), count, num_threads=1, seed=3, options=options, first=first))
    source.opponents = Script()
    pipeline = Pipeline(source, 1)
    pipeline.reset()
    (batch,), (slab,) = pipeline.batches, pipeline.slabs
    for _ in range(60):
        chosen = [scripted(*rows) for rows in zip(slab.host["observation"], slab.host["action_mask"], strict=True)]
        pipeline.turn(batch, lambda chosen=chosen: slab.actions.copy_(torch.tensor(chosen)))
        pipeline.settle()
    pipeline.close()
    return np.stack([source.games, source.opponent, source.second])


def test_a_part_of_the_environments_has_the_same_sides_and_opponents():
    whole = sides_and_opponents(0, N)
    assert whole[0].min() > 1 and len(set(whole[2])) == 2
    assert np.array_equal(whole, np.concatenate([sides_and_opponents(0, 2), sides_and_opponents(2, 4)], 1))
