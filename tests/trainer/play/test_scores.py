"""Equal episodes are one observation: intervals, standard errors, and which episodes are equal."""

import gymnasium
import numpy as np
import pytest
import torch

from trainer.config import EnvConfig, PolicyConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.play import evaluate, scores
from trainer.policy.make import make_policy


def test_episodes_are_equal_if_all_their_parts_are():
    fingerprints = scores.Fingerprints(4)
    running = np.ones(4, bool)
    fingerprints.add(np.array([1, 1, 2, 1], np.int32), running)
    fingerprints.add(np.array([[0.5, 1], [0.5, 1], [0.5, 1], [0.5, -1]], np.float32), running)
    first, count = scores.groups(fingerprints.numbers)
    assert (first.tolist(), count.tolist()) == ([0, 2, 3], [2, 1, 1])


@pytest.mark.parametrize("shape", [(1,), (3,), (7, 5), (600, 900)])
def test_one_byte_of_a_part_makes_an_episode_another_one(shape):
    """Also the highest bit of two numbers at once."""
    part = np.random.default_rng(1).integers(256, size=shape, dtype=np.uint8)
    episodes = np.stack([part] * 5)
    for row, places in ((1, [0]), (2, [-1]), (3, [0, -1])):
        for place in dict.fromkeys(np.arange(part.size)[places].tolist()):
            episodes[row].flat[place] ^= 0x80
    episodes[1].flat[0] ^= 0x01
    fingerprints = scores.Fingerprints(5)
    fingerprints.add(episodes, np.array([True, True, True, True, True]))
    assert len(scores.groups(fingerprints.numbers)[0]) == len(np.unique(episodes.reshape(5, -1), axis=0))
    alone = scores.Fingerprints(5)
    alone.add(episodes, np.arange(5) == 3)
    assert alone.numbers[3] == fingerprints.numbers[3] and not alone.numbers[[0, 1, 2, 4]].any()


@pytest.mark.parametrize(("parts", "groups"), [([[1, 1], [2, 2]], 1), ([[1, 2], [2, 1]], 2), ([[0, 1], [0, 0]], 2)])
def test_the_order_of_the_parts_matters(parts, groups):
    fingerprints = scores.Fingerprints(2)
    for part in parts:
        fingerprints.add(np.array(part, np.int32), np.ones(2, bool))
    assert len(scores.groups(fingerprints.numbers)[0]) == groups


def test_an_episode_that_has_ended_takes_no_more_parts():
    fingerprints = scores.Fingerprints(2)
    fingerprints.add(np.array([1, 1]), np.ones(2, bool))
    fingerprints.add(np.array([5, 7]), np.array([False, False]))
    assert fingerprints.numbers[0] == fingerprints.numbers[1]


class Lottery(gymnasium.Env):
    """Three steps after the same observation. Chance decides: what is seen, how rewards add up to 0, or the score.

    chance: "observation", "reward", "score", or "none".
    """

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, chance):
        self.chance = chance

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 1:
            self.drawn = float(self.np_random.uniform())
        seen = np.full(2, self.drawn if self.chance == "observation" and self.steps == 1 else 0.0, np.float32)
        reward = {"reward": (self.drawn, -self.drawn, 0.0), "score": (0.0, 0.0, self.drawn)}.get(self.chance, (0.0,) * 3)
        return seen, reward[self.steps - 1], self.steps == 3, False, {}


@pytest.mark.parametrize(("chance", "different"), [("observation", 5), ("reward", 5), ("score", 5), ("none", 1)])
def test_episodes_are_equal_if_observations_actions_and_rewards_are(monkeypatch, chance, different):
    """A policy that has few actions to choose from plays the same ones again."""
    spec = gymnasium.envs.registration.EnvSpec("Lottery-v0", Lottery, kwargs={"chance": chance})
    monkeypatch.setitem(gymnasium.registry, "Lottery-v0", spec)
    game, env = GameName("gym:Lottery-v0"), EnvConfig(num_threads=1)
    policy = make_policy(PolicyConfig(encoder_size=8, lstm_size=8), make_source(game, env, 1, 0), 1, torch.float32)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.zero_()  # the most likely action is the first
    summary = evaluate.play(policy, game, env, episodes=5, seed=1, greedy=True).summary()
    assert summary["different_episodes"] == different and (summary["mean_interval"] is None) == (different == 1)


def test_repeated_episodes_do_not_narrow_the_interval():
    """Four games, each played 25 times: the interval is that of four games, not of a hundred."""
    values = np.array([100.0, 200.0, 300.0, 400.0])
    assert scores.interval(values, np.full(4, 25)) == pytest.approx(scores.interval(values))
    low, high = scores.interval(np.repeat(values, 25))
    assert high - low < 0.35 * np.diff(scores.interval(values))[0]


@pytest.mark.parametrize("values", [[0.0, 1.0], [400.0, 410.0, 420.0, 430.0], [3.0, 9.0, 1.0, 7.0, 5.0, 2.0]])
def test_the_standard_error_of_groups_is_that_of_as_many_episodes(values):
    values = np.array(values)
    wanted = values.std(ddof=1) / len(values) ** 0.5
    assert scores.error(values, np.ones(len(values))) == pytest.approx(wanted)
    assert scores.error(values, np.full(len(values), 25)) == pytest.approx(wanted)
    nearly = np.array([1000, 1001] * (len(values) // 2))  # this one is of the bootstrap
    assert scores.error(values, nearly) == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize(("number", "quantile"), [(2, 12.706), (3, 4.303), (4, 3.182)])
def test_the_interval_of_few_different_episodes_is_students(number, quantile):
    values = np.arange(number) * 10.0
    width = quantile * values.std(ddof=1) / number ** 0.5
    assert scores.interval(values) == pytest.approx([values.mean() - width, values.mean() + width], rel=1e-3)
    assert scores.interval(np.full(number, 7.0)) == [7.0, 7.0]


def test_a_group_counts_as_often_as_it_was_played():
    means = scores.resampled_means(np.array([0.0, 10.0]), np.array([9, 1]))
    assert sorted(set(means.round(6))) == [0, 1, 10] and scores.error(np.array([5.0]), np.array([7])) == 0
    assert scores.interval(np.array([5.0]), np.array([7])) is None
