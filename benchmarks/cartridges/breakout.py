"""The cartridge of Breakout, with its RAM in our game's terms."""

import numpy as np

from benchmarks.cartridges import console

# By brick of a row, from the left: index in RAM for the top row (one less for each row below it), and two bits of that byte.
BYTES = np.array([35, *[29] * 4, *[23] * 4, *[17] * 2, *[11] * 4, *[5] * 3])
BITS = np.array([192, 192, 48, 12, 3, 3, 12, 48, 192, 48, 192, 192, 48, 12, 3, 3, 12, 48])


class Cartridge(console.Cartridge):
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

    def state(self) -> dict:
        """Fields of our struct."""
        read, ram = self.read(), [int(value) for value in self.ram]
        bricks = read["bricks"]
        second = read["score"] > 432 or (read["score"] == 432 and bricks.any())
        return {
            "x": (ram[99] - 49) * 256 + ram[100], "y": (ram[101] + 9) * 256 + ram[102],
            "vx": -console.signed(ram[105], ram[106]), "vy": console.signed(ram[103], ram[104]), "in_play": int(ram[101] > 0),
            "brick": bricks.ravel(),
            "gone": 108 - bricks.sum() + 108 * second, "hits": ram[107] & 15, "turn": ram[90],
            **{name: read[name] for name in ("paddle", "width", "lives", "score")},
        }
