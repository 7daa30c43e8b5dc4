"""Our Seaquest with its state open to read and to change, at the start of an episode and in an empty sea."""

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
