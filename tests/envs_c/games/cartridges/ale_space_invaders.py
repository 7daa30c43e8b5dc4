"""Space Invaders' cartridge under ale-py, its RAM read by the names of our state."""

import cartridge


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("space_invaders")
        while self.ram[74] != 1:  # the last frame of the rest
            self.step(0)

    def read(self) -> dict:
        """Values by the names of our state; x is that of the first column that is not empty."""
        ram = self.ram
        return {"x": ram[26] - 1, "y": 31 + 2 * ram[16], "count": ram[17], "cannon": ram[28] - 1, "lives": ram[73],
                "score": self.bcd(102, 104), "saucer": ram[30]}

    def leave(self, rows):
        """Keep only these invaders. rows: six bytes from the top, a bit an invader."""
        self.poke({**{18 + k: bits for k, bits in enumerate(reversed(rows))}, 17: sum(map(int.bit_count, rows))})
