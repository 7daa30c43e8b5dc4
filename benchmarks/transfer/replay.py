"""Episodes of a cartridge, played once more in our game with the same action in each frame."""

import zlib
from typing import NamedTuple

import numpy as np

from benchmarks.cartridges.lockstep import twins_of
from envs_c.console.cartridges import PREFIX


class Record(NamedTuple):
    """What was played on a cartridge from its own start."""

    actions: list[int]   # of each frame, as the console got them
    points: list[float]  # of each frame
    over: bool           # whether the game ended with the last frame
    # `checksum` of the grey picture that the policy saw, of a cartridge of the console that of the RAM, by the number of frames
    # before; or none
    pictures: dict[int, int]


def checksum(picture: np.ndarray) -> int:
    """Of a grey picture of 84 x 84, or of a RAM, uint8."""
    return zlib.crc32(np.ascontiguousarray(picture))


def same_here(game: str, episodes: list[Record]) -> np.ndarray:
    """(E,) bool: whether our game gives the same points in each frame, the same pictures or RAM, and the same end."""
    lengths = np.array([len(one.actions) for one in episodes])
    actions, points = np.zeros((2, lengths.max(), len(episodes)), np.float32)
    for k, one in enumerate(episodes):
        actions[:lengths[k], k], points[:lengths[k], k] = one.actions, one.points
    ends = np.where([one.over for one in episodes], lengths, -1)
    view = "pixels" if any(one.pictures for one in episodes) and not game.startswith(PREFIX) else "features"
    env = twins_of(game, len(episodes), frame_skip=1, view=view, time_limit=int(lengths.max()) + 1, num_threads=1)
    same = lengths > 0
    for frame, (action, point) in enumerate(zip(actions.astype(np.int64), points, strict=True), 1):
        seen, reward, terminated, _, _ = env.step(action)
        same &= (frame > lengths) | (reward == point) & (terminated == (frame == ends))
        for k in [k for k, one in enumerate(episodes) if same[k] and frame in one.pictures]:
            same[k] = checksum(seen[k]) == episodes[k].pictures[frame]
    env.close()
    return same
