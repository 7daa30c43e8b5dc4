"""A scripted player for each game. It reads the fields of our struct that a cartridge's RAM tells too, so it plays both sides.

A player takes a state, with its fields by name, and a random generator, and returns an action. With probability SLIP the action
is random, so that episodes differ.
"""

from collections.abc import Callable, Mapping

import numpy as np

import envs_c
from benchmarks.cartridges.lockstep import VARIANTS

Player = Callable[[Mapping, np.random.Generator], int]

SLIP = 0.1
LYRE, TREASURE = 1, 2
NEAR = 40                       # pixels: a lyre is dodged from here on
AIR, DEEPEST, APART = 20, 95, 24    # oxygen at which the diver rises; y of lane 0; rows from a lane to the next
MIDDLE = 3                      # pixels: the driver keeps the road's middle within this distance
FORMATION = 44                  # pixels from the formation's left end to its middle


def breakout(state) -> str:
    """Serve, and keep the paddle's middle below the ball."""
    if not state["in_play"]:
        return "FIRE"
    away = int(state["x"]) // 256 - 7 - int(state["paddle"])
    return "RIGHT" if away > 3 else "LEFT" if away < -3 else "NOOP"


def pong(state) -> str:
    """Meet the ball with the paddle's upper end, which sends it up steeply."""
    away = int(state["y"]) - 1 - int(state["paddle"])
    return "NOOP" if state["y"] == 0 or abs(away) < 4 else "LEFTFIRE" if away > 0 else "RIGHTFIRE"


def freeway(state) -> str:
    return "UP"


def asterix(state) -> str:
    """Leave a lane in which a lyre comes near; go towards treasures in this lane and the next ones."""
    lane, kind = int(state["lane"]), state["kind"]
    away = np.asarray(state["x"], int) - int(state["hero"])
    danger = [bool(kind[k] == LYRE and abs(away[k]) < NEAR) for k in range(8)]
    ways = [way for way in (0, -1, 1) if 0 <= lane + way < 8 and not danger[lane + way]]
    best = next((way for way in ways if kind[lane + way] == TREASURE), ways[0] if ways else 0)
    if best:
        return "DOWN" if best > 0 else "UP"
    return "NOOP" if kind[lane] != TREASURE else "RIGHT" if away[lane] > 0 else "LEFT"


def seaquest(state) -> str:
    """Rise for air; otherwise shoot at the nearest wave from its lane."""
    if state["oxygen"] < AIR:
        return "UP"
    depth, there = np.array([DEEPEST - APART * lane for lane in range(4)]), np.asarray(state["alive"]) > 0
    lane = int(np.argmin(np.abs(depth - int(state["y"])) + 1000 * ~there))
    below = int(depth[lane]) - int(state["y"])
    way = "DOWN" if below > 3 else "UP" if below < -3 else ""
    return way + ("RIGHT" if state["x"][lane] > state["x_ship"] else "LEFT") + "FIRE"


def space_invaders(state) -> str:
    """Keep below the formation's middle, and fire."""
    away = int(state["x"]) + FORMATION - int(state["cannon"])
    return "RIGHTFIRE" if away > 8 else "LEFTFIRE" if away < -8 else "FIRE"


def asteroids(state) -> str:
    """Turn and fire in turn."""
    return "FIRE" if state["way"] & 1 else "LEFT"


def enduro(state) -> str:
    """Full speed in the middle of the road."""
    return "RIGHTFIRE" if state["x"] > MIDDLE else "LEFTFIRE" if state["x"] < -MIDDLE else "FIRE"


SCRIPTS = {script.__name__: script for script in (
    breakout, pong, asterix, freeway, seaquest, space_invaders, asteroids, enduro)} | {"asteroids_ufos": asteroids}


def player_of(game: str) -> Player:
    """The scripted player of a game."""
    script, actions = SCRIPTS[game], envs_c.game(VARIANTS.get(game, game)).actions

    def play(state: Mapping, random: np.random.Generator) -> int:
        return int(random.integers(len(actions))) if random.random() < SLIP else actions.index(script(state))
    return play
