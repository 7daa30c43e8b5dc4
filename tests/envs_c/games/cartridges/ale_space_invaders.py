"""Space Invaders' cartridge, its RAM read: what tests/envs_c/games/test_space_invaders.py compares our game with."""

import cartridge

NO_BOMBS = {81: 246, 82: 246}
START = 128  # frames of rest before the first march, from our reset on


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("space_invaders")
        while self.ram[74] != 1:  # the last frame of the rest
            self.step(0)

    def read(self) -> dict:
        """By the names of our state: the first column that is left, rows from the top, how many, cannon, lives."""
        ram = self.ram
        return {"x": ram[26] - 1, "y": 31 + 2 * ram[16], "count": ram[17], "cannon": ram[28] - 1, "lives": ram[73],
                "score": self.bcd(102, 104), "saucer": ram[30]}

    def leave(self, rows):
        """Only these invaders: six bytes, a bit an invader, from the top."""
        self.poke({**{18 + k: bits for k, bits in enumerate(reversed(rows))}, 17: sum(map(int.bit_count, rows))})
