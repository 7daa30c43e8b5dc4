"""Seaquest beside the cartridge under ale-py."""

import numpy as np
import pytest
from sea import ACTIONS, DIES, FIRE, NOOP, PLAYS, UP, Sea, assert_equal, empty, start


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


@pytest.mark.parametrize("x, right, torpedo", [(40, 1, 0), (100, 0, 60), (134, 1, 6)])
def test_the_submarine_stays_where_it_is_after_a_rescue(cartridge, x, right, torpedo):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    theirs.poke({97: 14, 60: 0, 61: 0, 62: 6, 70: x, 86: 0 if right else 8, 102: 6, 103: torpedo, 118: 0})
    theirs.poke({87: 0 if right else 8})
    empty(ours, y=14, rescues=0, pace=0, crew=6, x_ship=x, facing=right, oxygen=6, patrol=0, torpedo=torpedo,
          torpedo_right=right, frame=theirs.state()["frame"])
    for frame in range(260):
        theirs.step(UP)
        ours.step(UP)
        state = theirs.state()
        for name in ("x_ship", "y", "facing", "torpedo", "phase", "oxygen", "crew", "rescues"):
            assert state[name] == getattr(ours, name), f"frame {frame}: {name}"
    assert ours.rescues == 1 and ours.x_ship == x and ours.phase == PLAYS


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


def play_both(theirs, ours, seed, frames, pictures=7):
    """Random play on both sides: every frame's state is equal, and every few frames the picture above the maker's name."""
    random, action, points = np.random.default_rng(seed), 0, 0
    for frame in range(frames):
        if random.random() < 0.2:
            action = int(random.integers(18))
        over = ours.step(action), theirs.step(action)
        assert over[0] == over[1], f"frame {frame}"
        if over[0][1]:
            break
        points += over[0][0]
        assert_equal(theirs, ours, frame)
        dying_patrol = ours.phase == DIES and ours.patrol > 0  # it leaves the cartridge's picture up to three frames earlier
        if frame % pictures == pictures - 1 and not dying_patrol:
            assert np.array_equal(theirs.screen()[:188], ours.picture()[:188]), f"frame {frame}: picture"
    return frame, points


@pytest.mark.parametrize("seed", range(4))
def test_random_episodes_equal_the_cartridges_to_their_end(cartridge, seed):
    frame, points = play_both(cartridge(), Sea(scatter=0), seed, 6000)
    assert frame > 800 and points > 0


@pytest.mark.parametrize("level, pace", [(2, 1), (3, 3), (4, 5), (5, 6), (7, 9), (9, 20), (20, 60)])
def test_later_levels_equal_the_cartridges(cartridge, level, pace):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 300)
    theirs.poke({60: level, 61: pace, 62: 4, 97: 40, 78: int(f"{10 * min(level + 2, 9)}", 16)})
    ours.change(**theirs.state())
    frame, points = play_both(theirs, ours, level, 1500)
    assert frame > 300 and points > 0


@pytest.mark.parametrize("divers, level, patrol", [(6, 0, 0), (6, 3, 100), (6, 5, 90), (3, 3, 110), (1, 0, 0), (0, 0, 0)])
def test_surfacing_and_what_follows_equal_the_cartridges(cartridge, divers, level, patrol):
    """A rescue with a patrol beside the submarine is among the rows: the patrol then kills while the tank is filled."""
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 300)
    theirs.poke({60: level, 62: divers, 97: 16, 102: 30, 118: patrol, 78: int(f"{10 * min(level + 2, 9)}", 16)})
    ours.change(**theirs.state())
    for frame in range(500):
        assert ours.step(UP) == theirs.step(UP), f"frame {frame}"
        assert_equal(theirs, ours, frame)
        if frame % 5 == 4:
            assert np.array_equal(theirs.screen()[:188], ours.picture()[:188]), f"frame {frame}: picture"


@pytest.mark.parametrize("pace", [0, 7, 20])
@pytest.mark.parametrize("chance", [3, 90, 130, 255])
def test_a_diver_enters_with_the_sharks_after_submarines_as_on_the_cartridge(cartridge, chance, pace):
    """In all lanes at once, to both sides: submarines, shot or not, are about to leave, and a diver waits."""
    theirs, ours, random, entered = cartridge(), start(), np.random.default_rng(pace), 0
    theirs.play(NOOP, 300)
    before = theirs.ale.cloneState(include_rng=True)
    for _ in range(20):
        theirs.ale.restoreState(before)
        parts, left, alive = random.integers(16, size=3), random.integers(2, size=4), random.choice([0, 1, 4], size=4)
        theirs.poke({2: chance, 61: pace, 79: parts[0], 80: parts[1], 81: parts[2]})
        for lane in range(4):
            theirs.poke({30 + lane: 224 if left[lane] else 159, 36 + lane: alive[lane], 71 + lane: 0, 113 + lane: 1,
                         89 + lane: 4 | 8 * int(left[lane])})
        ours.change(**theirs.state())
        assert ours.step(NOOP) == theirs.step(NOOP)
        mine, other = ours.read(), theirs.state()
        for name in ("x", "guest", "right", "sub", "diver"):
            assert np.array_equal(mine[name], other[name]), f"{name}, parts {parts}, left {left}, alive {alive}"
        entered += (mine["guest"] > 0).sum()
    assert entered > 0
