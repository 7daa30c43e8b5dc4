"""Statistics over the seeds of one or several games, as in Agarwal et al. (2021), arXiv:2108.13264; Student's t for one game.

`Scores` has a row of scores for each game (the paper's task), one score for each run. Games may have different numbers of runs.
Scores of several games must be normalized first, see published.py.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

Scores = Sequence[np.ndarray]                # one array (runs,) for each game
Statistic = Callable[[Scores], np.ndarray | float]

RESAMPLES = 2000  # of the bootstrap, as in the paper
CUT = 0.25        # of the scores at either end, which the interquartile mean leaves out


def iqm(scores: Scores) -> float:
    """The interquartile mean: the mean of all scores of all games without the lowest and the highest quarter.

    Each end loses floor(n / 4) of n scores, as with scipy.stats.trim_mean: with fewer than 4 it is the mean. Each game weighs
    the same: the scores of games with different numbers of runs count as if repeated up to the least common multiple.
    """
    values, runs = np.concatenate(scores), [len(game) for game in scores]
    repeats = np.repeat([math.lcm(*runs) // count for count in runs], runs)
    order = np.argsort(values, kind="stable")
    ends, n = np.cumsum(repeats[order]), int(repeats.sum())
    cut = int(CUT * n)
    kept = np.clip(np.minimum(ends, n - cut) - np.maximum(ends - repeats[order], cut), 0, None)
    return float(np.average(values[order], weights=kept))


def mean(scores: Scores) -> float:
    """The mean over the games of the mean over their runs."""
    return float(np.mean([game.mean() for game in scores]))


def median(scores: Scores) -> float:
    """The median over the games of the mean over their runs. One game has the median over its runs instead."""
    return float(np.median([game.mean() for game in scores] if len(scores) > 1 else scores[0]))


def profile(scores: Scores, at: np.ndarray) -> np.ndarray:
    """The performance profile: the part of the runs with a score above each number in `at`, as the mean over the games."""
    return np.mean([(game[:, None] > at).mean(0) for game in scores], 0)


def improvement(better: Scores, worse: Scores) -> float:
    """The probability that a run of `better` scores higher than a run of `worse`, as the mean over the games.

    An equal score counts one half: the Mann-Whitney U statistic divided by the number of pairs.
    """
    wins = [(mine[:, None] > other).mean() + (mine[:, None] == other).mean() / 2
            for mine, other in zip(better, worse, strict=True)]
    return float(np.mean(wins))


def interval(statistic: Callable[..., np.ndarray | float], *samples: Scores, confidence: float = 0.95,
             resamples: int = RESAMPLES) -> list[float] | list[list[float]] | None:
    """The interval [low, high] of a statistic by the stratified bootstrap: runs are drawn with replacement within each game.

    statistic: of as many `Scores` as there are `samples`; a number or an array.
    Returns percentiles of the resamples; for an array, [lows, highs]. None if a game has fewer than two runs, since such a
    bootstrap knows nothing of its spread. The same scores give the same interval.

    With few runs these intervals are too narrow: those of 3 runs cover the mean of a normal distribution in 73% of cases. For
    the mean of one game there is `student_interval`.
    """
    if min((len(game) for scores in samples for game in scores), default=0) < 2:
        return None
    random, tail = np.random.default_rng(0), (1 - confidence) / 2
    drawn = [statistic(*([game[random.integers(len(game), size=len(game))] for game in scores] for scores in samples))
             for _ in range(resamples)]
    return np.quantile(drawn, [tail, 1 - tail], axis=0).tolist()


def student_interval(scores: np.ndarray, confidence: float = 0.95) -> list[float] | None:
    """The interval [low, high] of the mean of one game's runs (runs,) by Student's t. None for fewer than two runs.

    Right for runs with a normal distribution, however few they are.
    """
    if len(scores) < 2:
        return None
    middle = float(scores.mean())
    width = student_quantile(len(scores) - 1, (1 + confidence) / 2) * float(scores.std(ddof=1)) / len(scores) ** 0.5
    return [middle - width, middle + width]


@functools.cache
def student_quantile(degrees: int, probability: float) -> float:
    """The quantile of Student's t distribution for a probability from 0.5 to 0.999.

    With t = sqrt(degrees) tan(a), the angle a has the density cos(a)^(degrees - 1), apart from a factor. Its integral is taken
    by the trapezoidal rule; the quantile has 5 digits or more.
    """
    angles = np.linspace(0.0, np.pi / 2, 200_001)
    density = np.cos(angles) ** (degrees - 1)
    steps = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return float(degrees ** 0.5 * np.tan(np.interp(probability, 0.5 + steps / steps[-1] / 2, angles)))
