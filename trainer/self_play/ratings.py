"""Bradley-Terry ratings of players from the games between them, on Elo's scale.

The model: with ratings r, player i beats player j with probability 1 / (1 + 10^((r_j - r_i) / 400)). A draw counts as half a
win and half a loss. The ratings maximize the likelihood of the results (Bradley and Terry, "Rank Analysis of Incomplete Block
Designs", Biometrika 39, 1952). The logarithm of the likelihood is concave in the ratings (Hunter, "MM algorithms for
generalized Bradley-Terry models", The Annals of Statistics 32, 2004). So Newton's method finds the maximum, if each step is
halved until the likelihood does not fall.
"""

import math
from typing import NamedTuple

import numpy as np

ELO = 400 / math.log(10)  # points of rating for a factor of e in the odds
TOLERANCE = 1e-9          # of the gradient, in games
ROUNDS = 200


class Ratings(NamedTuple):
    """The ratings of P players, in Elo's points."""

    rating: np.ndarray  # (P,) float64
    error: np.ndarray   # (P,) float64, standard error of the difference to player 0


def fit(points: np.ndarray, prior: float = 1.0) -> Ratings:
    """The ratings that maximize the likelihood of the results; player 0 is rated 0.

    points: (P, P) float64; points[i, j] are the points of i in all games against j, 1 for a win and 1/2 for a draw.
    prior: number of extra draws between each player and the next in the list. They keep the ratings finite if somebody won or
        lost every game, and connect players who never met. The more games there are, the less the extra draws count.
    """
    size = len(points)
    points = points + prior / 2 * (np.eye(size, k=1) + np.eye(size, k=-1))
    rating, error = np.zeros(size), np.zeros(size)  # in units of ELO points
    if size == 1:
        return Ratings(rating, error)
    value = likelihood(points, rating)
    for _ in range(ROUNDS):
        slope, curve = derivatives(points, rating)
        if np.abs(slope).max() < TOLERANCE:
            break
        step, scale = np.linalg.solve(curve, slope), 1.0
        while (new := likelihood(points, moved(rating, scale * step))) < value and scale > TOLERANCE:
            scale /= 2
        if new < value:  # the maximum, to within rounding
            break
        rating, value = moved(rating, scale * step), new
    error[1:] = np.sqrt(np.diag(np.linalg.inv(derivatives(points, rating)[1])))
    return Ratings(ELO * rating, ELO * error)


def expected(difference):
    """The expected share of the points against a player who is rated `difference` points lower."""
    return 1 / (1 + np.exp(-np.asarray(difference) / ELO))


def moved(rating: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Ratings plus `step` (P - 1,), which leaves out player 0."""
    return rating + np.concatenate([[0.0], step])


def likelihood(points: np.ndarray, rating: np.ndarray) -> float:
    """The log-likelihood of the results, given ratings (P,) in units of ELO points."""
    return -float((points * np.logaddexp(0, rating[None] - rating[:, None])).sum())


def derivatives(points: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the log-likelihood by all ratings but player 0's: the gradient (P - 1,) and the negative Hessian
    (P - 1, P - 1)."""
    games, chance = points + points.T, expected(ELO * (rating[:, None] - rating[None]))
    weight = games * chance * (1 - chance)
    return (points - games * chance).sum(1)[1:], (np.diag(weight.sum(1)) - weight)[1:, 1:]
