"""Enduro with an open state: tests read and set the fields of its struct by name."""

from open_state import Machine, struct

FULL_BEND, DAY = 1764, 13312


class Race(Machine):
    GAME = "enduro"
    STATE = struct(("odometer", "i4"), ("day frame left speed x phase road bend toward rolls hills crash slide", "i2"),
                   ("slot", "u1", 7))

    def clear(self):
        """Take all cars off the road."""
        self.change(slot=[0] * 7)
