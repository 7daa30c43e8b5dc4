"""Ratings of players by the games between them, after Bradley and Terry, on Elo's scale.

The model: i beats j with probability 1 / (1 + 10^((r_j - r_i) / 400)), where r are the ratings. They are those under which
the results are likeliest (Bradley and Terry, "Rank Analysis of Incomplete Block Designs", Biometrika 39, 1952); a draw counts
as half a win and half a loss. The likelihood is concave in the ratings (Hunter, "MM algorithms for generalized Bradley-Terry
models", The Annals of Statistics 32, 2004), so that Newton's method with a step that is halved until it helps finds its top.
"""

import math
from typing import NamedTuple

import numpy as np

ELO = 400 / math.log(10)  # points to a factor of e in the odds
TOLERANCE = 1e-9          # of the gradient, in games
ROUNDS = 200


class Ratings(NamedTuple):
    """Of P players, in Elo's points."""

    rating: np.ndarray  # (P,) float64
    error: np.ndarray   # (P,) float64, standard error; 0 for the one that the others are measured from


def fit(points: np.ndarray, prior: float = 1.0) -> Ratings:
    """The ratings under which results are likeliest, the first player's being 0.

    points: (P, P) float64; points[i, j] is what i got in all games against j, 1 for a win and 1/2 for a draw.
    prior: draws that each player is taken to have played, beside, against the next in the list. They keep ratings finite where
        somebody has won, or lost, everything, and bind those who never met; the more games there are, the less they count.
    """
    size = len(points)
    points = points + prior / 2 * (np.eye(size, k=1) + np.eye(size, k=-1))
    rating, error = np.zeros(size), np.zeros(size)  # in units of ELO
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
        if new < value:  # the top, as near as rounding lets one see
            break
        rating, value = moved(rating, scale * step), new
    error[1:] = np.sqrt(np.diag(np.linalg.inv(derivatives(points, rating)[1])))
    return Ratings(ELO * rating, ELO * error)


def expected(difference):
    """The share of the points that a player gets against one that is rated `difference` points lower."""
    return 1 / (1 + np.exp(-np.asarray(difference) / ELO))


def moved(rating: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Ratings with those of all but the first changed."""
    return rating + np.concatenate([[0.0], step])


def likelihood(points: np.ndarray, rating: np.ndarray) -> float:
    """The logarithm of the results' probability, given ratings (P,) in units of ELO."""
    return -float((points * np.logaddexp(0, rating[None] - rating[:, None])).sum())


def derivatives(points: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the likelihood by the ratings of all but the first: its gradient (P - 1,), and the negative of its second
    derivatives (P - 1, P - 1)."""
    games, chance = points + points.T, expected(ELO * (rating[:, None] - rating[None]))
    weight = games * chance * (1 - chance)
    return (points - games * chance).sum(1)[1:], (np.diag(weight.sum(1)) - weight)[1:, 1:]
