"""A cartridge under ale-py, frame by frame. Each game has a subclass that reads the cartridge's RAM.

`state` of a subclass gives the fields of our game's struct (twins.py) that the RAM tells, in our units.
"""

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms


def signed(high: int, low: int) -> int:
    """The number of two bytes in two's complement."""
    return (high - 256 * (high > 127)) * 256 + low


class Cartridge:
    """A game in ale-py without frame skip and without sticky actions.

    name: of the game in ale-py.
    mode, difficulty: ALE's numbers of them.
    Actions are indices of ALE's minimal action set.
    """

    MAKER = 210  # first row of the strip with the maker's name, which goes to the screen's end

    def __init__(self, name: str, mode: int = 0, difficulty: int = 0):
        self.ale = self.opened(name, mode, difficulty)
        self.actions = self.ale.getMinimalActionSet()
        self.start = self.ale.cloneState(include_rng=True)
        self.before = self.ram = self.look()
        self.frames = 0

    @staticmethod
    def opened(name: str, mode: int, difficulty: int):
        """What plays the cartridge, after its reset: the interface of ale-py, or another one with these methods."""
        ALEInterface.setLoggerMode(LoggerMode.Error)
        ale = ALEInterface()
        ale.setInt("random_seed", 0)
        ale.setInt("frame_skip", 1)
        ale.setFloat("repeat_action_probability", 0.0)
        ale.loadROM(roms.get_rom_path(name))
        ale.setMode(mode)
        ale.setDifficulty(difficulty)
        ale.reset_game()
        return ale

    def restart(self):
        """Go back to the state after the reset, which is faster than a new console; returns the cartridge."""
        self.ale.restoreState(self.start)
        self.before = self.ram = self.look()
        self.frames = 0
        return self

    def look(self) -> np.ndarray:
        """The 128 bytes of the console's RAM, int64."""
        return self.ale.getRAM().astype(int)

    def step(self, action: int):
        """Play one frame; returns its reward and whether the game is over.

        `before` and `ram` are the RAM before and after the frame.
        """
        self.before = self.look()
        reward = self.ale.act(self.actions[action])
        self.ram = self.look()
        self.frames += 1
        return reward, self.ale.game_over()

    def poke(self, values: dict):
        """Write bytes of RAM: a dict of index to value."""
        for index, value in values.items():
            self.ale.setRAM(index, value)
        self.ram = self.look()

    def bcd(self, *indices: int) -> int:
        """The number in these bytes of RAM, two decimal digits a byte, the highest first."""
        return int("".join(f"{self.ram[index]:02x}" for index in indices))

    def screen(self) -> np.ndarray:
        """The picture, (210, 160, 3) uint8."""
        return self.ale.getScreenRGB()

    def masked(self) -> np.ndarray:
        """The picture without the maker's name, whose strip is black."""
        picture = self.screen()
        picture[self.MAKER:] = 0
        return picture

    def new_episode(self):
        """Begin another episode on the same console, as ALE does after a game's end."""
        self.ale.reset_game()
        self.before = self.ram = self.look()
        self.frames = 0
