"""Our pictures beside the cartridges', from random starts, pixel by pixel and frame by frame."""

import numpy as np
import pytest

pytest.importorskip("ale_py")

from benchmarks.cartridges.features import open_cartridge
from benchmarks.likeness.games import GAMES
from benchmarks.likeness.pairs import begin

# The least share of frames that are equal. Asteroids does not mix the colours where a ship or a shot covers a rock.
SHARES = {game: 0.96 if game.startswith("asteroids") else 1.0 for game in GAMES}


@pytest.mark.parametrize("game", GAMES)
def test_frames_equal_the_cartridges_in_every_pixel(game):
    equal, theirs = [], open_cartridge(game)
    for start in range(3):
        pair = begin(game, np.random.default_rng([4, start]), theirs)
        for _ in range(200):
            if pair.step():
                break
            ours = pair.ours.picture()
            ours[theirs.MAKER:] = 0
            equal.append(np.array_equal(ours, theirs.masked()))
    assert np.mean(equal) >= SHARES[game]
