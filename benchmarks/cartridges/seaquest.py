"""Seaquest's cartridge under ale-py, its RAM read by the names of our state."""

import numpy as np

from benchmarks.cartridges import console

DIVERS = {0: 0, 1: 1, 255: 2}  # a lane's diver: the cartridge's value, ours
FILLS, PLAYS, DIES, COUNTS = range(4)  # phases
EMPTY, SURFACE = 208, 13  # x of all waves in an empty sea; y of the submarine at the surface
SCREW = (1, 0, 2)  # the byte for the submarine's pose, by frame / 4 % 3


class Cartridge(console.Cartridge):
    MAKER = 188

    def __init__(self):
        super().__init__("seaquest")

    def play(self, action: int, frames: int):
        """Hold an action for some frames; returns the points."""
        return sum(self.step(action)[0] for _ in range(frames))

    def state(self) -> dict:
        """All fields of our struct that matter, lanes from the lowest."""
        ram, kind = self.ram, self.ram[89:93]
        right = kind & 8 == 0
        phase = {1: FILLS, 6: COUNTS}.get(int(ram[104]), DIES if ram[105] else PLAYS)
        frame = next(frame for frame in range(ram[1], 768, 256) if SCREW[frame // 4 % 3] == ram[96])
        empty = (ram[30:34] == EMPTY).all() and ram[97] == SURFACE
        filled = phase != FILLS and not (phase == DIES and empty)  # else the bytes of the waves are old
        return {
            "score": self.bcd(56, 57, 58), "x": np.where(ram[30:34] >= np.where(right, 160, 216), ram[30:34] - 256, ram[30:34]),
            "guest": ram[71:75], "x_ship": ram[70], "y": ram[97], "torpedo": ram[103], "patrol": ram[118],
            "frame": frame, "pace": ram[61], "rescues": ram[60], "alive": ram[36:40] * filled, "right": right,
            "sub": (kind >> 2 & 1) * filled, "diver": [DIVERS[value] for value in ram[113:117].tolist()], "pose": kind & 3,
            "chased": kind >> 4 & 1, "phase": phase, "facing": ram[86] == 0, "torpedo_right": ram[87] == 0,
            "lives": ram[59] + 1, "oxygen": ram[102], "crew": ram[62], "sinks": ram[105], "chance": ram[2], "stroke": ram[94],
            "enemy_part": ram[80], "diver_part": ram[79], "shot_part": ram[81],
        }
