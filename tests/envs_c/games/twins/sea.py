"""Our Seaquest with its state open: to read it, and to set it up, by the names of its fields."""

from open_state import Machine, struct


class Sea(Machine):
    GAME = "seaquest"
    STATE = struct(("score", "i4"), ("x guest", "i2", 4), ("x_ship y torpedo patrol wait", "i2"), ("frame pace rescues", "u2"),
                   ("alive right sub diver", "u1", 4),
                   ("phase facing torpedo_right lives oxygen crew docked enemy_part diver_part shot_part", "u1"))

    def play(self, action: int, frames: int):
        """The points of so many frames."""
        return super().play(*[action] * frames)
