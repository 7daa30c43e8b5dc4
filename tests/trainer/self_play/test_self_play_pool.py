"""The pool of self-play: the draw of opponents, joining, leaving, and the record of the games."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from trainer.config import SelfPlayConfig
from trainer.self_play.pool import CURRENT, Pool, crowded, uniform


def pool(members=1, **settings) -> Pool:
    network = torch.nn.Linear(1, 1)
    network.cast_weights = lambda into=None: {}
    made = Pool(SelfPlayConfig(**settings), network, {}, lambda: with_cast(torch.nn.Linear(1, 1)), 7)
    for k in range(1, members):
        made.add(k)
    return made


def with_cast(network):
    network.cast_weights = lambda into=None: {}
    return network


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_opponents_are_drawn_in_the_shares_asked_for(share):
    made = pool(4, current_share=share, pool_active=4)
    made.begin_rollout(1)
    environments = np.arange(20_000)
    drawn = made.draw(environments, np.ones_like(environments))
    assert np.mean(drawn == CURRENT) == pytest.approx(share, abs=0.01)
    assert [np.mean(drawn == k) for k in range(4)] == pytest.approx([(1 - share) / 4] * 4, abs=0.01)
    assert np.array_equal(made.draw(environments[50:60], np.ones(10, int)), drawn[50:60])
    assert not np.array_equal(made.draw(environments, np.full(20_000, 2)), drawn) or share == 1


@pytest.mark.parametrize("draw, ratio", [
    ("uniform", [1, 1, 1]), ("hard", [0.2**2, 0.5**2, 0.9**2]), ("even", [0.16, 0.25, 0.09])])
def test_members_are_drawn_by_how_often_they_are_beaten(draw, ratio):
    made = pool(3, opponent_draw=draw)
    for number, rate in enumerate((0.8, 0.5, 0.1)):
        made.recent[:, number] = 1e6 * rate, 1e6
    assert made.chances() == pytest.approx(np.array(ratio) / sum(ratio), abs=5e-3)
    made.settings, first = replace(made.settings, pool_active=1), []
    for iteration in range(3000):
        made.begin_rollout(iteration)
        first += made.active.tolist()
    assert np.bincount(first, minlength=3) / 3000 == pytest.approx(made.chances(), abs=0.03)


def test_results_are_recorded_and_become_the_next_members():
    made = pool(2)
    made.note(np.array([0, 1, 1, CURRENT, 0]), np.array([1.0, -1.0, 0.0, 1.0, 3.5]))
    assert made.points.tolist() == [[0, 0, 0], [0, 0, 1.5], [2, 0.5, 0]]
    assert made.fresh == (2.5, 4)
    assert made.win_rates() == pytest.approx([2.5 / 3, 1 / 3])
    made.add(9)
    assert made.points.tolist() == [[0, 0, 0, 0], [0, 0, 1.5, 0], [2, 0.5, 0, 0], [0, 0, 0, 0]]
    assert made.fresh == (0, 0) and made.win_rates() == pytest.approx([1.5 / 2, 0.75 / 2, 0.5])  # old games count half


@pytest.mark.parametrize("size, kept", [
    (1, [20]), (2, [0, 20]), (3, [0, 2, 20]), (4, [0, 7, 13, 20]), (5, [0, 4, 9, 13, 20]), (8, [0, 4, 8, 10, 12, 15, 18, 20]),
    (30, list(range(21)))])
def test_a_full_pool_has_lost_its_most_crowded_members(size, kept):
    assert pool(21, pool_size=size).members == kept


@pytest.mark.parametrize("size", [4, 5, 8, 13])
def test_a_full_pool_stays_spread_over_the_training(size):
    assert max(np.diff(pool(21, pool_size=size).members)) <= 2 * 20 / (size - 1) + 1


@pytest.mark.parametrize("members, gone", [([0, 1], 0), ([0, 4, 5, 6], 5), ([0, 1, 2, 3], 1), ([0, 5, 9], 5)])
def test_the_crowded_member_makes_room(members, gone):
    assert crowded(members) == gone


@pytest.mark.parametrize("settings, iteration, points, due", [
    ({"snapshot_every": 5}, 4, (500, 500), False), ({"snapshot_every": 5}, 5, (0, 0), True),
    ({"snapshot_every": 50, "snapshot_win_rate": 0.6}, 1, (60, 40), True),
    ({"snapshot_every": 50, "snapshot_win_rate": 0.6}, 1, (59, 41), False),
    ({"snapshot_every": 50, "snapshot_win_rate": 0.6}, 1, (90, 9), False),  # too few games
])
def test_a_policy_joins_after_its_iterations_or_once_it_wins_enough(settings, iteration, points, due):
    made = pool(**settings)
    made.note(np.zeros(sum(points), int), np.repeat([1.0, -1.0], points))
    assert made.due(iteration) == due


def test_members_who_left_are_kept_until_their_games_have_ended():
    made = pool(5, pool_size=2)
    assert set(made.players) == {0, 1, 2, 3, 4} and made.members == [0, 4]
    made.tidy(np.array([2, CURRENT, 0]))
    assert set(made.players) == {0, 2, 4}


def test_uniform_numbers_are_uniform_and_differ_with_everything_that_keys_them():
    ones = np.ones(100_000, int)
    drawn = uniform(1, np.arange(100_000), ones, 0)
    assert drawn.min() >= 0 and drawn.max() < 1
    assert np.histogram(drawn, 20, (0, 1))[0] == pytest.approx(5000, abs=350)
    for other in (uniform(2, np.arange(100_000), ones, 0), uniform(1, np.arange(100_000), 2 * ones, 0),
                  uniform(1, np.arange(100_000), ones, 1), uniform(1, np.arange(1, 100_001), ones, 0)):
        assert abs(np.corrcoef(drawn, other)[0, 1]) < 0.02
