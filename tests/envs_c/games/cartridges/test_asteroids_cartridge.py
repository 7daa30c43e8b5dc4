"""Asteroids equals the cartridge under ale-py, frame by frame."""

import numpy as np
import pytest
from asteroids_machine import Machine

ACTIONS = ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "UPFIRE", "RIGHTFIRE", "LEFTFIRE",
           "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE"]
LARGE, OTHER, MEDIUM, SMALL = 0, 16, 32, 48
SINKS, CLIMBS = True, False


@pytest.fixture(scope="module")
def console():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.asteroids import Cartridge
    return Cartridge()


@pytest.fixture
def cartridge(console):
    return console.restart()


def test_has_the_cartridges_actions_and_lives(cartridge):
    assert [action.name for action in cartridge.actions] == ACTIONS
    assert cartridge.ale.lives() == cartridge.ship()["lives"] == Machine().lives == 4


STYLES = {"all": range(14), "fire": (1, 9, 10, 9, 10, 1, 0, 0, 4, 3), "fast": (2, 8, 6, 7, 12, 13, 8, 8, 0),
          "jumps": (5, 5, 11, 1, 8, 0, 9)}


def different(machine, cartridge) -> dict:
    """The fields that differ: name to (ours, the cartridge's)."""
    ours, theirs = machine.read(), cartridge.state()
    pairs = {name: (ours[name].tolist(), theirs[name]) for name in cartridge.ship()} | {
        name: (int(ours[name]), int(theirs[name])) for name in ("frame", "numbers", "drift", "watch", "rocks", "broken")}
    pairs["shots"] = [tuple(int(ours[name][k]) for name in ("shot_x", "shot_y", "shot_way", "shot_life"))
                      if ours["shot_life"][k] else None for k in range(3)], cartridge.shots()
    pairs["all rocks"] = machine.rocks_now(), cartridge.rocks_now()
    ufo = cartridge.ufo()
    pairs |= {name: (int(ours[name]), ufo[name]) for name in ("ufo_small", "ufo_timer", "ufo_burst")}
    pairs["ufo"] = machine.ufo_now(), None if ufo["ufo_y"] == 224 else [
        ufo["ufo_x"], ufo["ufo_y"], ufo["ufo_course"], ufo["ufo_small"] == 1]
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.parametrize("style, score", [("all", None), ("fast", None), ("jumps", None), ("fire", 950), ("fire", 14900),
                                          ("all", 14900), ("fire", 4900), ("all", 99900)])
def test_equals_the_cartridge_in_every_frame_from_its_own_start(cartridge, style, score):
    """Waves, pieces, landings, speed limits and edges included, all random numbers too."""
    machine, rng, action, away = Machine(scatter=0), np.random.default_rng(len(style) + (score or 0)), 0, []
    for frame in range(900):
        if frame == 20 and score:  # nearer to more rocks, to a life and to the score's end
            digits = f"{score // 10:04}"
            cartridge.poke({60: 0x90 | int(cartridge.ram[60]) & 15, 61: int(digits[:2], 16), 62: int(digits[2:], 16)})
            machine.change(score=score, lives=9)
        if rng.random() < 0.35:
            action = int(rng.choice(STYLES[style]))
        theirs, ours = cartridge.step(action), machine.step(action)
        assert theirs[1] == ours[1] and (frame == 20 or theirs[0] == ours[0]), f"frame {frame}"
        if theirs[1]:
            break
        if frame > 0:  # the first frame's `watch` has no effect
            assert different(machine, cartridge) == {}, f"frame {frame}"
        if frame % 20 == 10:
            away.append(np.mean(machine.picture() != cartridge.screen()))
    assert np.mean(away) < 0.0002


@pytest.mark.parametrize("kind", [LARGE, OTHER, MEDIUM | 1, SMALL | 2, LARGE | 11, MEDIUM | 12])
@pytest.mark.parametrize("sinks", [SINKS, CLIMBS])
def test_rocks_move_and_look_as_on_the_cartridge(cartridge, kind, sinks):
    machine = Machine()
    cartridge.step(0)
    for x in (151, 160, 4, 17, 19, 40, 112, 140):
        cartridge.put_rocks((x, 42 if sinks else 50, kind, sinks))
        cartridge.inject_into(machine)
        for frame in range(20):
            cartridge.step(0), machine.step()
            assert machine.rocks_now() == cartridge.rocks_now(), f"frame {frame} from {x}"
            picture = cartridge.ale.getScreenRGB()
            if frame > 2 and cartridge.ram[57] & 1 and machine.drift < 7:  # it shows the drift of climbing rocks 2 frames late
                ours = machine.env.render()[0]
                ours[machine_ship(ours)] = 0
                assert (ours[18:] == picture[18:]).all(), f"frame {frame} from {x}"


def machine_ship(picture):
    return (picture == [0xF0, 0x80, 0x80]).all(-1)


@pytest.mark.parametrize("way", range(16))
def test_the_ship_looks_as_on_the_cartridge(cartridge, way):
    machine = Machine()
    cartridge.put_rocks((30, 60, LARGE, SINKS))
    cartridge.poke({60: 0x40 | way, 73: 0x3D})
    cartridge.step(0)
    cartridge.inject_into(machine)
    if cartridge.ram[57] & 1:
        cartridge.step(0), machine.step()
    ours, theirs = machine_ship(machine.env.render()[0]), machine_ship(cartridge.ale.getScreenRGB())
    assert theirs.any() and (ours[18:] == theirs[18:]).all()


@pytest.mark.parametrize("score, lives", [(0, 4), (120, 1), (3450, 2), (67890, 5), (10000, 9)])
def test_score_and_lives_look_as_on_the_cartridge(cartridge, score, lives):
    machine = Machine()
    cartridge.put_rocks((30, 60, LARGE, SINKS))
    digits = f"{score // 10:04}"
    cartridge.poke({60: lives << 4, 61: int(digits[:2], 16), 62: int(digits[2:], 16)})
    for _ in range(4):
        cartridge.step(0)
    cartridge.inject_into(machine)
    assert machine.score == score and (machine.env.render()[0][:18] == cartridge.screen()[:18]).all()


@pytest.mark.parametrize("kind, points", [(LARGE, 20), (MEDIUM, 50), (SMALL, 100)])
@pytest.mark.parametrize("target", ["ship", "shot"])
def test_hits_are_those_of_the_cartridge(cartridge, kind, points, target):
    machine, rng, hits = Machine(), np.random.default_rng(kind), 0
    for _ in range(24):
        x, sinks, away = int(rng.integers(66, 92)), bool(rng.integers(2)), int(rng.integers(1, 4))
        line = 41 - {LARGE: 15, MEDIUM: 9, SMALL: 6}[kind] - away if sinks else 43 + away
        cartridge.ale.reset_game()
        cartridge.look()
        cartridge.step(0), cartridge.step(0)
        for _ in range(2):
            cartridge.put_rocks((x, line, kind, sinks), (20, 70, LARGE, SINKS))
            cartridge.step(int(target == "shot"))
        cartridge.inject_into(machine)
        machine.change(fired=target == "shot")
        for frame in range(12):
            rewards = cartridge.step(0)[0], machine.step()[0]
            assert rewards[0] == rewards[1], f"({x}, {line}) {sinks}, frame {frame}"
            if rewards[0]:
                assert rewards[0] == points
                hits += 1
                break
    assert 3 < hits < 24


def test_the_episode_ends_in_the_cartridges_frame(cartridge):
    machine = Machine()
    cartridge.put_rocks((84, 45, LARGE, CLIMBS), (30, 60, LARGE, SINKS))
    cartridge.poke({60: 0x10})
    cartridge.inject_into(machine)
    for frame in range(40):
        ends = cartridge.step(0), machine.step()
        assert ends[0] == ends[1], f"frame {frame}"
        if ends[0][1]:
            return
    raise AssertionError("neither ended")


def test_a_jump_in_a_waves_frame_draws_its_landing_first(cartridge):
    machine = Machine()
    for _ in range(4):
        cartridge.step(5)
        if cartridge.ship()["dived"]:
            break
    cartridge.step(5)
    cartridge.put_rocks()
    cartridge.inject_into(machine)
    cartridge.step(5), machine.step(5)
    assert machine.hidden == 32 and machine.rocks == 4 and different(machine, cartridge) == {}


# --- difficulty 3 ----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hard_console():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.asteroids import Cartridge
    return Cartridge(difficulty=3)


def begin_with_ufos(console, score: int):
    """Our game and the cartridge from its own start, 40 frames on, with this score and past the frames without UFOs."""
    cartridge, machine = console.restart(), Machine(scatter=0, ufos=1)
    for frame in range(40):
        cartridge.step(0), machine.step(0)
        assert frame == 0 or different(machine, cartridge) == {}, f"frame {frame}"
    digits = f"{score // 10:04}"
    cartridge.poke({58: 8, 60: 0x90 | int(cartridge.ram[60]) & 15, 61: int(digits[:2], 16), 62: int(digits[2:], 16), 70: 30})
    machine.change(score=score, lives=9, frame=int(8 << 8 | cartridge.ram[57]), ufo_timer=30)
    return cartridge, machine


@pytest.mark.parametrize("style, score", [("all", 0), ("fire", 0), ("jumps", 6900), ("fast", 6900), ("all", 14_700),
                                          ("fire", 14_700)])
def test_equals_the_cartridge_with_ufos_in_every_frame(hard_console, style, score):
    """When they come, their course, shots and hits, and how long the ship waits for them, all random numbers too."""
    (cartridge, machine), rng, action = begin_with_ufos(hard_console, score), np.random.default_rng(score + len(style)), 0
    ufos = away = 0
    for frame in range(600):
        if cartridge.ufo()["ufo_timer"] > 20 and not cartridge.ufo()["ufo_burst"]:  # the next one comes sooner
            cartridge.poke({70: 9})
            machine.change(ufo_timer=9)
        if rng.random() < 0.25:
            action = int(rng.choice(STYLES[style]))
        there = machine.ufo_now() is not None
        theirs, ours = cartridge.step(action), machine.step(action)
        assert theirs[1] == ours[1] and (frame == 0 or theirs[0] == ours[0]), f"frame {frame}"
        if theirs[1]:
            break
        assert different(machine, cartridge) == {}, f"frame {frame}"
        ufos += not there and machine.ufo_now() is not None
        if frame % 20 == 9:
            away = max(away, np.mean((machine.picture() != cartridge.screen()).any(-1)))
    assert ufos and away < 0.005


@pytest.mark.parametrize("small", [0, 1])
@pytest.mark.parametrize("burst", [0, 1])
def test_ufos_look_as_on_the_cartridge(hard_console, small, burst):
    """In all but single pixels, where a shot flies across the UFO."""
    from benchmarks.cartridges.asteroids import BYTE
    cartridge, machine = begin_with_ufos(hard_console, 0)
    if not cartridge.ram[57] & 1:
        cartridge.step(0)
    for number, x in enumerate((4, 15, 19, 60, 101, 140, 158, 165)):
        cartridge.put_rocks((84, 40, SMALL, SINKS))
        cartridge.poke({71: number | small << 5 | burst << 3, 81: BYTE[x], 82: 7 + 9 * number, 70: 0, 88: 224, 91: 0})
        cartridge.inject_into(machine)
        for frame in range(4):
            cartridge.step(0), machine.step(0)
            if frame and not cartridge.ram[57] & 1:
                ours, theirs = (picture[18:196] for picture in (machine.picture(), cartridge.ale.getScreenRGB()))
                for colour in ((0xCC, 0xD8, 0x6E), (0x75, 0xB5, 0xEF)):
                    mine, other = (ours == colour).all(-1), (theirs == colour).all(-1)
                    assert (mine != other).sum() <= 1, f"x {x}, frame {frame}"
        cartridge.step(0)
