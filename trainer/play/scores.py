"""Statistics of an evaluation's scores, in which an episode that was played twice counts as one observation."""

import numpy as np

from trainer.results.statistics import student_quantile

RESAMPLES = 10_000  # of the bootstrap
FEWEST = 5          # different episodes for the bootstrap's percentiles: those of 3 cover the mean in 73% of cases, not in 95%
_AT_ONCE = 2**18    # groups of 4 bytes that are taken at once, for the caches
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, odd: a product with it mixes the bits


class Fingerprints:
    """A number for each of E episodes, equal for episodes with the same observations, actions and rewards.

    Greedy actions without sticky actions play the same episode again and again, from the few starts that a game has. Where
    chance decides, as in Blackjack, episodes with the same few actions differ in what was observed or scored.

    Each part is multiplied by random 64-bit weights, one for each 4 bytes, and summed: two different parts have the same sum
    with a probability of 2^-32 or less (Lemire and Kaser, 2014, "Strongly universal string hashing is fast").
    """

    def __init__(self, count: int):
        self.numbers = np.zeros(count, np.uint64)
        self._weights = np.empty(0, np.uint64)  # odd

    def add(self, part: np.ndarray, running: np.ndarray):
        """Take a part of each episode, such as its next action.

        part: (E, ...), any dtype. running: (E,) bool, False after the end.
        """
        rows, size = np.flatnonzero(running), part[:1].nbytes
        words = -(-size // 4)
        if words > len(self._weights):
            self._weights = np.random.default_rng(0).integers(2**64, size=words, dtype=np.uint64) | np.uint64(1)
        many = _AT_ONCE // words + 1
        for some in (rows[low: low + many] for low in range(0, len(rows), many)):
            taken = np.zeros((len(some), 4 * words), np.uint8)
            taken[:, :size] = np.ascontiguousarray(part[some]).reshape(len(some), -1).view(np.uint8)
            self.numbers[some] = (self.numbers[some] ^ taken.view(np.uint32) @ self._weights[:words]) * _FACTOR + np.uint64(1)


def groups(fingerprints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index of the first of each group of equal episodes (G,), and how many there are (G,). fingerprints: (E,)."""
    _, first, count = np.unique(fingerprints, return_index=True, return_counts=True)
    order = first.argsort()
    return first[order], count[order]


def resampled_means(scores: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The mean score in each resample of the bootstrap, (RESAMPLES,): groups of equal episodes are drawn, with replacement.

    scores: (G,) of each group. count: (G,) episodes in it, the weight of its score.
    """
    random, groups = np.random.default_rng(0), len(scores)
    rows, means = max(1, 2**20 // groups), []  # rows: resamples in one array
    for done in range(0, RESAMPLES, rows):
        drawn = random.integers(groups, size=(min(rows, RESAMPLES - done), groups))
        means.append((scores * count)[drawn].sum(1) / count[drawn].sum(1))
    return np.concatenate(means)


def interval(scores: np.ndarray, count: np.ndarray | None = None, confidence: float = 0.95) -> list[float] | None:
    """The confidence interval [low, high] of the mean score, or None if there is one score.

    scores, count: as in `resampled_means`; count None: one each.

    Percentiles of the bootstrap, which assumes no distribution; scores are seldom normal. Equal scores give equal intervals.
    Of fewer scores than FEWEST it is Student's t.
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13. Agarwal et al. (2021), "Deep Reinforcement
    Learning at the Edge of the Statistical Precipice", recommend it for evaluations.
    """
    if len(scores) < 2:
        return None
    tail = (1 - confidence) / 2
    count = np.ones(len(scores), np.int64) if count is None else count
    if len(scores) < FEWEST:
        middle = float(np.average(scores, weights=count))
        width = student_quantile(len(scores) - 1, 1 - tail) * error(scores, count)
        return [middle - width, middle + width]
    means = resampled_means(scores, count)
    return np.quantile(means, [tail, 1 - tail]).tolist()


def error(scores: np.ndarray, count: np.ndarray) -> float:
    """The standard error of the mean score; 0 for a single one. scores, count: as in `resampled_means`.

    If all groups are equally large, that of G independent scores, else the deviation of the resampled means, multiplied by
    sqrt(G / (G - 1)), since the bootstrap's variance has a divisor of G.
    """
    if len(scores) < 2:
        return 0.0
    if (count == count[0]).all():
        return float(scores.std(ddof=1) / len(scores) ** 0.5)
    return float(resampled_means(scores, count).std() * (len(scores) / (len(scores) - 1)) ** 0.5)
