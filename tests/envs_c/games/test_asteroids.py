"""Asteroids: the rules that its file states, its plain twin, and its options."""

import numpy as np
import pytest
from asteroids_machine import Machine
from asteroids_twin import Twin

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
    assert [life > 0 for life in machine.shot_life] == [True, False, False]
    machine.play("NOOP", "NOOP", "FIRE", "FIRE", "NOOP", "NOOP", "FIRE", "FIRE")
    assert all(machine.shot_life[:2]) and machine.shot_x[:2] == [84, 84]
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


@pytest.mark.parametrize("option", [{"lives": 0}, {"lives": 10}, {"lives": 1.5}, {"scatter": 2}, {"still_rocks": 2},
                                    {"no_drag": 0.5}, {"whole_rocks": -1}, {"ufos": 2}])
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


# --- the plain twin, and options that change a rule ------------------------------------------------------------------

STYLES = {"all": range(14), "fire": (1, 9, 10, 9, 10, 1, 0, 0, 4, 3), "fast": (2, 8, 6, 7, 12, 13, 8, 8, 0),
          "jumps": (5, 5, 11, 1, 8, 0, 9)}
CHANGES = ("still_rocks", "no_drag", "whole_rocks")


def shots_of(machine) -> list:
    fields = zip(machine.shot_x, machine.shot_y, machine.shot_way, machine.shot_life, strict=True)
    return [list(shot) if shot[3] else None for shot in fields]


@pytest.mark.parametrize("style, changes", [*((style, {}) for style in STYLES), *(("all", {name: 1}) for name in CHANGES),
                                            ("fast", dict.fromkeys(CHANGES, 1)), *((style, {"ufos": 1}) for style in STYLES)],
                         ids=str)
def test_equals_its_plain_twin_in_every_frame(style, changes):
    """With UFOs, they come soon and often."""
    machine, rng, action = Machine(scatter=0, lives=9, **changes), np.random.default_rng(len(style)), 0
    twin = Twin(lives=9, **changes)
    machine.change(frame=1024)
    twin.frame = 1024
    for score in (0, 1000, 7000, 15000):
        machine.change(score=score, lives=9)
        twin.score, twin.lives = score, 9
        for frame in range(225):
            if twin.timer > 9 and not twin.burst:
                machine.change(ufo_timer=9)
                twin.timer = 9
            if rng.random() < 0.3:
                action = int(rng.choice(STYLES[style]))
            ours, theirs = machine.step(action), twin.step(action)
            assert ours == theirs, f"frame {frame}"
            if ours[1]:
                return
            state = machine.read()
            assert {name: int(state[name]) for name in twin.fields()} == twin.fields(), f"frame {frame}"
            assert machine.rocks_now() == sorted(map(tuple, twin.rocks)) and shots_of(machine) == twin.shots, f"frame {frame}"
            assert machine.ufo_now() == twin.ufo, f"frame {frame}"


@pytest.mark.parametrize("lines", [(75, 86), (40, 3)])
def test_a_half_with_seven_rocks_gets_no_second_piece(machine, lines):
    """A rock at the lower edge counts twice."""
    for rocks, pieces in ((4, 2), (5, 2 if lines[0] == 40 else 1), (6, 1)):
        small = [(30, 9 * k + 12, SMALL, SINKS) for k in range(rocks - 1)]
        machine.put_rocks((100, lines[0], LARGE | 64, SINKS), (30, lines[1], SMALL, SINKS), *small)
        machine.change(frame=1)
        machine.step()
        assert sum(kind & SMALL == MEDIUM for _, _, kind, _ in machine.rocks_now()) == pieces


@pytest.mark.parametrize("x, action, places", [(16, "RIGHT", [19]), (17, "RIGHT", [18]), (165, "RIGHT", [4]),
                                               (19, "LEFT", [18, 17, 16]), (4, "LEFT", [165, 164])])
def test_a_ship_passes_more_places_to_the_left_than_to_the_right(machine, x, action, places):
    speed = -4096 if action == "RIGHT" else 4096
    for place in places:
        machine.change(x=x * 256, vx=speed + 50 * (speed > 0), vy=0, frame=1)
        machine.step()
        x = (machine.x + 255) >> 8
        assert x == place


def test_still_rocks_stay_where_they_are():
    machine = Machine(still_rocks=1)
    before = machine.rocks_now()
    machine.play(*["NOOP"] * 100)
    assert machine.rocks_now() == before


def test_without_drag_a_ship_keeps_its_speed():
    speeds = []
    for no_drag in (0, 1):
        machine = Machine(no_drag=no_drag)
        machine.play(*["UP"] * 20, *["NOOP"] * 20)
        speeds.append(machine.vy)
    assert -1270 < speeds[0] < -1000 and speeds[1] == -1270


@pytest.mark.parametrize("kind, points", [(LARGE, 20), (OTHER, 20), (MEDIUM, 50), (SMALL, 100)])
def test_whole_rocks_are_gone_after_one_hit(kind, points):
    machine = Machine(whole_rocks=1)
    machine.put_rocks((84, 8, kind, SINKS), FAR_OFF)
    assert machine.play(*["FIRE"] * 26) == points and machine.rocks == 1


def test_scatter_begins_with_the_cartridges_numbers_or_with_random_ones():
    assert len({Machine(seed).numbers for seed in range(20)}) > 15
    assert {Machine(seed, scatter=0).numbers for seed in range(3)} == {0x460}
