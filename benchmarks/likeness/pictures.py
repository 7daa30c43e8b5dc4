"""Pictures and films of both sides: ours, the cartridge's without its maker's name, and the difference below."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np
from PIL import Image

from benchmarks.cartridges.features import open_cartridge
from benchmarks.likeness.pairs import Pair, begin
from benchmarks.likeness.players import player_of

EVERY, LENGTH = 4, 240  # frames from one picture of a film to the next; of a film
GAP, GREY = 8, 128      # pixels between the pictures, and their level


def side_by_side(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Ours at the left, the cartridge's at the right, and the difference, white where they differ, in the middle below."""
    gap = np.full((len(ours), GAP, 3), GREY, np.uint8)
    above = np.concatenate([ours, gap, theirs], 1)
    below = np.full((len(ours) + GAP, above.shape[1], 3), GREY, np.uint8)
    differs = np.where((ours != theirs).any(-1, keepdims=True), 255, ours // 4).astype(np.uint8)
    left = (above.shape[1] - ours.shape[1]) // 2
    below[GAP:, left:left + ours.shape[1]] = differs
    return np.concatenate([above, below])


def now(pair: Pair) -> np.ndarray:
    """Both sides at this moment."""
    ours = pair.ours.picture()
    ours[pair.theirs.MAKER:] = 0
    return side_by_side(ours, pair.theirs.masked())


def write(game: str, path: Path, seed: int, frames: int = 60):
    """Write the pictures of both sides, `frames` frames after a random start."""
    pair = begin(game, np.random.default_rng(seed), open_cartridge(game))
    for _ in range(frames):
        pair.step()
    path.parent.mkdir(parents=True, exist_ok=True)
    iio.imwrite(path, now(pair))


def film(game: str, path: Path, seed: int):
    """Write a film of LENGTH frames from a random start. Both sides get the scripted player's actions, who looks at ours."""
    pair, player = begin(game, np.random.default_rng(seed), open_cartridge(game)), player_of(game)
    pictures = []
    for frame in range(LENGTH):
        if frame % EVERY == 0:
            action = player(pair.ours.read(), pair.random)
            pictures.append(now(pair))
        if pair.ours.step(action)[1] | pair.theirs.step(action)[1]:
            break
    path.parent.mkdir(parents=True, exist_ok=True)
    palette = Image.fromarray(np.concatenate(pictures)).quantize(256)
    first, *others = [Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    first.save(path, save_all=True, append_images=others, duration=1000 * EVERY // 60, loop=0)
