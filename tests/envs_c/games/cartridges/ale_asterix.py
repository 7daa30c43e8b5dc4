"""Asterix's cartridge, its RAM read: what tests/envs_c/games/test_asterix.py compares our game with."""

import cartridge
import numpy as np

NOTHING, LYRE, TREASURE, POINTS = range(4)


class Cartridge(cartridge.Cartridge):
    """After its first frame, in which it sets the things up."""

    def __init__(self):
        super().__init__("asterix")
        super().step(0)

    def read(self) -> dict:
        """Hero's x, lane and direction, stun, stage, lives, score, and the things' x and kinds by lane."""
        ram = self.ram
        return {
            "hero": ram[41], "lane": ram[39], "stun": ram[71], "stage": ram[54], "lives": ram[83],
            "score": self.bcd(94, 95, 96), "x": ram[42:50], "kind": np.array([self.kind(byte) for byte in ram[18:10:-1]]),
        }

    @staticmethod
    def kind(byte: int) -> int:
        if byte == 11:
            return NOTHING
        if byte in (204, 216):
            return LYRE
        return TREASURE if byte >= 108 else POINTS

    def put(self, lane: int, x: int):
        """The hero elsewhere."""
        self.poke({39: lane, 40: 125 - 16 * lane, 41: x})

    def start_stage(self, stage: int, taken: int = 0):
        """With so many treasures of it taken, and Obelix met if it is his."""
        self.poke({54: stage, 66: taken, 52: int(stage < 4)})
