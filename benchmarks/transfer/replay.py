"""Episodes of a cartridge, played once more in our game with the same action in each frame."""

from typing import NamedTuple

import numpy as np

from benchmarks.cartridges.lockstep import twins_of


class Record(NamedTuple):
    """What was played on a cartridge from its own start."""

    actions: list[int]   # of each frame, as the console got them
    points: list[float]  # of each frame
    over: bool           # whether the game ended with the last frame


def same_here(game: str, episodes: list[Record]) -> np.ndarray:
    """(E,) bool: whether our game gives the same points in each frame, and ends after the same frame."""
    lengths = np.array([len(one.actions) for one in episodes])
    actions, points = np.zeros((2, lengths.max(), len(episodes)), np.float32)
    for k, one in enumerate(episodes):
        actions[:lengths[k], k], points[:lengths[k], k] = one.actions, one.points
    ends = np.where([one.over for one in episodes], lengths, -1)
    env, same = twins_of(game, len(episodes), frame_skip=1, time_limit=int(lengths.max()) + 1, num_threads=1), lengths > 0
    for frame, (action, point) in enumerate(zip(actions.astype(np.int64), points, strict=True), 1):
        _, reward, terminated, _, _ = env.step(action)
        same &= (frame > lengths) | (reward == point) & (terminated == (frame == ends))
    env.close()
    return same
