"""The cartridge of Asterix, with its RAM in our game's terms."""

import numpy as np

from benchmarks.cartridges import console

NOTHING, LYRE, TREASURE, POINTS = range(4)

BONUS = (10000, 20000, 20000, 30000, 30000, 40000)  # points from one more life to the next
OBELIX = 4  # the stage that shows a title


def lives_won(score: int) -> dict:
    """The lives won by points, and the points of the next one."""
    won, following = 0, BONUS[0]
    while score >= following:
        won = min(won + 1, len(BONUS) - 1)
        following += BONUS[won]
    return {"bonus": won, "next_bonus": following}


class Cartridge(console.Cartridge):
    """The cartridge after its first frame, in which it places the things."""

    def __init__(self):
        super().__init__("asterix")
        self.hero = 76
        self.step(0)
        self.start = self.ale.cloneState(include_rng=True)

    def restart(self):
        super().restart()
        self.hero = self.ram[41]
        return self

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

    def step(self, action: int):
        result = super().step(action)
        if not (self.ram[71] and self.before[71]):
            self.hero = self.ram[41]
        elif self.ram[71] >= self.before[71]:  # the stun begins again
            self.hero -= 4
        return result

    def state(self) -> dict:
        """Fields of our struct. In a stun RAM has the column of the wide hero, so the hero is where it was before."""
        read = self.read()
        return {**{name: read[name] for name in ("lane", "stun", "stage", "lives", "score", "x", "kind")}, "hero": self.hero,
                "wait": read["kind"] == POINTS, "right": self.ram[120], "clock": self.ram[7], "taken": self.ram[66],
                "held": self.ram[28], "met_obelix": read["stage"] >= OBELIX, **lives_won(read["score"])}
