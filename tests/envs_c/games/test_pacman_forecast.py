"""Pac-Man's option forecast: further features, held against paths that are found a second time in plain Python."""

from collections import deque

import numpy as np
import pytest
from pacman_machine import EYES, LEFT, MAZE, OUT, RIGHT, WAY, Machine, arena, is_open, middle, put_ghost, tile_of
from support import assert_in_space

import envs_c

FEATURES, MORE = 296, 36
WAYS = tuple(WAY.values())
GROUPS = ("dot", "dot near", "pellet", "danger", "prey", "fruit", "area", "depth", "closed off")
TILES = [(column, row) for row in range(31) for column in range(-2, 30) if is_open(column, row)]
DOTS = [(column, row) for mark in ".o" for row, line in enumerate(MAZE) for column, at in enumerate(line) if at == mark]
FRUIT = (14, 17)


def beside(tile, way):
    """The open tile beside `tile` in a direction, or None."""
    (column, row), (across, down) = tile, WAYS[way]
    tile = ((column + across + 2) % 32 - 2, row + down)
    return tile if is_open(*tile) else None


BESIDE = {tile: [beside(tile, way) for way in range(4)] for tile in TILES}


def paths(start, back=None) -> dict:
    """The tiles to go from `start` to each tile. back: the direction in which the first step may not be."""
    away, queue = {start: 0}, deque([start])
    while queue:
        tile = queue.popleft()
        for way, to in enumerate(BESIDE[tile]):
            if to and to not in away and (tile, way) != (start, back):
                away[to] = away[tile] + 1
                queue.append(to)
    return away


def find_areas(here, danger) -> list:
    """By way, the safe tiles, {tile: steps of the player to it}. Four fronts advance in turn, a step at a time."""
    taken, areas, fronts = {here}, [{} for _ in WAYS], [[tile] for tile in BESIDE[here]]
    for steps in range(1, 25):
        for way in range(4):
            reached = []
            for tile in fronts[way]:
                if tile and tile not in taken and danger.get(tile, 999) > steps + 1:
                    taken.add(tile)
                    areas[way][tile] = steps
                    reached.append(tile)
            fronts[way] = [to for tile in reached for to in BESIDE[tile]]
    return areas


def expected(state) -> dict:
    """The features of the forecast by GROUPS, each for the four ways, computed from the struct."""
    here, danger, prey = tile_of(state["px"], state["py"]), {}, {}
    for k in range(4):
        if state["phase"][k] == OUT:
            fears = prey if state["blue"][k] else danger
            away = paths(tile_of(state["x"][k], state["y"][k]), None if state["blue"][k] else state["way"][k] ^ 2)
            fears.update({tile: min(tiles, fears.get(tile, 999)) for tile, tiles in away.items()})
    areas, found = find_areas(here, danger), np.zeros((9, 4))
    for way, tile in enumerate(BESIDE[here]):
        if tile:
            away = paths(tile)
            dots = min((away[at] for at, there in zip(DOTS[:240], state["dot"][:240], strict=True) if there), default=999)
            pellets = min((away[at] for at, there in zip(DOTS[240:], state["dot"][240:244], strict=True) if there), default=999)
            found[:, way] = [dots < 999 and 1 / (1 + dots), 1 - dots / 30, 1 - pellets / 20, 1 - danger.get(tile, 999) / 12,
                             1 - prey.get(tile, 999) / 20, state["fruit"] > 0 and 1 / (1 + away[FRUIT]),
                             min(len(areas[way]) / 40, 1), max(areas[way].values(), default=0) / 24, not areas[way]]
    return dict(zip(GROUPS, np.maximum(found, 0), strict=True))


def scatter(random) -> dict:
    """Fields of a random state: the player, ghosts and eyes in the maze, often near him, dots and fruit."""
    ghosts, here = [], tuple(random.choice(TILES).tolist())
    reach = random.choice([5, 99])
    near = [tile for tile, away in paths(here).items() if away <= reach]
    for tile in random.choice(near, 4):
        (x, y), exits = middle(*tile), [way for way in range(4) if beside(tile, way)]
        way, left = int(random.choice(exits)) ^ 2, int(random.integers(1, 129))
        dx, dy = WAYS[way]
        ghosts.append({"to_x": x, "to_y": y, "way": way, "next": exits[0], "left": left, "dx": dx, "dy": dy,
                       "x": (x - dx * left) % 4096, "y": y - dy * left})
    x, y = middle(*here)
    dot = np.zeros(256, int)
    dot[:244] = random.random(244) < random.choice([0, 0.01, 0.1, 1])
    return {**{name: [ghost[name] for ghost in ghosts] for name in ghosts[0]}, "dot": dot,
            "px": x + random.integers(-64, 64), "py": y + random.integers(-64, 64),
            "phase": random.choice([OUT, OUT, OUT, EYES], 4), "blue": random.integers(0, 2, 4) * random.integers(0, 2),
            "fruit": random.choice([0, 300]), "waiting": 0, "ready": 60}


def told(machine) -> np.ndarray:
    """The forecast, (9, 4). READY! must be shown, so that the frame that is played changes nothing."""
    machine.step()
    return machine.seen[FEATURES:].reshape(9, 4)


@pytest.mark.parametrize("first_level", [1, 19])
def test_the_forecast_changes_nothing_in_the_game(first_level):
    settings, random, score, size = {"seed": 3, "first_level": first_level}, np.random.default_rng(1), 0, 16
    plain, more = (envs_c.make("pacman", size, forecast=forecast, **settings) for forecast in (0, 1))
    assert np.array_equal(plain.reset()[0], more.reset()[0][:, :FEATURES])
    for _ in range(2_000):
        actions = random.integers(0, 5, size)
        seen, rewards, *ends, _ = plain.step(actions)
        seen_more, *others, _ = more.step(actions)
        assert np.array_equal(seen, seen_more[:, :FEATURES])
        for one, other in zip([rewards, *ends], others, strict=True):
            assert np.array_equal(one, other)
        score += rewards.sum()
    assert score > 0


def test_the_state_differs_only_in_the_bit_of_the_option():
    plain, more, random = Machine(3), Machine(3, forecast=1), np.random.default_rng(1)
    for _ in range(500):
        action = int(random.integers(5))
        assert plain.step(action) == more.step(action)
        for name in set(Machine.STATE.names) - {"rules"}:
            assert np.array_equal(plain.read()[name], more.read()[name])
    assert (plain.rules, more.rules) == (0, 1)


def test_a_state_of_a_game_without_the_forecast_is_refused():
    machine = Machine(forecast=1)
    with pytest.raises(envs_c.InvalidState):
        machine.change(rules=0)


def test_features_stay_in_their_space():
    env = envs_c.make("pacman", 64, seed=0, forecast=1)
    assert env.single_observation_space.shape == (FEATURES + MORE,)
    assert_in_space(env, np.random.default_rng(0).integers(0, 5, (1_500, 64)))


def test_the_features_equal_those_of_plain_paths():
    """In random states, so that each feature is often neither 0 nor 1."""
    machine, random, told_of = Machine(forecast=1), np.random.default_rng(5), np.zeros((9, 4), int)
    for _ in range(300):
        machine.change(**scatter(random))
        for feature, row in zip(told(machine), expected(machine.read()).items(), strict=True):
            np.testing.assert_allclose(feature, row[1], atol=1e-6, err_msg=row[0])
        told_of += machine.seen[FEATURES:].reshape(9, 4) > 0
    assert told_of.min() >= 20, dict(zip(GROUPS, told_of.tolist(), strict=True))


def test_the_features_equal_those_of_plain_paths_in_play():
    machine, random, action = Machine(forecast=1), np.random.default_rng(2), 0
    for frame in range(3_000):
        action = int(random.integers(5)) if random.random() < 0.1 else action
        machine.step(action)
        if frame % 20 == 0:
            rows = np.array(list(expected(machine.read()).values()))
            np.testing.assert_allclose(machine.seen[FEATURES:].reshape(9, 4), rows, atol=1e-6, err_msg=f"frame {frame}")


@pytest.mark.parametrize("way, danger", [(LEFT, [1 - 5 / 12, 1 - 3 / 12]), (RIGHT, [0, 0])])
def test_a_ghost_is_a_danger_on_the_way_that_it_goes(way, danger):
    """It is 4 tiles to the right of the player, in the long corridor of row 5, and goes to the left or to the right."""
    machine = arena((6, 5), forecast=1)
    put_ghost(machine, 0, (10, 5), way=way - 1, left=1)
    machine.change(ready=60)
    found = told(machine)[GROUPS.index("danger")]
    assert found[[LEFT - 1, RIGHT - 1]] == pytest.approx(danger)


def test_a_way_between_two_ghosts_is_closed_off():
    machine = arena((9, 5), forecast=1)
    put_ghost(machine, 0, (11, 5), way=LEFT - 1, left=1)
    machine.change(ready=60)
    seen = dict(zip(GROUPS, told(machine), strict=True))
    assert seen["closed off"].tolist() == [0, 0, 0, 1] and seen["area"].tolist() == [0, 1, 1, 0]
