"""Pictures side by side: ours, the cartridge's without its maker's name, and the difference below."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np

from benchmarks.cartridges.features import open_cartridge
from benchmarks.likeness.compare import begin


def side_by_side(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Ours at the left, the cartridge's at the right, and the difference, white where they differ, in the middle below."""
    gap = np.full((len(ours), 8, 3), 128, np.uint8)
    above = np.concatenate([ours, gap, theirs], 1)
    below = np.full((len(ours) + 8, above.shape[1], 3), 128, np.uint8)
    differs = np.where((ours != theirs).any(-1, keepdims=True), 255, ours // 4).astype(np.uint8)
    left = (above.shape[1] - ours.shape[1]) // 2
    below[8:, left:left + ours.shape[1]] = differs
    return np.concatenate([above, below])


def write(game: str, path: Path, seed: int, frames: int = 60):
    """Write the pictures of both sides, `frames` frames after a random start."""
    pair = begin(game, np.random.default_rng(seed), open_cartridge(game))
    for _ in range(frames):
        pair.step()
    ours = pair.ours.picture()
    ours[pair.theirs.MAKER:] = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    iio.imwrite(path, side_by_side(ours, pair.theirs.masked()))
