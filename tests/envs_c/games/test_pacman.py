"""Pac-Man's rules, one by one. test_pacman_twin.py compares whole games with a plain twin."""

import numpy as np
import pacman_machine as tables
import pytest
from pacman_machine import DOWN, EYES, HOME, LEFT, RIGHT, SINKS, Machine, arena, by_level, middle, put_ghost, tile_of

import envs_c

LEVELS = range(1, 22)


def test_has_its_actions_features_and_screen():
    game = envs_c.game("pacman")
    assert game.actions == ("NOOP", "UP", "LEFT", "DOWN", "RIGHT")
    assert game.feature_shape == (296,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (252, 252)


def test_a_level_begins_with_240_dots_and_4_pellets():
    state = Machine().read()
    dots = {(c, r) for r in range(31) for c in range(28) if state["row"][r] >> (c + 2) & 1}
    assert dots == {(c, r) for r in range(31) for c in range(28) if state["column"][c + 2] >> r & 1}
    assert dots == {(c, r) for r, line in enumerate(tables.MAZE) for c, mark in enumerate(line) if mark in ".o"}
    assert state["dot"].sum() == state["dots"] == len(dots) == 244


def test_lives_begin_after_a_random_wait():
    waits = {int(Machine(seed).read()["ready"]) for seed in range(60)}
    assert len(waits) > 20 and waits <= set(range(1, 61))


@pytest.mark.parametrize("tile, points, pause", [((6, 5), 10, 1), ((1, 3), 50, 3)])
def test_a_dot_gives_10_and_a_pellet_50_and_holds_the_player(tile, points, pause):
    machine = arena(tile, LEFT)
    assert machine.step(LEFT) == (points, False)
    place = machine.read()["px"]
    for _ in range(pause):
        machine.step(LEFT if tile == (6, 5) else DOWN)
        assert machine.read()["px"] == place and machine.read()["py"] == middle(*tile)[1]
    machine.step(LEFT if tile == (6, 5) else DOWN)
    assert (machine.read()["px"], machine.read()["py"]) != (place, middle(*tile)[1])


@pytest.mark.parametrize("level", LEVELS)
def test_speeds_are_the_levels_percentages(level):
    player, power_player, ghost, tunnel, blue = (percent // 5 for percent in by_level(tables.PERCENT, level))

    def went(k, frames=20):
        """Speed in 1/16 pixel a frame of ghost k from the middle of its tile on; of the player if k is None."""
        begun = machine.read()
        for _ in range(frames):
            machine.step(RIGHT)
        state = machine.read()
        return (state["px"] - begun["px"] if k is None else state["x"][k] - begun["x"][k]) / frames

    for power, speed in ((0, player), (100, power_player)):
        machine = arena((3, 14), RIGHT, first_level=level)
        machine.change(dot=0, power=power)
        assert went(None) == speed
    for tile, k, fields, dots, speed in [
            ((7, 1), 1, {}, 244, ghost), ((1, 14), 1, {}, 244, tunnel), ((7, 1), 1, {"blue": 1}, 244, blue),
            ((1, 14), 1, {"blue": 1}, 244, tunnel), ((7, 1), 0, {}, 244, ghost),
            ((7, 1), 0, {}, 10, by_level(tables.ELROY, level)[1] // 5), ((7, 1), 1, {}, 10, ghost)]:
        machine = arena((6, 26), first_level=level)
        machine.change(dot=0, dots=dots, pause=255, power=200 if "blue" in fields else 0, wave=7, elroy=2 * (dots == 10))
        put_ghost(machine, k, tile, left=1, speed=1, **fields)
        machine.step()
        assert went(k) == speed, (tile, k, fields, dots)


@pytest.mark.parametrize("level", [1, 2, 4, 5, 21])
def test_scatter_and_chase_follow_the_schedule(level):
    machine = arena(first_level=level)
    machine.change(dot=0)
    for wave, frames in enumerate(by_level(tables.WAVES, level)):
        assert (machine.read()["wave"], machine.read()["wave_left"]) == (wave, frames)
        put_ghost(machine, 1, (9, 1), reverse=0, speed=0)
        machine.change(pause=255, wave_left=2)
        machine.step()
        assert machine.seen[41] == (wave % 2 == 0) and not machine.read()["reverse"].any()
        machine.step()
        assert machine.seen[41] == (wave % 2 == 1) and machine.read()["reverse"].tolist() == [0, 1, 0, 0]
    machine.step()
    assert machine.read()["wave"] == 7 and not machine.seen[41]


@pytest.mark.parametrize("level", LEVELS)
def test_a_pellet_turns_ghosts_blue_for_the_levels_time(level):
    machine = arena((1, 3), LEFT, first_level=level)
    put_ghost(machine, 1, (9, 1), speed=0)
    machine.step(LEFT)
    state, seconds = machine.read(), tables.SECONDS[level - 1]
    assert state["blue"].tolist() == [0, int(seconds > 0), 0, 0] and state["reverse"][1]
    wave_left, frames = state["wave_left"], 1
    while machine.read()["power"]:
        put_ghost(machine, 1, (9, 1), blue=1, speed=0)
        machine.change(pause=1)
        machine.step()
        frames += 1
    assert frames == max(60 * seconds, 1) and not machine.read()["blue"].any()
    assert machine.read()["wave_left"] == wave_left


def test_blue_ghosts_give_200_400_800_and_1600_and_become_eyes():
    machine = arena((6, 5), LEFT)
    machine.change(dot=0, power=300, pause=255)
    rewards = []
    for k in range(4):
        put_ghost(machine, k, (6, 5), blue=1, speed=0)
        rewards.append(machine.step()[0])
        assert tables.PHASES[machine.read()["phase"][k]] == "eyes" and not machine.read()["blue"][k]
    assert rewards == [200, 400, 800, 1600] and machine.read()["lives"] == 3


@pytest.mark.parametrize("phase, tile, fields", [
    (EYES, (6, 5), {}), (SINKS, (13, 11), {"to_x": 2048}), (HOME, (14, 11), {"to_x": 2048, "way": 0, "left": 32}),
])
def test_eyes_and_ghosts_in_the_house_do_no_harm(phase, tile, fields):
    machine = arena(tile, LEFT)
    machine.change(dot=0, pause=255)
    put_ghost(machine, 1, tile, phase=phase, speed=0, **fields)
    state = machine.read()
    assert tile_of(state["x"][1], state["y"][1]) == tile
    assert machine.step() == (0, False) and machine.read()["lives"] == 3


def test_eyes_come_back_to_the_house_and_out_again():
    machine, phases = arena((1, 29), LEFT), []
    machine.change(dot=0)
    put_ghost(machine, 2, (9, 5), phase=EYES, speed=32)
    for _ in range(400):
        machine.step()
        phase = tables.PHASES[machine.read()["phase"][2]]
        phases += [phase] if phase not in phases[-1:] else []
    assert phases == ["eyes", "sinks", "home", "out"]


@pytest.mark.parametrize("level", LEVELS)
def test_fruit_appears_after_70_and_170_dots_and_gives_the_levels_points(level):
    machine = arena((6, 5), LEFT, first_level=level)
    for eaten in (70, 170):
        x, y = middle(6, 5)
        machine.change(px=x, py=y, pause=0, dot=tables.ALL_DOTS, dots=244 - eaten + 1, facing=LEFT - 1)
        machine.step(LEFT)
        assert 539 <= machine.read()["fruit"] <= 600
        machine.change(px=2048, py=2240, pause=3)
        assert machine.step()[0] == tables.FRUIT[level - 1] and machine.read()["fruit"] == 0


def test_fruit_disappears_after_its_time():
    machine = arena()
    machine.change(fruit=2, dot=0)
    machine.step()
    assert machine.read()["fruit"] == 1 and machine.seen[45] > 0
    machine.step()
    assert machine.read()["fruit"] == 0 and not machine.seen[45:48].any()


@pytest.mark.parametrize("action, begun, crossed", [(LEFT, 0, 4095), (RIGHT, 4095, 0)])
def test_the_tunnel_joins_both_sides(action, begun, crossed):
    machine = arena((0, 14), action)
    machine.change(px=begun, dot=0)
    machine.step(action)
    assert abs(machine.read()["px"] - crossed) < 32
    for _ in range(40):
        machine.step(action)
    column, row = tile_of(machine.read()["px"], machine.read()["py"])
    assert row == 14 and (column > 20 if action == LEFT else column < 7)


def test_a_ghost_takes_a_life_and_all_but_the_dots_starts_again():
    machine = arena((6, 5), LEFT)
    machine.step()
    put_ghost(machine, 1, (6, 5), speed=0)
    machine.change(fruit=99)
    assert machine.step() == (0, False)
    state = machine.read()
    assert state["lives"] == 2 and state["dots"] == 243 and state["shared"] and state["rests"] and not state["fruit"]
    assert (state["px"], state["py"]) == (2048, 3008) and state["waiting"] == 0b1110 and 1 <= state["ready"] <= 60


@pytest.mark.parametrize("lives", range(1, 6))
def test_ends_with_the_last_of_its_lives(lives):
    machine, over = Machine(2, lives=lives), False
    for life in range(lives):
        assert not over
        machine.change(ready=0, dot=0, pause=255, waiting=0)
        put_ghost(machine, 1, (14, 23), speed=0)
        over = machine.step()[1]
        assert machine.read()["lives"] == lives - life - 1
    assert over


def test_10000_points_give_a_life_once():
    machine = arena((6, 5), LEFT)
    for score, lives in ((9_970, 3), (9_990, 4), (10_000, 4), (19_990, 4)):
        x, y = middle(6, 5)
        machine.change(score=score, px=x, py=y, pause=0, dot=tables.ALL_DOTS)
        machine.step()
        assert machine.read()["lives"] == lives


@pytest.mark.parametrize("level", [1, 20, 21])
def test_a_level_ends_with_its_last_dot_and_the_game_with_level_21(level):
    machine = arena((6, 5), LEFT, first_level=level)
    machine.change(dots=1)
    assert machine.step() == (10, level == 21)
    state = machine.read()
    if level < 21:
        assert state["level"] == level + 1 and state["dots"] == 244 and state["lives"] == 3 and state["px"] == 2048


@pytest.mark.parametrize("level, first, dots", [(1, 2, 30), (1, 3, 60), (2, 2, 0), (2, 3, 50), (3, 3, 0)])
def test_the_house_counts_dots_for_the_first_waiting_ghost(level, first, dots):
    machine = arena(first_level=level)
    machine.change(dot=0)
    tables.fill_house(machine, 0b1110 & -(1 << first))
    for count in (max(dots - 1, 0), dots):
        machine.change(count=[count] * 4, idle=0)
        machine.step()
        assert (machine.read()["waiting"] >> first & 1) == (count < dots)


@pytest.mark.parametrize("level, frames", [(1, 240), (4, 240), (5, 180)])
def test_a_waiting_ghost_leaves_if_no_dot_is_eaten_for_long(level, frames):
    machine = arena(first_level=level)
    machine.change(dot=0, shared=1, idle=frames - 2)
    tables.fill_house(machine, 0b1110)
    machine.step()
    assert machine.read()["waiting"] == 0b1110
    machine.step()
    assert machine.read()["waiting"] == 0b1100 and machine.read()["idle"] == 0


@pytest.mark.parametrize("total, waiting, shared", [
    (6, 0b1100, 1), (16, 0b1010, 1), (31, 0b1110, 0), (7, 0b1110, 1),
])
def test_after_a_lost_life_one_count_serves_all(total, waiting, shared):
    machine = arena((6, 5), LEFT)
    machine.change(shared=1, total=total, count=[0, 0, 0, 0])
    tables.fill_house(machine, 0b1110)
    put_ghost(machine, 0, (20, 1), phase=EYES, speed=0)
    machine.step()
    state = machine.read()
    assert state["shared"] == shared
    assert state["waiting"] == (waiting if shared else 0b1100)  # at 32 her own count lets Pinky leave at once


def test_elroy_wakes_when_few_dots_are_left_and_rests_until_clyde_is_out():
    machine, stages = arena((6, 5), LEFT), []
    for dots, rests in ((22, 0), (21, 0), (12, 0), (11, 0), (11, 1)):
        x, y = middle(6, 5)
        machine.change(dots=dots, rests=rests, px=x, py=y, pause=0, dot=tables.ALL_DOTS, facing=LEFT - 1)
        machine.step()
        stages.append(int(machine.read()["elroy"]))
    machine.change(shared=0, count=[0, 0, 0, 60])
    tables.fill_house(machine, 0b1000)
    machine.step()
    assert stages == [0, 1, 1, 2, 0] and machine.read()["elroy"] == 2


@pytest.mark.parametrize("option, value", [("lives", 0), ("lives", 6), ("first_level", 0), ("first_level", 22)])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("pacman", **{option: value})


@pytest.mark.parametrize("level", LEVELS[1:])
def test_the_picture_shows_the_level_in_the_digits_of_the_score(level):
    machine = arena((6, 5), LEFT, first_level=level)
    machine.change(score=10 * level)
    picture = machine.core.render()[1::3, 1::3, 0]
    first = 4 if level < 10 else 0
    assert picture[44:49, 74:82].any() and np.array_equal(picture[44:49, 74 + first:82], picture[28:33, 70 + first:78])
