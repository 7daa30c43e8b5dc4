"""Enduro with an open state: tests read and set the fields of its struct by name."""

from benchmarks.cartridges.twins import Enduro

DAY = 13312
NO_BEND, LEFT_BEND, RIGHT_BEND, LEFT_COMES, RIGHT_COMES = 0, 0x50, 0xF0, 0x17, 0x37
IN_LEFT, IN_MIDDLE, IN_RIGHT = 0x96, 0x86, 0x97  # cars of one colour
AT_EDGE, HIT = 64, 128


class Race(Enduro):
    def clear(self):
        """Take all cars off the road."""
        self.change(slot=[0] * 7)
