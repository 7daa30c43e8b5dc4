"""Features read from a cartridge's RAM are those that our game shows in the same situation."""

from importlib.util import find_spec

import numpy as np
import pytest

import envs_c
from benchmarks.cartridges.features import Observer, open_cartridge
from benchmarks.cartridges.lockstep import EXACT, twin_of

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")

FRAMES = 350


@pytest.mark.parametrize("game, options", [
    *((game, {}) for game in EXACT), *((game, {"forecast": 1}) for game in ("freeway", "seaquest", "space_invaders"))])
def test_every_frame_of_random_play_has_our_features(game, options):
    theirs, ours = open_cartridge(game), twin_of(game, **options)
    observer, random, action = Observer(theirs, game, options), np.random.default_rng(4), 0
    for frame in range(FRAMES):
        if random.random() < 0.1:
            action = int(random.integers(len(theirs.actions)))
        over = theirs.step(action)[1], ours.step(action)[1]
        if any(over):
            break
        assert np.array_equal(observer.read(), ours.seen), f"frame {frame}: {np.flatnonzero(observer.read() != ours.seen)}"
    assert over[0] == over[1] and frame > 300


@pytest.mark.parametrize("game, away", [("asteroids", 0.02)])
def test_features_stay_close_from_the_same_state(game, away):
    """Both play on from a state of the cartridge: the mean difference of all features in 60 frames without an action."""
    theirs, ours = open_cartridge(game), twin_of(game)
    observer, random = Observer(theirs, game), np.random.default_rng(4)
    for _ in range(600):
        theirs.step(int(random.integers(len(theirs.actions))))
    ours.change(**theirs.state())
    differences = []
    for _ in range(60):
        theirs.step(0)
        ours.step(0)
        differences.append(np.abs(observer.read() - ours.seen).mean())
    assert np.mean(differences) < away and differences[0] < away / 2


def test_a_game_without_a_cartridge_is_refused():
    with pytest.raises(ValueError, match="not for snake"):
        Observer(open_cartridge("enduro"), "snake")


def test_the_features_have_the_games_shape():
    for game in EXACT:
        assert Observer(open_cartridge(game), game).read().shape == envs_c.game(game).feature_shape
