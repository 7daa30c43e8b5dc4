"""The cartridge of Freeway under ale-py, read frame by frame: what tests/test_freeway.py compares our game with."""

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms


class Cartridge:
    """Freeway in ale-py, without frame skip and sticky actions; actions are numbers of ALE's minimal set."""

    def __init__(self, game: int = 1, difficulty: int = 0):
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self.ale = ALEInterface()
        self.ale.setInt("random_seed", 0)
        self.ale.setInt("frame_skip", 1)
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.loadROM(roms.get_rom_path("freeway"))
        self.ale.setMode(game - 1)
        self.ale.setDifficulty(difficulty)
        self.actions = self.ale.getMinimalActionSet()
        self.ale.reset_game()
        self.before = self.ale.getRAM()

    def step(self, action: int):
        """One frame; returns its reward and whether the game is over."""
        self.before = self.ale.getRAM()
        reward = self.ale.act(self.actions[action])
        return reward, self.ale.game_over()

    def read(self) -> dict:
        """Chicken's height, timer's counter, score, and the lanes' x and paces, lane 0 first, (10,) each.

        Lanes that drive to the left are read from the frame before: RAM is a frame ahead of the picture there.
        """
        ram, before = self.ale.getRAM().astype(int), self.before.astype(int)
        return {
            "y": ram[14], "counter": ram[106] & 63, "score": int(f"{ram[103]:x}"),
            "x": np.append(ram[108:113], before[113:118]), "pace": ram[23:33] >> 4 & 7,
        }

    def poke(self, values: dict):
        """Write bytes of RAM by their index."""
        for index, value in values.items():
            self.ale.setRAM(index, value)

    def screen(self) -> np.ndarray:
        """(210, 160, 3) uint8."""
        return self.ale.getScreenRGB()
