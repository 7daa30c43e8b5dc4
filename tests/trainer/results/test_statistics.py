"""Statistics over seeds equal values computed by hand from the definitions in Agarwal et al. (2021)."""

import numpy as np
import pytest

from trainer.results import statistics
from trainer.results.published import AGENTS, PLAYERS, published


def games(*rows):
    return [np.array(row, float) for row in rows]


@pytest.mark.parametrize(("scores", "mean"), [
    ([[7]], 7), ([[1, 2, 9]], 4),                       # fewer than 4: nothing is left out
    ([[0, 2, 4, 100]], 3), ([[100, 4, 0, 2]], 3),       # one of 4 at either end
    ([[0, 1, 2, 3, 4, 5, 60]], 3),                      # floor(7 / 4) = 1 at either end: (1 + 2 + 3 + 4 + 5) / 5
    ([list(range(10))], 4.5),                           # 2 at either end: 2 ... 7
    ([[0, 1], [2, 100]], 1.5),                          # over the runs of all games together
    ([[0, 0, 0, 0, 0, 0], [8, 8]], 4),                  # each game weighs the same, however many runs it has
    ([[1, 2, 3, 4], [20, 10]], (3 + 4 + 10 + 10) / 4),  # that is 1 2 3 4 10 10 20 20
])
def test_the_interquartile_mean_leaves_out_a_quarter_at_either_end(scores, mean):
    assert statistics.iqm(games(*scores)) == pytest.approx(mean)


@pytest.mark.parametrize(("scores", "mean", "median"), [
    ([[1, 2, 6]], 3, 2), ([[0, 2], [10, 10, 10], [4, 8]], (1 + 10 + 6) / 3, 6)])
def test_mean_and_median_are_over_the_means_of_the_games(scores, mean, median):
    assert (statistics.mean(games(*scores)), statistics.median(games(*scores))) == (pytest.approx(mean), median)


@pytest.mark.parametrize(("scores", "at", "parts"), [
    ([[1, 2, 3, 4]], [0, 1, 2.5, 4], [1, 3 / 4, 1 / 2, 0]),
    ([[0, 1], [1, 1, 1, 5]], [0, 1], [(1 / 2 + 1) / 2, (0 + 1 / 4) / 2]),
])
def test_a_profile_is_the_part_of_runs_above_a_score(scores, at, parts):
    assert statistics.profile(games(*scores), np.array(at)).tolist() == parts


@pytest.mark.parametrize(("better", "worse", "chance"), [
    ([[2, 3]], [[1, 1]], 1), ([[1, 1]], [[2, 3]], 0), ([[1]], [[1]], 1 / 2),
    ([[1, 3]], [[2, 3, 0]], (1 + 1 / 2 + 2) / 6),        # 1 > 0; 3 = 3; 3 > 2 and 0
    ([[2], [0, 4]], [[1], [2, 2]], (1 + 1 / 2) / 2),     # the mean over two games
])
def test_the_probability_of_improvement_counts_pairs_of_runs(better, worse, chance):
    assert statistics.improvement(games(*better), games(*worse)) == pytest.approx(chance)
    assert statistics.improvement(games(*worse), games(*better)) == pytest.approx(1 - chance)


def test_a_bootstrap_of_two_runs_has_the_exact_quantiles():
    """The mean of two draws from {0, 4} is 0 with a probability of 1/4, 4 with 1/4, and 2 otherwise."""
    assert statistics.interval(statistics.mean, games([0, 4])) == [0, 4]
    assert statistics.interval(statistics.mean, games([0, 4]), confidence=0.4) == [2, 2]


@pytest.mark.parametrize(("scores", "of_90"), [([0, 0, 3], [0, 2]), ([0, 3, 3], [1, 3])])
def test_an_interval_is_of_95_percent_unless_another_is_asked_for(scores, of_90):
    """The mean of three draws is that of the rarer score only with a probability of 1/27, between 1/40 and 1/20."""
    assert statistics.interval(statistics.mean, games(scores)) == [0, 3]
    assert statistics.interval(statistics.mean, games(scores), confidence=0.9) == of_90


def test_the_bootstrap_is_stratified_by_game():
    """Draws stay in their game: with one run each, or with equal runs in each game, nothing varies."""
    assert statistics.interval(statistics.mean, games([0, 0], [10, 10])) == [5, 5]
    assert statistics.interval(statistics.improvement, games([1, 1]), games([0, 0, 0])) == [1, 1]


@pytest.mark.parametrize("scores", [[[3], [4]], [[3], [4, 5]], [[3]], []])
def test_a_bootstrap_with_a_game_of_one_run_claims_no_interval(scores):
    """Its spread is not known; drawn again and again, the one run would make the interval too narrow."""
    assert statistics.interval(statistics.mean, games(*scores)) is None


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216), (29, 2.04523)])
def test_quantiles_of_students_distribution_are_those_of_tables(degrees, quantile):
    assert statistics.student_quantile(degrees, 0.975) == pytest.approx(quantile, rel=2e-6)


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_intervals_of_few_seeds_cover_the_true_mean_as_often_as_they_say(runs):
    random, covered = np.random.default_rng(3), 0
    for _ in range(1000):
        low, high = statistics.student_interval(random.normal(5, 2, runs))
        covered += low <= 5 <= high
    assert 0.93 <= covered / 1000 <= 0.97
    assert statistics.student_interval(np.array([3.0])) is None


def test_an_interval_of_a_profile_has_a_low_and_a_high_part_for_each_score():
    low, high = statistics.interval(lambda scores: statistics.profile(scores, np.array([0.5, 9])), games([0, 1]))
    assert (low, high) == ([0, 0], [1, 0])


def test_intervals_of_seeds_cover_the_true_mean():
    random, covered = np.random.default_rng(3), 0
    for _ in range(200):
        low, high = statistics.interval(statistics.mean, [random.normal(5, 2, 10)], resamples=200)
        covered += low <= 5 <= high
    assert 0.82 <= covered / 200 <= 0.97  # percentiles of 10 runs are somewhat too narrow, as is known


@pytest.mark.parametrize("game", [*AGENTS, *(f"atari:{name}" for name in PLAYERS)])
def test_normalized_scores_are_0_for_random_play_and_1_for_the_human(game):
    row = published(game, {})
    assert (row.normalized(row.random), row.normalized(row.human)) == (0, 1)
    assert published(game, {"lives": 1.0}) is published(game, {"lives": 1.0, "forecast": 1.0}) is None
    assert published(game, {"forecast": 1.0}) == row  # more features of the same game


@pytest.mark.parametrize(("game", "part"), [("asterix", 0.5), ("asteroids", 0.0138), ("breakout", 13.33), ("enduro", 0.847),
                                            ("freeway", 1.04), ("pong", 1.139), ("seaquest", 0.138),
                                            ("space_invaders", 1.0155)])
def test_dqn_has_its_human_normalized_scores(game, part):
    """By hand from the two columns of Wang et al. (2016), table 2."""
    row = published(game, {})
    assert row.normalized(row.dqn) == pytest.approx(part, rel=0.005)


def test_all_57_games_of_the_literature_have_a_human():
    assert len(PLAYERS) == 57 and published("atari:basic_math", {}) is published("alien", {}) is None
