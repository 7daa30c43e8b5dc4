"""Seaquest beside the cartridge under ale-py from states that are drawn so that much happens at once in a lane."""

import numpy as np
import pytest
from sea import NOOP, UP, assert_equal, start

KINDS = 89          # bytes of RAM: kind of the lowest lane's wave, 4: submarines, 8: to the left, 16: the diver is chased
SUBMARINES, LEFT, CHASED = 4, 8, 16
X, ALIVE, GUEST, DIVER = 30, 36, 71, 113  # of the lowest lane
FAR = 215


@pytest.fixture(scope="module")
def cartridge():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.seaquest import Cartridge
    cartridge = Cartridge()
    cartridge.play(NOOP, 300)
    cartridge.start = cartridge.ale.cloneState(include_rng=True)
    return cartridge


def empty_lanes():
    """The bytes of lanes in which nothing comes for a while."""
    return {k + lane: value for lane in range(4)
            for k, value in ((X, FAR), (ALIVE, 4), (GUEST, 0), (DIVER, 0), (KINDS, LEFT))}


def chance_of(random):
    """The bytes of the frame, of chance, of the fractions of pixels, and of pace."""
    return {1: random.integers(256), 2: random.integers(1, 256), 61: random.integers(random.choice([20, 256])),
            **{k: random.integers(16) for k in (79, 80, 81)}}


def crowd(random):
    """The bytes of a submarine whose torpedo is close to it, in a lane with a wave and with a diver or a shot close by."""
    lane, ship, alive = random.integers(4), random.integers(21, 135), random.integers(1, 8)
    sub, left = random.integers(2) * SUBMARINES, random.integers(2) * LEFT
    x, rescues = np.clip(ship + random.integers(-60, 40), -80, 149), random.integers(6)
    places = [x + 16 * k for k in range(3) if alive & 4 >> k]
    guest, chased = ship + random.integers(-12, 20), 0
    if sub and (guest > min(places) if left else guest < max(places)):
        guest = 0  # shots are ahead of the wave
    if not sub and random.random() < 0.4:
        guest = min(places) - random.integers(5, 9) if left else max(places) + random.integers(5, 9)
        chased = CHASED
    if not 0 < guest < 160:
        guest = chased = 0
    torpedo = ship + random.integers(-40, 50)
    return {**empty_lanes(), **chance_of(random), 70: ship, 97: np.clip(104 - 24 * lane + random.integers(-12, 16), 21, 108),
            86: random.integers(2) * 8, 87: random.integers(2) * 8, 103: torpedo if 0 < torpedo < 160 else 0, 118: 0,
            60: rescues, 78: 16 * min(rescues + 2, 9), 62: random.choice([0, 3, 6]), X + lane: x & 255, ALIVE + lane: alive,
            GUEST + lane: guest, DIVER + lane: 1 if guest and not sub else random.choice([0, 1, 255]),
            KINDS + lane: sub | left | chased}


def edge(random):
    """The bytes of lanes whose waves are at their end, or whose shot leaves; some of the waves were shot completely."""
    ram = {**empty_lanes(), **chance_of(random), 70: 60, 97: 13, 102: 64, 118: 0}
    for lane in range(4):
        left, sub = random.integers(2) * LEFT, random.integers(2) * SUBMARINES
        ram |= {X + lane: 224 if left else 159, ALIVE + lane: random.choice([0, 0, 4, 7]), KINDS + lane: sub | left,
                DIVER + lane: random.integers(2)}
        if sub and random.random() < 0.4:
            ram |= {X + lane: 50, ALIVE + lane: 0, GUEST + lane: random.integers(1, 4) if left else random.integers(157, 160)}
    return ram


def follow(cartridge, ram, frames):
    """Both sides from this RAM on, whose picture both have shown; returns our game."""
    theirs, ours = cartridge.restart(), start()
    theirs.poke({index: int(value) for index, value in ram.items()})
    theirs.step(NOOP)
    ours.change(**theirs.state())
    for frame in range(frames):
        assert ours.step(NOOP) == theirs.step(NOOP), f"frame {frame}"
        assert_equal(theirs, ours, frame)
    return ours


@pytest.mark.parametrize("seed", range(4))
def test_what_touches_at_once_has_the_cartridges_effects(cartridge, seed):
    random = np.random.default_rng(seed)
    ends = [follow(cartridge, crowd(random), 14) for _ in range(60)]
    assert sum(ours.score > 0 for ours in ends) > 10 and sum(ours.sinks > 0 for ours in ends) > 10


@pytest.mark.parametrize("seed", range(2))
def test_what_follows_a_wave_equals_the_cartridges(cartridge, seed):
    random = np.random.default_rng(seed)
    for _ in range(60):
        follow(cartridge, edge(random), 6)


@pytest.mark.parametrize("pace, rescues, crew", [
    (249, 5, 3), (254, 5, 3), (255, 5, 3), (250, 250, 6), (254, 255, 6), (255, 254, 6)])
def test_pace_and_rescues_begin_again_as_on_the_cartridge(cartridge, pace, rescues, crew):
    theirs, ours = cartridge.restart(), start()
    theirs.poke({**empty_lanes(), 60: rescues, 61: pace, 62: crew, 97: 14, 102: 50, 118: 0})
    ours.change(**theirs.state())
    for frame in range(300):
        assert ours.step(UP) == theirs.step(UP), f"frame {frame}"
        assert_equal(theirs, ours, frame)
    assert (ours.pace, ours.rescues) != (pace, rescues)


def test_a_shot_comes_before_a_torpedo_that_hits_as_on_the_cartridge(cartridge):
    """The torpedo is gone, the enemy stays, and there are no points."""
    ram = {**empty_lanes(), 70: 28, 97: 85, 86: 0, 87: 0, 103: 44, 118: 0, X + 1: 14, ALIVE + 1: 1, GUEST + 1: 41,
           KINDS + 1: SUBMARINES | LEFT}
    ours = follow(cartridge, ram, 1)
    assert (ours.score, ours.alive[1], ours.torpedo, ours.guest[1], ours.sinks > 0) == (0, 1, 0, 0, True)


@pytest.mark.parametrize("chance", [1, 79, 80, 255])
def test_a_diver_comes_after_shot_submarines_whatever_the_chance_as_on_the_cartridge(cartridge, chance):
    ram = {**empty_lanes(), 1: 65, 2: chance, 97: 13, 118: 0, X + 1: 30, ALIVE + 1: 0, KINDS + 1: SUBMARINES}
    theirs = cartridge.restart()
    theirs.poke(ram)
    ours = start()
    ours.change(**theirs.state())
    assert ours.step(NOOP) == theirs.step(NOOP)
    assert_equal(theirs, ours, 0)
    assert ours.diver[1] == 1
