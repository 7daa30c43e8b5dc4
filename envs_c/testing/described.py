"""The ranges of features that a game describes by its rows of `Feature`, beside those that it has."""

import numpy as np


def misdescribed(game, features: np.ndarray, where: str) -> str | None:
    """The first feature outside the range of its row, as text; None if there is none, or if the game describes no features.

    features: (N, *feature_shape), finite, under the default options.
    where: for the text, such as " in step 3".
    """
    rows = [row for row in game.features for _ in range(row.count)]
    low, high = np.array([(row.low, row.high) for row in rows], float).reshape(-1, 2).T
    margin = np.where(np.isfinite(high - low), 1e-6 * (high - low), 0)  # of float32
    values = features.reshape(len(features), -1).astype(float)
    for i, k in np.argwhere((values < low - margin) | (values > high + margin))[:1] if rows else ():
        return f"feature {k} ({rows[k].name}) is {values[i, k]:g}{where}, but its Feature(...) says {low[k]:g} to {high[k]:g}"
    return None
