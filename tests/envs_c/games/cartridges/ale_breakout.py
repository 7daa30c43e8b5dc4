"""Breakout's cartridge, its RAM read: what tests/envs_c/games/test_breakout.py compares our game with."""

import cartridge
import numpy as np

# A row's bricks, from the left: which byte of RAM (for the top row; one less a row further down) and which two bits.
BYTES = np.array([35, *[29] * 4, *[23] * 4, *[17] * 2, *[11] * 4, *[5] * 3])
BITS = np.array([192, 192, 48, 12, 3, 3, 12, 48, 192, 48, 192, 192, 48, 12, 3, 3, 12, 48])


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("breakout")

    def read(self) -> dict:
        """Paddle's x and width, lives, ball's (x, y) in whole pixels or None, score, bricks (6, 18) of 0 and 1."""
        ram, rows = self.ram, np.arange(6)[:, None]
        return {
            "paddle": ram[72] - 47, "width": 2 * ram[108], "lives": ram[57],
            "ball": (ram[99] - 49, ram[101] + 9) if ram[101] else None,
            "score": self.bcd(76, 77),
            "bricks": (ram[BYTES - rows] & BITS != 0).astype(int),
        }
