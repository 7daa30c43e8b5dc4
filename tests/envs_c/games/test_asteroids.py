"""Asteroids: the rules that its file states, and a comparison with the cartridge under ale-py, frame by frame."""

import numpy as np
import pytest
from asteroids_machine import Machine

import envs_c

ACTIONS = ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "UPFIRE", "RIGHTFIRE", "LEFTFIRE",
           "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE"]
LARGE, OTHER, MEDIUM, SMALL = 0, 16, 32, 48
SINKS, CLIMBS = True, False
FAR_OFF = (160, 80, SMALL, SINKS)   # a rock far from the ship, so that no new wave comes


@pytest.fixture
def machine():
    made = Machine()
    made.put_rocks(FAR_OFF)
    return made


# --- the rules -------------------------------------------------------------------------------------------------------

def test_has_its_actions_features_and_screen():
    game = envs_c.game("asteroids")
    assert game.actions == tuple(ACTIONS)
    assert game.feature_shape == (97,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


@pytest.mark.parametrize("score, rocks", [(0, 4), (980, 4), (1000, 6), (14980, 6), (15000, 8), (99980, 8)])
def test_the_turn_after_the_last_rock_brings_a_wave_by_the_score(score, rocks):
    for seed in range(10):
        machine = Machine(seed)
        machine.put_rocks()
        machine.change(score=score, frame=1)
        machine.step()
        wave = machine.rocks_now()
        assert len(wave) == machine.rocks == rocks and sum(sinks for *_, sinks in wave) == rocks // 2
        for x, line, kind, sinks in wave:
            assert kind < MEDIUM and line in ((1, 63) if rocks == 4 else (1, 63, 21 if sinks else 42) if rocks == 6
                                              else (1, 21, 42, 63))
            assert x in range(151, 166, 2) if line in (21, 42) else 19 <= x <= 63 or 106 <= x <= 135


@pytest.mark.parametrize("kind, points, children", [(LARGE, 20, 2), (OTHER, 20, 2), (MEDIUM, 50, 1), (SMALL, 100, 0)])
@pytest.mark.parametrize("sinks", [SINKS, CLIMBS])
def test_a_shot_breaks_a_rock(machine, kind, points, children, sinks):
    machine.put_rocks((84, 8, kind, sinks), FAR_OFF)
    rewards = [machine.step("FIRE")[0] for _ in range(24)]
    while not any(rewards):
        rewards.append(machine.step()[0])
    machine.play("NOOP")
    rocks = [rock for rock in machine.rocks_now() if rock[0] not in (160, 161)]
    assert sum(rewards) == machine.score == points and machine.lives == 4 and len(rocks) == children
    assert all((rock[2] & SMALL, rock[3]) == (MEDIUM if kind < MEDIUM else SMALL, sinks) for rock in rocks)
    if children == 2:
        assert abs(rocks[1][1] - rocks[0][1]) in (10, 79)
        assert (rocks[0][2] ^ rocks[1][2]) & 8


def test_rocks_move_a_line_in_two_frames_and_drift_a_pixel_in_fourteen(machine):
    machine.put_rocks((20, 30, LARGE, SINKS), (30, 40, MEDIUM | 8, CLIMBS), (150, 88, SMALL, SINKS), (4, 0, SMALL | 8, CLIMBS))
    machine.play(*["NOOP"] * 28)
    assert machine.rocks_now() == [(22, 44, LARGE, SINKS), (28, 26, MEDIUM | 8, CLIMBS), (152, 13, SMALL, SINKS),
                                   (164, 75, SMALL | 8, CLIMBS)]


def test_ramming_a_rock_scores_it_and_costs_a_life(machine):
    machine.put_rocks((84, 42, MEDIUM, SINKS), FAR_OFF)
    assert machine.play("NOOP") == 50 and machine.blast == 6 and machine.lives == 4
    machine.play(*["UPRIGHTFIRE"] * 11)
    assert machine.lives == 3 and machine.hidden == 64
    machine.put_rocks(FAR_OFF)
    machine.play(*["UPRIGHTFIRE"] * 125)
    assert machine.hidden == 2
    machine.play("NOOP", "NOOP")
    assert (machine.hidden, machine.x, machine.y, machine.way, machine.vx) == (0, 84 * 256, 41 * 256, 0, 0)


@pytest.mark.parametrize("x, line, free", [(90, 40, False), (64, 30, False), (63, 30, True), (106, 30, True), (105, 30, False),
                                           (90, 66, True), (90, 6, True), (90, 10, False), (94, 10, True), (79, 60, False),
                                           (78, 60, True), (100, 57, True), (100, 54, False)])
@pytest.mark.parametrize("frame", [0, 1])
def test_a_new_ship_waits_until_the_middle_is_clear(machine, x, line, free, frame):
    machine.put_rocks((x, line - (frame == 0), SMALL, SINKS), FAR_OFF)
    machine.change(hidden=1, frame=frame)
    machine.step()
    assert (machine.hidden == 0) == free


def test_ends_with_the_last_life():
    machine = Machine(lives=1)
    machine.put_rocks((84, 42, MEDIUM, SINKS), FAR_OFF)
    ends = [machine.step()[1] for _ in range(12)]
    assert ends == [False] * 11 + [True] and machine.lives == 0


@pytest.mark.parametrize("before, lives, score, after", [(4980, 4, 5000, 5), (4960, 4, 4980, 4), (9980, 9, 10000, 9),
                                                         (99980, 4, 0, 5)])
def test_each_5000_points_give_a_life(machine, before, lives, score, after):
    machine.put_rocks((84, 5, LARGE, SINKS), FAR_OFF)
    machine.change(score=before, lives=lives)
    assert machine.play(*["FIRE"] * 24) == 20 and machine.score == score and machine.lives == after


@pytest.mark.parametrize("action, way", [("RIGHT", 15), ("LEFT", 1), ("UPRIGHT", 15), ("LEFTFIRE", 1), ("DOWN", 0)])
def test_turns_by_a_sixteenth_in_four_frames(machine, action, way):
    machine.play(*[action] * 3)
    assert machine.way == way
    machine.play(*["NOOP"] * 3)
    assert machine.way == way


def test_a_ship_at_rest_stays_and_one_that_flies_comes_to_rest(machine):
    machine.play(*["NOOP"] * 20)
    assert (machine.x, machine.y) == (84 * 256, 41 * 256)
    machine.play(*["UP"] * 20)
    assert machine.vy == -1270 and machine.vx == 0
    speeds = []
    for _ in range(1200):
        machine.put_rocks(FAR_OFF)
        machine.step()
        speeds.append(int(machine.vy))
    assert speeds == sorted(speeds) and speeds[-1] == 0


def test_speed_is_limited_and_the_field_goes_round(machine):
    lines = []
    for _ in range(400):
        machine.put_rocks(FAR_OFF)
        machine.step("UP")
        lines.append(int(machine.y) >> 8)
    assert -16384 <= machine.vy < -16000 and min(lines) == -5 and max(lines) == 83


def test_two_shots_fly_and_fire_must_be_released_between_them(machine):
    machine.play(*["FIRE"] * 6)
    assert [life > 0 for life in machine.shot_life] == [True, False]
    machine.play("NOOP", "NOOP", "FIRE", "FIRE", "NOOP", "NOOP", "FIRE", "FIRE")
    assert all(machine.shot_life) and machine.shot_x == [84, 84]
    machine.play(*["NOOP"] * 30)
    assert not any(machine.shot_life)


@pytest.mark.parametrize("turns, goes", [(1, False), (2, True)])
def test_hyperspace_takes_two_turns_of_down(machine, turns, goes):
    machine.play(*["DOWN"] * 2 * turns)
    assert (machine.hidden == 32) == goes
    if goes:
        machine.play(*["NOOP"] * 62)
        assert machine.hidden == 0 and (19 <= machine.x >> 8 <= 63 or 106 <= machine.x >> 8 <= 135) and machine.y >> 8 < 79


def test_keys_held_only_in_odd_frames_do_nothing(machine):
    machine.play(*["UPLEFTFIRE", "NOOP"] * 20, *["DOWN", "NOOP"] * 10)
    assert machine.vy == machine.way == machine.hidden == 0 and not any(machine.shot_life)


@pytest.mark.parametrize("option", [{"lives": 0}, {"lives": 10}, {"lives": 1.5}])
def test_refuses_wrong_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("asteroids", **option)


def test_features_describe_the_nearest_rock_as_seen_from_the_ship(machine):
    machine.put_rocks((84 + 3 - 8 + 40, 34, LARGE, SINKS), FAR_OFF)
    machine.change(drift=7, frame=0)
    machine.step()
    there, dx, dy, cosine, sine, near, drift, way, size = machine.seen[25:34]
    assert (there, dx, dy, drift, way, size) == (1, 1, pytest.approx(2 / 44), 1, 1, 1) and 0 < near < 1
    assert abs(cosine) < 0.1 and sine == pytest.approx(1, abs=0.05)


# --- the cartridge ---------------------------------------------------------------------------------------------------

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
                      if ours["shot_life"][k] else None for k in range(2)], cartridge.shots()
    pairs["all rocks"] = machine.rocks_now(), cartridge.rocks_now()
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
    assert np.mean(away) < 0.003


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
