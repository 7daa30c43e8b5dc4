"""Our Seaquest with its state open to read and to change, at the start of an episode and in an empty sea."""

from open_state import Machine, struct

NOOP, FIRE, UP, RIGHT, LEFT, DOWN = range(6)
ACTIONS = [
    "NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
    "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"]
FILLING = 128  # frames until the tank is full
PLAYS, DIES = 1, 2  # phases


class Sea(Machine):
    GAME = "seaquest"
    STATE = struct(("score", "i4"), ("x guest", "i2", 4), ("x_ship y torpedo patrol wait", "i2"), ("frame pace rescues", "u2"),
                   ("alive right sub diver", "u1", 4),
                   ("phase facing torpedo_right lives oxygen crew docked enemy_part diver_part shot_part", "u1"))

    def play(self, action: int, frames: int):
        """Hold an action for some frames; returns the points."""
        return super().play(*[action] * frames)


def start(**settings):
    """A game whose tank has just been filled; no enemy is in sight yet."""
    sea = Sea(**settings)
    sea.play(NOOP, FILLING)
    return sea


def empty(sea, **fields):
    """Move all waves to the right edge, so that nothing comes for a while; set other fields of the state."""
    sea.change(x=[215] * 4, right=[0] * 4, alive=[4] * 4, guest=[0] * 4, sub=[0] * 4, diver=[2, 2, 2, 0], **fields)
