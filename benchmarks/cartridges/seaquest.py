"""Seaquest's cartridge under ale-py, its RAM read by the names of our state."""

import numpy as np

from benchmarks.cartridges import console

DIVERS = {0: 0, 1: 1, 255: 2}  # a lane's diver: the cartridge's value, ours
FILLS, PLAYS, DIES = range(3)  # phases
TANK, DYING, WIDTH, SEA = 64, 92, 160, (-88, 215)  # units of oxygen, frames, pixels


class Cartridge(console.Cartridge):
    MAKER = 188

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

    def state(self) -> dict:
        """Fields of our struct. Not known: a death by a hit, filling at the surface, and the counting of a rescue."""
        read = self.read()
        phase = FILLS if self.ram[104] else DIES if not read["oxygen"] else PLAYS
        waits = {FILLS: max(2 * (TANK - int(read["oxygen"])), 1), DIES: DYING, PLAYS: 0}
        read |= {"phase": phase, "wait": waits[phase], "x": np.clip(read["x"], *SEA)}
        read |= {name: np.where(read[name] < WIDTH, read[name], 0) for name in ("guest", "torpedo")}
        if phase == FILLS:
            read["alive"] = np.zeros(4, int)
        return read if phase == PLAYS else {**read, "torpedo": 0}
