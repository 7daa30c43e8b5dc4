"""The cartridge of Asterix, with its RAM in our game's terms."""

import cartridge
import numpy as np

NOTHING, LYRE, TREASURE, POINTS = range(4)


class Cartridge(cartridge.Cartridge):
    """The cartridge after its first frame, in which it places the things."""

    def __init__(self):
        super().__init__("asterix")
        super().step(0)

    def read(self) -> dict:
        """x and lane of the hero, stun, stage, lives, score, and x and kind of the things by lane."""
        ram = self.ram
        return {
            "hero": ram[41], "lane": ram[39], "stun": ram[71], "stage": ram[54], "lives": ram[83],
            "score": self.bcd(94, 95, 96), "x": ram[42:50], "kind": np.array([self.kind(byte) for byte in ram[18:10:-1]]),
        }

    @staticmethod
    def kind(byte: int) -> int:
        if byte == 11:
            return NOTHING
        if byte in (204, 216):
            return LYRE
        return TREASURE if byte >= 108 else POINTS

    def put(self, lane: int, x: int):
        """Move the hero."""
        self.poke({39: lane, 40: 125 - 16 * lane, 41: x})

    def start_stage(self, stage: int, taken: int = 0):
        """Begin a stage. `taken` treasures of it are taken; Obelix was met if stage >= 4."""
        self.poke({54: stage, 66: taken, 52: int(stage < 4)})
