"""Seaquest beside the cartridge under ale-py."""

import numpy as np
import pytest
from sea import ACTIONS, DOWN, FIRE, NOOP, PLAYS, UP, empty, start


@pytest.fixture
def cartridge():
    """The cartridge's class; skips without ale-py."""
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.seaquest import Cartridge
    return Cartridge


def test_has_the_cartridges_actions(cartridge):
    assert [action.name for action in cartridge().actions] == ACTIONS


def test_begins_as_the_cartridge(cartridge):
    theirs, ours = cartridge(), start()
    assert theirs.ale.lives() == ours.lives == 4
    theirs.play(NOOP, 127)
    assert ours.oxygen == theirs.ram[102] == 64 and [ours.x_ship, ours.y] == theirs.ram[[70, 97]].tolist()
    assert set(theirs.ram[30:34] - 256 * (theirs.ram[30:34] == 168)) | set(ours.x) <= {-88, 215}


@pytest.mark.parametrize("sub", [0, 1])
@pytest.mark.parametrize("rescues", [0, 1, 3, 7, 8, 15])
def test_an_enemy_gives_the_cartridges_points(cartridge, rescues, sub):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    theirs.poke({97: 32, 70: 25, 86: 0, 60: rescues, 47: 8 if sub else 200, 74: 0, 116: 0, 118: 0})
    empty(ours, y=32, x_ship=25, facing=1, rescues=rescues)
    ours.change(x=[215, 215, 215, 50], sub=[0, 0, 0, sub])
    assert theirs.play(FIRE, 20) == ours.play(FIRE, 20) == 10 * min(rescues + 2, 9)


@pytest.mark.parametrize("rescues", [0, 1, 2, 5, 7, 18, 19, 25])
def test_a_rescue_gives_the_cartridges_points_and_pace(cartridge, rescues):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    theirs.poke({97: 14, 61: rescues // 2, 60: rescues, 62: 6, 102: 30, 118: 200})
    empty(ours, y=14, pace=rescues // 2, rescues=rescues, crew=6, oxygen=30, patrol=200)
    assert theirs.play(UP, 190) == ours.play(UP, 190)
    assert theirs.ram[60] == ours.rescues == rescues + 1 and theirs.ram[61] == ours.pace


@pytest.mark.parametrize("score, lives", [(9_990, 4), (9_990, 7), (4_990, 4), (19_990, 3), (99_990, 6)])
def test_ten_thousand_points_give_a_life_as_on_the_cartridge(cartridge, score, lives):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    digits = f"{score:06d}"
    theirs.poke({97: 32, 70: 25, 86: 0, 59: lives - 1, **{56 + k: int(digits[2 * k : 2 * k + 2], 16) for k in range(3)}})
    empty(ours, y=32, x_ship=25, facing=1, score=score, lives=lives)
    ours.change(x=[215, 215, 215, 50])
    theirs.play(FIRE, 10)
    ours.play(FIRE, 10)
    assert theirs.bcd(56, 57, 58) == ours.score == score + 20
    assert theirs.ram[59] + 1 == ours.lives


@pytest.mark.parametrize("crew", [0, 1, 3, 5])
def test_the_surface_has_the_cartridges_effects(cartridge, crew):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 200)
    theirs.poke({97: 16, 62: crew, 102: 40})
    empty(ours, y=16, crew=crew, oxygen=40)
    for _ in range(250):
        theirs.step(UP)
        ours.step(UP)
    assert theirs.ram[[102, 62, 61, 59]].tolist() == [ours.oxygen, ours.crew, ours.pace, ours.lives - 1]


def test_the_cartridge_ends_with_the_last_life_too(cartridge):
    theirs = cartridge()
    theirs.play(NOOP, 420)
    theirs.poke({59: 0, 97: 15, 62: 0, 102: 40})
    ends = [theirs.step(UP)[1] for _ in range(100)]
    assert ends.index(True) in range(90, 97)


@pytest.mark.parametrize("frame", [200, 300, 850, 950, 1200, 1500, 1600, 2200, 2400])
def test_150_frames_are_close_to_the_cartridges(cartridge, frame):
    """Both play on from the same state. Waves that begin on different sides, at random, are not compared."""
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, frame)
    ours.change(**theirs.read(), phase=PLAYS)
    away = []
    for step in range(150):
        action = DOWN if step < 4 else NOOP
        assert theirs.step(action)[0] == ours.step(action)[0] == 0
        seen = theirs.read()
        assert (seen["x_ship"], seen["y"], seen["oxygen"]) == (ours.x_ship, ours.y, ours.oxygen), f"frame {step}"
        same = np.abs(seen["x"] - ours.x) < 100  # False for waves from different sides
        away += [*np.abs(seen["x"] - ours.x)[same], *np.abs(seen["guest"] - ours.guest)[same]]
    assert np.mean(away) < 0.6


@pytest.mark.parametrize("frame", [201, 300, 420, 952, 1200, 1500, 2000, 2400])
def test_looks_like_the_cartridge(cartridge, frame):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 140)
    theirs.play(8, 60)
    theirs.poke({97: 13, 59: 5, 62: 4, 56: 1, 57: 0x23, 58: 0x70})
    theirs.play(NOOP, frame - 200)
    theirs.poke({97: 97})
    ours.change(**{**theirs.read(), "y": 97}, phase=PLAYS)
    theirs.step(NOOP)
    ours.step(NOOP)
    same = (theirs.screen() == ours.env.render()[0]).all(axis=2)
    assert same[:45].all() and same[153:188].mean() > 0.98  # not from 188 on: the cartridge's maker's name
    assert same[56:153].mean() > 0.985
