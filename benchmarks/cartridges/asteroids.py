"""The cartridge of Asteroids, with its RAM in our game's terms.

x is one byte: the low half chooses a base, and the high half, -8 to 6, is the distance to the left of it. Rocks are in two
lists, one for climbing and one for sinking rocks; the byte 224 in place of a line ends a list. A rock that crosses the lower
edge has a second entry, 89 lines off. Bit 7 of a rock's kind has no effect in the default game. The cartridge shows rocks in
odd frames and all else in even ones, so a picture is the brighter one of the last two frames. UFOs come in difficulty 3.
"""

import numpy as np

from benchmarks.cartridges import console
from benchmarks.cartridges.console import signed
from benchmarks.cartridges.twins import Asteroids

BASES = {10: 157, 3: 10, 5: 25, 7: 40, 9: 55, 11: 70, 13: 85, 2: 97, 4: 112, 6: 127, 8: 142}  # from left to right
PLACES = {(left & 15) << 4 | low: 4 + (base - left - 4) % (162 if low == 10 else 160)
          for low, base in BASES.items() for left in range(-8, 7)}
BYTE = {place: byte for byte, place in PLACES.items() if byte not in (0x42, 0x52, 0x62)}  # those are not used
LISTS = (3, 21, 39), (12, 30, 48)   # RAM of lines, x, kinds; climbing, sinking
END, LONG = 224, 9                  # end of a list, and its length
AWAY = 224                          # line of a ship or a UFO that is not on the field
ORDER = [128, 64, 193, 1, 130, 66, 192, 0, 129, 65, 194, 2]     # values of RAM 97 by our `watch`


def place(byte: int) -> int:
    """Our x, 4 to 165; 4 for bytes that are no place."""
    return PLACES.get(byte, 4)


class Cartridge(console.Cartridge):
    def __init__(self, difficulty: int = 0):
        super().__init__("asteroids", difficulty=difficulty)
        self.ufos = difficulty > 0
        self.last = self.ale.getScreenRGB()

    def step(self, action: int):
        self.last = self.ale.getScreenRGB()
        return super().step(action)

    def screen(self) -> np.ndarray:
        """The picture of the last two frames, (210, 160, 3) uint8."""
        return np.maximum(self.last, self.ale.getScreenRGB())

    def rocks_now(self) -> list:
        """The rocks, sorted: (x, line, kind, whether it sinks)."""
        rocks = set()
        for sinks, (lines, places, kinds) in enumerate(LISTS):
            for k in range(LONG):
                if self.ram[lines + k] == END:
                    break
                line = (signed(self.ram[lines + k], 0) >> 8) % 89
                rocks.add((place(self.ram[places + k]), line, self.ram[kinds + k] & 127, bool(sinks)))
        return sorted((int(x), int(y), int(kind), sinks) for x, y, kind, sinks in rocks)

    def put_rocks(self, *rocks):
        """Replace all rocks; each is as in `rocks_now`."""
        lists = [], []
        for x, y, kind, sinks in rocks:
            edge = {48: 86, 32: 83}.get(kind & 48, 75)
            lists[sinks].extend((line, BYTE[x], kind) for line in ((y, y - 89) if y >= edge else (y,)))
        bytes_ = {92: len(lists[0]) - 1, 93: len(lists[1]) + LONG - 1}
        for first, entries in zip(LISTS, lists, strict=True):
            for k, entry in enumerate(sorted(entries)):
                bytes_ |= {at + k: value for at, value in zip(first, entry, strict=True)}
            bytes_[first[0] + len(entries)] = END
        self.poke({index: value & 255 for index, value in bytes_.items()})

    def ship(self) -> dict:
        ram = [int(value) for value in self.ram]
        rest, away = ram[94], ram[74] == AWAY
        return {
            "x": place(ram[73]) * 256 - (0 if away else ram[75]), "y": ram[95] * 256 if away else signed(ram[74], ram[76]),
            "vx": signed(ram[77], ram[79]), "vy": signed(ram[78], ram[80]), "way": ram[60] & 15, "lives": ram[60] >> 4,
            "score": 10 * self.bcd(61, 62), "blast": 134 - rest if rest > 127 else 0, "hidden": rest + 1 if away else 0,
            "fired": ram[71] >> 4 & 1, "dived": ram[72] >> 2 & 1,
        }

    def shots(self) -> list:
        """The shots in the order of our slots: (x, line, way, life), or None if the shot does not fly."""
        ram = [int(value) for value in self.ram]
        return [None if ram[life] < 16 else (place(ram[x]), ram[y], ram[life] & 15, ram[life] >> 4)
                for x, y, life in ((84, 87, 90), (83, 86, 89), (85, 88, 91))]

    def ufo(self) -> dict:
        """The fields of our struct that are about the UFO."""
        ram, bits = [int(value) for value in self.ram], int(self.ram[71])
        if not self.ufos:
            return {"ufo_x": 162, "ufo_y": AWAY, "ufo_course": 0, "ufo_small": 0, "ufo_timer": 0, "ufo_burst": 0}
        return {"ufo_x": place(ram[81]), "ufo_y": ram[82], "ufo_course": bits & 7, "ufo_small": bits >> 5 & 1,
                "ufo_timer": ram[70], "ufo_burst": bits >> 3 & 1}

    def state(self) -> dict:
        """All fields of our struct."""
        shots = [shot or (4, 0, 0, 0) for shot in self.shots()]
        return {**Asteroids.rocks_as_fields(*self.rocks_now()), **self.ship(), **self.ufo(),
                "frame": self.ram[58] << 8 | self.ram[57], "numbers": self.ram[1] << 8 | self.ram[2],
                "drift": self.ram[59] >> 4, "watch": ORDER.index(self.ram[97]),
                **dict(zip(("shot_x", "shot_y", "shot_way", "shot_life"), zip(*shots, strict=True), strict=True))}

    def inject_into(self, machine):
        """Set the state of our game to the cartridge's."""
        machine.change(**self.state())
