"""The cartridge of Freeway, with its RAM in our game's terms."""

import numpy as np

from benchmarks.cartridges import console


class Cartridge(console.Cartridge):
    MAKER = 196

    def __init__(self, game: int = 1, difficulty: int = 0):
        super().__init__("freeway", game - 1, difficulty)
        self.first = 0  # the counter of frames at the start; after some episodes it begins at 1

    def restart(self):
        self.first = 0
        return super().restart()

    def new_episode(self):
        super().new_episode()
        self.first = int(self.ram[1])

    def read(self) -> dict:
        """Height of the chicken, counter, score, and x and paces of the lanes, lane 0 first, (10,) each.

        For lanes that drive to the left, RAM is one frame ahead of the picture. So they are read from the frame before.
        """
        ram = self.ram
        return {
            "y": ram[14], "counter": ram[106] & 63, "score": self.bcd(103),
            "x": np.append(ram[108:113], self.before[113:118]), "pace": ram[23:33] >> 4 & 7,
        }

    def state(self) -> dict:
        """Fields of our struct."""
        read = self.read()
        return {"x": np.append(read["x"], np.zeros(6, int)), "pace": read["pace"], "y": read["y"], "score": read["score"],
                "timer": self.ram[106], "frame": self.frames + self.first}
