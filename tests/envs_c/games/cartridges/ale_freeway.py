"""Freeway's cartridge, its RAM read: what tests/envs_c/games/test_freeway.py compares our game with."""

import cartridge
import numpy as np


class Cartridge(cartridge.Cartridge):
    def __init__(self, game: int = 1, difficulty: int = 0):
        super().__init__("freeway", game - 1, difficulty)

    def read(self) -> dict:
        """Chicken's height, timer's counter, score, and the lanes' x and paces, lane 0 first, (10,) each.

        Lanes that drive to the left are read from the frame before: RAM is a frame ahead of the picture there.
        """
        ram = self.ram
        return {
            "y": ram[14], "counter": ram[106] & 63, "score": self.bcd(103),
            "x": np.append(ram[108:113], self.before[113:118]), "pace": ram[23:33] >> 4 & 7,
        }
