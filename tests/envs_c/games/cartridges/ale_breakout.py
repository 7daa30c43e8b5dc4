"""The cartridge of Breakout, with its RAM in our game's terms."""

import cartridge
import numpy as np

# By brick of a row, from the left: index in RAM for the top row (one less for each row below it), and two bits of that byte.
BYTES = np.array([35, *[29] * 4, *[23] * 4, *[17] * 2, *[11] * 4, *[5] * 3])
BITS = np.array([192, 192, 48, 12, 3, 3, 12, 48, 192, 48, 192, 192, 48, 12, 3, 3, 12, 48])


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("breakout")

    def read(self) -> dict:
        """x and width of the paddle, lives, (x, y) of the ball in pixels or None, score, bricks (6, 18) of 0 and 1."""
        ram, rows = self.ram, np.arange(6)[:, None]
        return {
            "paddle": ram[72] - 47, "width": 2 * ram[108], "lives": ram[57],
            "ball": (ram[99] - 49, ram[101] + 9) if ram[101] else None,
            "score": self.bcd(76, 77),
            "bricks": (ram[BYTES - rows] & BITS != 0).astype(int),
        }
