"""Seaquest's cartridge under ale-py, its RAM read by the names of our state."""

import cartridge
import numpy as np

DIVERS = {0: 0, 1: 1, 255: 2}  # a lane's diver: the cartridge's value, ours


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("seaquest")
        self.right = np.zeros(4, bool)

    def step(self, action: int):
        result = super().step(action)
        moved = (self.ram[30:34] - self.before[30:34] + 128) % 256 - 128
        self.right = np.where((moved != 0) & (np.abs(moved) < 20), moved > 0, self.right)
        return result

    def play(self, action: int, frames: int):
        """Hold an action for some frames; returns the points."""
        return sum(self.step(action)[0] for _ in range(frames))

    def read(self) -> dict:
        """Values by the names of our state, lanes from the lowest. A wave's direction is known only after it has moved."""
        ram, right = self.ram, self.right
        x = np.where(right, np.where(ram[30:34] > 160, ram[30:34] - 256, ram[30:34]),
                     np.where(ram[30:34] > 215, ram[30:34] - 256, ram[30:34]))
        return {
            "score": self.bcd(56, 57, 58), "x": x, "guest": ram[71:75], "x_ship": ram[70], "y": ram[97], "torpedo": ram[103],
            "patrol": ram[118], "frame": ram[1], "pace": ram[61], "rescues": ram[60], "alive": ram[36:40], "right": right,
            "sub": ram[44:48] == 8, "diver": [DIVERS[value] for value in ram[113:117].tolist()], "facing": ram[86] == 0,
            "torpedo_right": ram[87] == 0, "lives": ram[59] + 1, "oxygen": ram[102], "crew": ram[62],
            "enemy_part": ram[80], "diver_part": ram[79],
        }
