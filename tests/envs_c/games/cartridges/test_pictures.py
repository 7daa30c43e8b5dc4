"""Our pictures beside the cartridges', from random starts, pixel by pixel and frame by frame."""

import numpy as np
import pytest

pytest.importorskip("ale_py")

from benchmarks.cartridges.features import open_cartridge
from benchmarks.cartridges.lockstep import twin_of
from benchmarks.likeness.games import GAMES
from benchmarks.likeness.pairs import begin
from benchmarks.likeness.players import player_of

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


# Of an episode with the scripted player: most frames, pictures that differ at its beginning, whether the last one does, and
# others that do. docs/likeness.md names them.
EPISODES = {"pong": (600, 2, False, ()), "asterix": (2500, 1, True, ()), "seaquest": (3285, 0, True, ()),
            "space_invaders": (2789, 0, True, ()), "enduro": (9000, 1, False, (3973, 7169))}


@pytest.mark.slow
@pytest.mark.parametrize("game", EPISODES)
def test_pictures_of_a_whole_episode_equal_the_cartridges_but_for_those_that_the_page_names(game):
    """A scripted player plays from the cartridge's own beginning, with each action for four frames."""
    frames, first, last, others = EPISODES[game]
    theirs, ours, play, random = open_cartridge(game).restart(), twin_of(game), player_of(game), np.random.default_rng([1, 2])
    differing, action, over = [], 0, False
    for frame in range(frames + 1):
        if frame:
            if frame % 4 == 1:
                action = play(theirs.state(), random) if frame > 1 else int(random.integers(len(theirs.actions)))
            mine, other = ours.step(action), theirs.step(action)
            assert mine[:2] == other[:2], f"frame {frame}"
            over = bool(other[1])
        picture = ours.picture().copy()
        picture[theirs.MAKER:] = 0
        if not np.array_equal(picture, theirs.masked()):
            differing.append(frame)
    assert over == last
    assert differing == [*range(first), *others, *([frames] if last else [])]
