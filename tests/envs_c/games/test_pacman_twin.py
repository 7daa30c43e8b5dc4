"""Pac-Man frame by frame beside a plain twin in Python, and the ghosts' targets beside values computed by hand."""

import random

import numpy as np
import pytest
from pacman_ghosts import target
from pacman_machine import LEFT, MAZE, NAMES, RIGHT, UP, WAY, Machine, arena, is_open, put_ghost, tile_of
from pacman_player import hunt
from pacman_twin import Twin


@pytest.mark.parametrize("seed, first_level, frames, hunts", [
    (0, 1, 8_000, True), (1, 1, 8_000, True), (2, 2, 6_100, True), (3, 5, 8_000, True), (4, 17, 6_000, True),
    (8, 20, 4_500, True),
    (5, 1, 3_000, False), (6, 2, 3_000, False), (7, 3, 3_000, False), (9, 9, 3_000, False), (10, 19, 3_000, False),
    (2**63, 21, 3_000, False),
])
def test_every_frame_equals_the_plain_twin(seed, first_level, frames, hunts):
    """With a fair player, who completes levels and eats ghosts and fruit, or with random play."""
    settings = {"lives": 5, "first_level": first_level}
    machine, twin, luck, action, levels = Machine(seed, **settings), Twin(seed, **settings), random.Random(seed), 0, set()
    for frame in range(frames):
        if hunts and frame % 4 == 0:
            action = hunt(twin)
        elif not hunts and luck.random() < 0.12:
            action = luck.randrange(5)
        reward, over = twin.step(action)
        assert machine.step(action) == (reward, over), f"frame {frame}"
        if over:
            break
        assert machine.view() == twin.view(), f"frame {frame}"
        levels.add(twin.level)
        if frame % 16 == 0:
            assert np.array_equal(machine.seen, features_of(twin)), f"frame {frame}"
    assert not hunts or len(levels) > 1


def features_of(twin):
    """The features, computed a second time from the twin."""
    column, row = tile_of(twin.x, twin.y)
    seen = [(twin.x - 2048) / 1024, (twin.y - 2048) / 1024, *WAY[twin.facing]]
    seen += [is_open(column + dx, row + dy) for dx, dy in WAY.values()]
    for dx, dy in WAY.values():
        away = 1
        while not -2 <= column + away * dx < 30 or not is_open(column, row) or (
                is_open(column + away * dx, row + away * dy) and (column + away * dx, row + away * dy) not in twin.food):
            away += 1
            if away > 30:
                break
        seen.append(1 / away if (column + away * dx, row + away * dy) in twin.food else 0)
    for ghost in twin.ghosts:
        seen += [(ghost.x - twin.x) / 1024, (ghost.y - twin.y) / 1024, *WAY[ghost.way], ghost.blue,
                 ghost.phase in ("eyes", "sinks"), ghost.phase == "home"]
    seen += [twin.power * np.float32(1 / 360), twin.wave % 2 == 0, min(twin.wave_left, 1200) * np.float32(1 / 1200),
             twin.elroy() / 2, twin.chain / 4 if twin.power else 0, twin.fruit * np.float32(1 / 600)]
    seen += [(2048 - twin.x) / 1024, (2240 - twin.y) / 1024] if twin.fruit else [0, 0]
    seen += [twin.lives * np.float32(1 / 3), (twin.level - 1) * np.float32(1 / 20),
             (244 - len(twin.food)) * np.float32(1 / 244), twin.ready * np.float32(1 / 60)]
    for mark in ".o":
        seen += [(c, r) not in twin.food for r, line in enumerate(MAZE) for c, at in enumerate(line) if at == mark]
    return np.array(seen, np.float32)


# --- targets by hand -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, player, facing, blinky, own, scatter, expected", [
    ("blinky", (6, 5), "left", (21, 1), (21, 1), False, (6, 5)),
    ("blinky", (6, 5), "left", (21, 1), (21, 1), True, (25, -3)),
    ("pinky", (6, 5), "left", (21, 1), (9, 20), False, (2, 5)),
    ("pinky", (6, 5), "right", (21, 1), (9, 20), False, (10, 5)),
    ("pinky", (6, 5), "down", (21, 1), (9, 20), False, (6, 9)),
    ("pinky", (6, 5), "up", (21, 1), (9, 20), False, (2, 1)),  # the overflow: 4 up and 4 left
    ("pinky", (6, 5), "up", (21, 1), (9, 20), True, (2, -3)),
    ("inky", (6, 5), "left", (21, 1), (9, 20), False, (-13, 9)),  # from (21, 1) to (4, 5) and as far beyond
    ("inky", (6, 5), "right", (21, 1), (9, 20), False, (-5, 9)),
    ("inky", (6, 5), "down", (12, 11), (9, 20), False, (0, 3)),
    ("inky", (6, 5), "up", (12, 11), (9, 20), False, (-4, -5)),  # 2 up and 2 left: (4, 3)
    ("inky", (6, 5), "up", (12, 11), (9, 20), True, (27, 31)),
    ("clyde", (6, 5), "left", (21, 1), (14, 5), False, (6, 5)),  # 8 tiles away
    ("clyde", (6, 5), "left", (21, 1), (13, 5), False, (0, 31)),  # 7
    ("clyde", (6, 5), "left", (21, 1), (12, 10), False, (0, 31)),  # root of 61
    ("clyde", (6, 5), "left", (21, 1), (12, 11), False, (6, 5)),  # root of 72
    ("clyde", (6, 5), "left", (21, 1), (12, 11), True, (0, 31)),
])
def test_the_twins_targets_are_those_computed_by_hand(name, player, facing, blinky, own, scatter, expected):
    assert target(name, player, facing, blinky, own, scatter) == expected


@pytest.mark.parametrize("name, tile, player, facing, wave, way", [
    ("blinky", (5, 5), (6, 29), LEFT, 1, "down"),
    ("blinky", (5, 5), (6, 1), LEFT, 1, "up"),
    ("blinky", (5, 5), (6, 29), LEFT, 0, "right"),  # scatter: (7, 5) is 388 from his corner, (6, 4) 410
    ("clyde", (5, 5), (6, 1), LEFT, 1, "down"),  # near the player: to his corner
    ("clyde", (5, 5), (26, 1), LEFT, 1, "right"),
    ("clyde", (5, 5), (13, 5), LEFT, 1, "right"),  # 8 tiles are not near
    ("pinky", (8, 5), (9, 6), UP, 1, "down"),  # to (5, 2) by the overflow; to (9, 2) it would go right
    ("pinky", (8, 5), (13, 5), LEFT, 1, "down"),  # to (9, 5) itself: both ways are 1 from it, and down comes before right
    ("blinky", (11, 23), (12, 5), LEFT, 1, "right"),  # not up from (12, 23)
    ("blinky", (11, 11), (12, 5), LEFT, 1, "right"),  # not up from (12, 11)
])
def test_a_ghost_chooses_the_way_to_its_target(name, tile, player, facing, wave, way):
    """It enters `tile` from the left and then chooses how to leave the tile to the right of it."""
    machine, k = arena(player, facing), NAMES.index(name)
    machine.change(wave=wave, dot=0, pause=200)
    put_ghost(machine, k, tile, left=1, speed=8)
    machine.step()
    assert list(WAY)[machine.read()["next"][k]] == way


def test_inkys_target_depends_on_blinkys_place():
    ways = []
    for blinky in ((2, 1), (26, 29)):
        machine = arena((12, 5), RIGHT)
        machine.change(wave=1, dot=0, pause=200)
        put_ghost(machine, 0, blinky, speed=0)
        machine.step()
        put_ghost(machine, 2, (5, 5), left=1, speed=8)
        machine.step()
        ways.append(list(WAY)[machine.read()["next"][2]])
    assert ways == ["right", "up"]  # to (26, 9) and to (2, -19)
