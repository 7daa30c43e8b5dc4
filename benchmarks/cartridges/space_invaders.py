"""Space Invaders' cartridge under ale-py, its RAM read by the names of our state."""

import numpy as np

from benchmarks.cartridges import console

NONE = 246                                          # the place of a shot or bomb that is not there
NO_SAUCER, SAUCER_BLAST = 180, 57                   # the saucer's place if there is none; the blast of the saucer
PHASES = {0: 0, 1: 1, 4: 2, 8: 3, 12: 2}            # our numbers of play, lives shown, cannon burning, wave cleared; 12: both
POSE = 255                                          # the byte of our pose 1


class Cartridge(console.Cartridge):
    """first, wave, emptied: empty columns at the left, which RAM leaves out, the wave's number, and our field.

    They are counted from frame to frame.
    """

    def __init__(self):
        self.first = self.wave = self.emptied = 0
        super().__init__("space_invaders")
        while self.ram[74] != 1:  # the last frame of the rest
            self.step(0)
        self.start = self.ale.cloneState(include_rng=True)

    def read(self) -> dict:
        """Values by the names of our state; x is that of the first column that is not empty."""
        ram = self.ram
        return {"x": ram[26] - 1, "y": 31 + 2 * ram[16], "count": ram[17], "cannon": ram[28] - 1, "lives": ram[73],
                "score": self.bcd(102, 104), "saucer": ram[30]}

    def restart(self):
        self.first = self.wave = self.emptied = 0
        return super().restart()

    def new_episode(self):
        self.first = self.wave = self.emptied = 0
        super().new_episode()

    def step(self, action: int):
        result = super().step(action)
        before, after = (np.bitwise_or.reduce(ram[18:24]) for ram in (self.before, self.ram))
        self.emptied = 0
        if self.before[17] == 0 < self.ram[17]:
            self.first, self.wave = 0, self.wave + 1
        elif self.ram[26] - self.before[26] > 8:  # more than a march
            self.first += (self.ram[26] - self.before[26] + 8) // 16
        else:
            self.emptied = (before & ~after) << self.first & 63
        return result

    def leave(self, rows):
        """Keep only these invaders. rows: six bytes from the top, a bit an invader."""
        self.poke({**{18 + k: bits for k, bits in enumerate(reversed(rows))}, 17: sum(map(int.bit_count, rows))})

    def missile(self, x: int, y: int) -> tuple[int, int]:
        """Our place of a shot or bomb, from two bytes of RAM."""
        return (self.ram[x] - 2, 2 * self.ram[y] + 4) if self.ram[y] != NONE else (0, 0)

    def state(self) -> dict:
        """All fields of our struct."""
        read, ram = self.read(), [int(value) for value in self.ram]
        bombs, shot = [self.missile(83 + k, 81 + k) for k in (0, 1)], self.missile(87, 85)
        shield = np.array(ram[43:70]).reshape(3, 9)
        bits = np.array([60, 126, 126, 126, 126, 255, 255, 255, 195])[:, None] >> np.arange(7, -1, -1) & 1
        gone = (bits - (shield[..., None] >> np.arange(7, -1, -1) & 1)).sum(1)
        blast, place = 4 - (ram[72] >> 6), ram[72] & 63
        seen = place == SAUCER_BLAST or place < 48
        return {**{name: read[name] for name in ("y", "count", "cannon", "lives", "score")}, "shown": read["cannon"],
                "x": read["x"] - 16 * self.first, "row": [bits << self.first & 63 for bits in ram[23:17:-1]],
                "first": self.first, "wave": self.wave, "shield": shield, "gone": gone.ravel(), "sheltered": ram[24] >> 6 & 1,
                "bomb_x": [x for x, _ in bombs], "bomb_y": [y for _, y in bombs], "shot_x": shot[0], "shot_y": shot[1],
                "saucer_x": ram[30] - 1 if ram[30] != NO_SAUCER else -1, "saucer_way": 1 if ram[24] & 1 else -1,
                "saucer_wait": ram[70], "way": 1 if ram[24] & 2 else -1, "pose": int(ram[11] == POSE),
                "clock": ram[74], "emptied": self.emptied, "seed": ram[106], "phase": PHASES[ram[42]], "blast": blast * seen,
                "blast_row": 6 if place == SAUCER_BLAST else 5 - (place >> 3) if seen else 0,
                "blast_column": min((place & 7) + self.first, 5) if place < 48 else 0}
