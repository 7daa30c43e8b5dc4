"""The cartridge of Asteroids, with its RAM in our game's terms.

x is one byte: the low half chooses a base, and the high half, -8 to 7, is the distance to the left of it. Rocks are in two
lists, one for climbing and one for sinking rocks; the byte 224 in place of a line ends a list. A rock that crosses the lower
edge has a second entry, 89 lines off. Bit 7 of a rock's kind has no effect in the default game.
"""

from benchmarks.cartridges import console
from benchmarks.cartridges.console import signed
from benchmarks.cartridges.twins import Asteroids

FROM = {2: 97, 3: 12, 4: 112, 5: 25, 6: 127, 7: 40, 8: 142, 9: 55, 10: -3, 11: 70, 13: 85}
BYTE = {(base - left) % 160: (left & 15) << 4 | low for low, base in FROM.items() for left in range(-8, 7)}
LISTS = (3, 21, 39), (12, 30, 48)   # RAM of lines, x, kinds; climbing, sinking
END, LONG = 224, 9                  # end of a list, and its length
FIELD = -5 * 256, 84 * 256 - 1      # y of the ship, 1/256 line
ORDER = [128, 64, 1, 66, 192, 0, 65, 2]   # values of RAM 97 by our `watch`


def across(byte: int) -> int:
    left = byte >> 4
    return (FROM.get(byte & 15, 0) - left + 16 * (left > 7)) % 160


class Cartridge(console.Cartridge):
    def __init__(self, difficulty: int = 0):
        super().__init__("asteroids", difficulty=difficulty)

    def rocks_now(self) -> list:
        """The rocks, sorted: (x, line, kind, whether it sinks)."""
        rocks = set()
        for sinks, (lines, places, kinds) in enumerate(LISTS):
            for k in range(LONG):
                if self.ram[lines + k] == END:
                    break
                line = (signed(self.ram[lines + k], 0) >> 8) % 89
                rocks.add((across(self.ram[places + k]), line, self.ram[kinds + k] & 127, bool(sinks)))
        return sorted((int(x), int(y), int(kind), sinks) for x, y, kind, sinks in rocks)

    def put_rocks(self, *rocks):
        """Replace all rocks; each is as in `rocks_now`."""
        bytes_ = {92: -1, 93: LONG - 1}
        for x, y, kind, sinks in rocks:
            bytes_[92 + sinks] += 1
            k = bytes_[92 + sinks] - LONG * sinks
            bytes_ |= dict(zip((first + k for first in LISTS[sinks]), (y, BYTE[x % 160], kind), strict=True))
        bytes_[3 + bytes_[92] + 1] = bytes_[3 + bytes_[93] + 1] = END
        self.poke({index: value & 255 for index, value in bytes_.items()})

    def ship(self) -> dict:
        ram = [int(value) for value in self.ram]
        rest = ram[94]
        return {
            "x": (across(ram[73]) * 256 - ram[75]) % 40960, "y": signed(ram[74], ram[76]),
            "vx": signed(ram[77], ram[79]), "vy": signed(ram[78], ram[80]), "way": ram[60] & 15, "lives": ram[60] >> 4,
            "score": 10 * self.bcd(61, 62), "blast": 134 - rest if rest > 127 else 0, "hidden": rest if rest < 128 else 0,
        }

    def shots(self) -> list:
        """The two shots in the order of our slots: (x, line, way, life), or None if the shot does not fly."""
        ram = [int(value) for value in self.ram]
        return [None if ram[life] < 16 else (across(ram[x]), ram[y] % 89, ram[life] & 15, ram[life] >> 4)
                for x, y, life in ((84, 87, 90), (83, 86, 89))]

    def state(self) -> dict:
        """Fields of our struct. In hyperspace the cartridge has the ship above the field; ours stays at its edge."""
        ship = self.ship()
        ship["y"] = min(max(ship["y"], FIELD[0]), FIELD[1])
        shots = [shot or (0, 0, 0, 0) for shot in self.shots()]
        return {**Asteroids.rocks_as_fields(*self.rocks_now()), **ship, "frame": self.ram[57] & 3,
                "drift": self.ram[59] >> 4, "watch": ORDER.index(self.ram[97]), **dict(zip(
            ("shot_x", "shot_y", "shot_way", "shot_life"), zip(*shots, strict=True), strict=True))}

    def inject_into(self, machine):
        """Set the state of our game to the cartridge's."""
        machine.change(**self.state())
