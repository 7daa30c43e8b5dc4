"""Asterix beside the cartridge under ale-py: what a hero can touch who changes his lane when a stun begins or a stage ends."""

import numpy as np
import pytest

from benchmarks.cartridges.lockstep import twin_of

pytest.importorskip("ale_py")

from benchmarks.cartridges.asterix import LYRE, POINTS, TREASURE, Cartridge

NOOP, UP, RIGHT, LEFT, DOWN, UP_RIGHT, UP_LEFT = range(7)
READ = ("hero", "lane", "stun", "stage", "lives", "score", "x", "clock", "taken")


@pytest.fixture(scope="module")
def theirs():
    return Cartridge()


def begin(theirs, stage: int, taken: int, above: int, away: int, here: int = LYRE):
    """Both sides, two frames before a lyre, or another thing, is taken: it touches the hero at x 76 in the next frame.

    here: the kind of the thing in the hero's lane.
    above: the kind of the thing in the lane above, which will be at x 76 + away when the other one is taken.
    """
    theirs.restart().start_stage(stage)
    random, lane = np.random.default_rng(stage), 0
    while not lane:
        theirs.poke({39: 7, 40: 13, 41: 76, 83: 3})
        theirs.step(int(random.choice([NOOP, RIGHT, LEFT])))
        kinds = theirs.read()["kind"]
        if theirs.ram[7] % 4 == 3 and not theirs.ram[71] and not theirs.ram[68] and POINTS not in kinds:
            lane = next((lane for lane in range(1, 7) if kinds[lane] == here and kinds[lane - 1] == above), 0)
    pace = (1 + (stage >= 4) + (stage >= 16)) * (-1 if lane % 2 else 1)
    theirs.put(lane, 76)
    theirs.poke({42 + lane: 76, 41 + lane: 76 + away + 2 * pace, 66: taken})
    theirs.hero = 76
    ours = twin_of("asterix")
    ours.change(**theirs.state())
    return ours


@pytest.mark.parametrize("stage, taken, above, away, touches", [
    *((0, 7, TREASURE, away, touches) for away, touches in (
        (-11, False), (-10, True), (-8, True), (-7, True), (0, True), (7, True), (8, True), (12, True), (13, False))),
    *((0, 7, LYRE, away, touches) for away, touches in ((-11, False), (10, True), (13, False))),
    *((5, 7, TREASURE, away, touches) for away, touches in ((-9, False), (-8, True), (10, True), (11, False))),
    (2, 7, TREASURE, 9, True), (7, 7, LYRE, 2, True), (16, 7, TREASURE, 10, True), (24, 7, TREASURE, -8, True),
    (1, 49, TREASURE, 0, True), (3, 49, TREASURE, 9, True), (24, 49, TREASURE, 0, True),
])
def test_a_stunned_hero_still_touches_what_the_cartridges_touches(theirs, stage, taken, above, away, touches):
    """Taken treasures of 49: the stage ends in the stun, and the title of stage 4 follows it."""
    ours, stuns, points = begin(theirs, stage, taken, above, away), 0, 0
    for frame in range(400):
        stun, title, action = ours.stun, ours.title, UP if frame == 1 else NOOP
        result = ours.step(action)
        assert result == theirs.step(action), f"frame {frame}"
        if result[1]:
            break
        mine, other = ours.read(), theirs.state()
        if not title:  # after one, RAM has the treasures a frame later
            assert np.array_equal(np.minimum(mine["kind"], POINTS), other["kind"]), f"frame {frame}: kind"
        for name in READ:
            assert np.array_equal(mine[name], other[name]), f"frame {frame}: {name}"
        if frame < 5:
            points += result[0]
            stuns += ours.stun >= max(stun, 1)
        if (frame < 5 or 40 < frame < 60) and ours.stun < 126:  # a stun that begins again is drawn as any other
            assert np.array_equal(ours.picture(), theirs.screen()), f"frame {frame}: picture"
    assert frame > 130 and ((points > 0, stuns) == ((touches, 1) if above == TREASURE else (False, 1 + touches)))


@pytest.mark.parametrize("stage, action, first, last", [
    (0, UP_LEFT, -9, 5), (0, UP_RIGHT, -5, 8), (2, UP_LEFT, -7, 4), (5, UP_RIGHT, -2, 10), (6, UP_LEFT, -8, -1),
    (7, UP_LEFT, -10, 3), (7, UP_RIGHT, 1, 11), (11, UP_LEFT, -10, 2), (11, UP_RIGHT, -2, 10), (15, UP_LEFT, -10, 3),
    (15, UP_RIGHT, 1, 11), (23, UP_RIGHT, 3, 12), (24, UP_LEFT, -12, 1), (24, UP_RIGHT, -1, 12),
])
def test_a_hero_who_goes_up_as_a_stage_ends_touches_treasures_by_their_old_look(theirs, stage, action, first, last):
    """He touches them from `first` to `last` pixels right of x 76; the picture has the old look, too, in this frame."""
    for away in first - 1, first, last, last + 1:
        ours, points = begin(theirs, stage, 49, TREASURE, away, here=TREASURE), []
        for frame in range(5):
            result = ours.step(action if frame == 1 else NOOP)
            assert result == theirs.step(action if frame == 1 else NOOP), f"away {away}, frame {frame}"
            points.append(result[0])
            mine, other = ours.read(), theirs.state()
            for name in READ:
                assert np.array_equal(mine[name], other[name]), f"away {away}, frame {frame}: {name}"
            assert np.array_equal(ours.picture(), theirs.screen()), f"away {away}, frame {frame}: picture"
        assert (points[2] > 0) == (first <= away <= last) and points[1] > 0, f"away {away}"
