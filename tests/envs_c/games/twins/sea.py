"""Our Seaquest with its state open to read and to change, at the start of an episode and in an empty sea."""

import numpy as np

from benchmarks.cartridges.twins import Seaquest

NOOP, FIRE, UP, RIGHT, LEFT, DOWN = range(6)
ACTIONS = [
    "NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
    "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"]
FILLING = 127  # frames until the tank is full and the first waves start
PLAYS, DIES = 1, 2  # phases


class Sea(Seaquest):
    def play(self, action: int, frames: int):
        """Hold an action for some frames; returns the points."""
        return super().play(*[action] * frames)

    def fields(self) -> dict:
        """All fields of the struct, as lists and numbers."""
        state = self.read()
        return {name: state[name].tolist() for name in state.dtype.names}


def start(**settings):
    """A game that began as the cartridge, and whose tank has just been filled; no enemy is in sight yet."""
    sea = Sea(scatter=0, **settings)
    sea.play(NOOP, FILLING)
    return sea


def empty(sea, **fields):
    """Move all waves to the right edge, so that nothing comes for a while; set other fields of the state."""
    sea.change(x=[215] * 4, right=[0] * 4, alive=[4] * 4, guest=[0] * 4, sub=[0] * 4, diver=[2, 2, 2, 0], chased=[0] * 4,
               **fields)


def assert_equal(theirs, ours, frame):
    """The RAM and the fields of our struct are equal, except for the side of a torpedo that is not there."""
    mine, other = ours.read(), theirs.state()
    for name in set(other) - ({"torpedo_right"} if not mine["torpedo"] else set()):
        if name in ("x", "right", "pose", "chased"):  # of waves and divers that are there
            there = (mine["alive"] > 0) | (mine["guest"] > 0)
            there &= (mine["sub"] == 0) | (name in ("x", "right"))
            assert np.array_equal(mine[name][there], other[name][there]), f"frame {frame}: {name}"
        else:
            assert np.array_equal(mine[name], other[name]), f"frame {frame}: {name} is {mine[name]}, not {other[name]}"
