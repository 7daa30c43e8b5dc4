"""Ratings: closed forms, the maximum of the likelihood, and the effect of the prior."""

import numpy as np
import pytest

from trainer.self_play.ratings import ELO, derivatives, expected, fit, likelihood


def matrix(size, games):
    """The matrix of points; games: {(i, j): (points of i, points of j)}."""
    points = np.zeros((size, size))
    for (i, j), (mine, theirs) in games.items():
        points[i, j], points[j, i] = mine, theirs
    return points


@pytest.mark.parametrize("won, lost", [(3, 1), (1, 3), (10, 10), (0.5, 99.5), (700, 300)])
def test_two_players_are_apart_by_the_logarithm_of_their_odds(won, lost):
    rating, error = fit(matrix(2, {(0, 1): (lost, won)}), prior=0)
    assert rating[0] == 0 and rating[1] == pytest.approx(400 * np.log10(won / lost), abs=1e-6)
    assert error[0] == 0 and error[1] == pytest.approx(ELO * ((won + lost) / (won * lost)) ** 0.5)  # of log odds


def test_a_chain_of_players_adds_up():
    rating = fit(matrix(4, {(1, 0): (3, 1), (2, 1): (9, 1), (3, 2): (1, 4)}), prior=0).rating
    assert rating == pytest.approx(400 * np.log10([1, 3, 27, 27 / 4]), abs=1e-6)


@pytest.mark.parametrize("difference, share", [(0, 0.5), (400, 10 / 11), (-400, 1 / 11), (200, 0.75974693)])
def test_the_scale_is_elos(difference, share):
    assert expected(difference) == pytest.approx(share)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_ratings_make_the_results_likelier(seed):
    rng = np.random.default_rng(seed)
    points = rng.poisson(3, (8, 8)) * rng.integers(0, 2, (8, 8)) / 2
    np.fill_diagonal(points, 0)
    rating = fit(points).rating / ELO
    points += (np.eye(8, k=1) + np.eye(8, k=-1)) / 2  # the prior's draws
    top = likelihood(points, rating)
    assert np.abs(derivatives(points, rating)[0]).max() < 1e-8
    assert all(likelihood(points, rating + rng.normal(size=8) * scale) < top for scale in (1e-2, 0.1, 1) for _ in range(20))


def test_the_derivatives_are_those_of_the_likelihood():
    rng = np.random.default_rng(0)
    points, rating, tiny = rng.random((4, 4)) * 5, rng.normal(size=4), 1e-5
    np.fill_diagonal(points, 0)
    slope, curve = derivatives(points, rating)
    for k in range(3):
        change = np.eye(4)[k + 1] * tiny
        risen = likelihood(points, rating + change) - likelihood(points, rating - change)
        assert risen / (2 * tiny) == pytest.approx(slope[k])
        moved = (derivatives(points, rating + change)[0] - derivatives(points, rating - change)[0]) / (2 * tiny)
        assert moved == pytest.approx(-curve[k])


@pytest.mark.parametrize("size, games", [
    (1, {}), (3, {}),                                  # nobody has played
    (3, {(2, 0): (64, 0)}),                            # somebody has won everything
    (4, {(1, 0): (500, 0), (3, 2): (500, 0)}),         # two who never played the others
    (60, {(k + 1, k): (40, 0) for k in range(59)}),    # each has beaten the one before
])
def test_ratings_are_finite_whatever_the_results(size, games):
    rating, error = fit(matrix(size, games))
    assert np.isfinite(rating).all() and np.isfinite(error).all() and rating[0] == error[0] == 0
    assert all(rating[i] > rating[j] for i, j in games)


def test_more_games_leave_less_of_the_prior():
    far = [fit(matrix(2, {(1, 0): (3 * n, n)})).rating[1] for n in (1, 10, 1000)]
    assert far[0] < far[1] < far[2] == pytest.approx(400 * np.log10(3), abs=0.2)
