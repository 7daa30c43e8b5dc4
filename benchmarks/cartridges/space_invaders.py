"""Space Invaders' cartridge under ale-py, its RAM read by the names of our state."""

from benchmarks.cartridges import console

BOMBS_END = 97  # a larger byte in the place of a bomb's y is no bomb


class Cartridge(console.Cartridge):
    def __init__(self):
        super().__init__("space_invaders")
        while self.ram[74] != 1:  # the last frame of the rest
            self.step(0)
        self.start = self.ale.cloneState(include_rng=True)

    def read(self) -> dict:
        """Values by the names of our state; x is that of the first column that is not empty."""
        ram = self.ram
        return {"x": ram[26] - 1, "y": 31 + 2 * ram[16], "count": ram[17], "cannon": ram[28] - 1, "lives": ram[73],
                "score": self.bcd(102, 104), "saucer": ram[30]}

    def leave(self, rows):
        """Keep only these invaders. rows: six bytes from the top, a bit an invader."""
        self.poke({**{18 + k: bits for k, bits in enumerate(reversed(rows))}, 17: sum(map(int.bit_count, rows))})

    def state(self) -> dict:
        """Fields of our struct, as far as RAM is understood: not the shot, the shields and the times."""
        read, ram = self.read(), [int(value) for value in self.ram]
        rows = ram[23:17:-1]
        every = rows[0] | rows[1] | rows[2] | rows[3] | rows[4] | rows[5]
        first = (every & -every).bit_length() - 1 if every else 0
        bombs = [2 * ram[k] + 2 if ram[k] < BOMBS_END else 0 for k in (81, 82)]
        return {**{name: read[name] for name in ("y", "count", "cannon", "lives", "score")}, "x": read["x"] - 16 * first,
                "row": rows, "bomb_x": ram[83:85], "bomb_y": bombs}
