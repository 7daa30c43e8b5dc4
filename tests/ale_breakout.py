"""The cartridge of Breakout under ale-py, read frame by frame: what tests/test_breakout.py compares our game with."""

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms

# A row's bricks, from the left: which byte of RAM (for the top row; one less a row further down) and which two bits.
BYTES = np.array([35, *[29] * 4, *[23] * 4, *[17] * 2, *[11] * 4, *[5] * 3])
BITS = np.array([192, 192, 48, 12, 3, 3, 12, 48, 192, 48, 192, 192, 48, 12, 3, 3, 12, 48])


class Cartridge:
    """Breakout in ale-py, without frame skip and sticky actions; actions are numbers of ALE's minimal set."""

    def __init__(self):
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self.ale = ALEInterface()
        self.ale.setInt("random_seed", 0)
        self.ale.setInt("frame_skip", 1)
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.loadROM(roms.get_rom_path("breakout"))
        self.actions = self.ale.getMinimalActionSet()
        self.ale.reset_game()

    def step(self, action: int):
        """One frame; returns its reward and whether the game is over."""
        reward = self.ale.act(self.actions[action])
        return reward, self.ale.game_over()

    def read(self) -> dict:
        """Paddle's x and width, lives, ball's (x, y) in whole pixels or None, score, bricks (6, 18) of 0 and 1."""
        ram = self.ale.getRAM().astype(int)
        in_play = ram[101] != 0
        rows = np.arange(6)[:, None]
        return {
            "paddle": ram[72] - 47, "width": 2 * ram[108], "lives": ram[57],
            "ball": (ram[99] - 49, ram[101] + 9) if in_play else None,
            "score": int(f"{ram[76]:x}") * 100 + int(f"{ram[77]:x}"),
            "bricks": (ram[BYTES - rows] & BITS != 0).astype(int),
        }

    def poke(self, values: dict):
        """Write bytes of RAM by their index."""
        for index, value in values.items():
            self.ale.setRAM(index, value)

    def screen(self) -> np.ndarray:
        """(210, 160, 3) uint8."""
        return self.ale.getScreenRGB()
