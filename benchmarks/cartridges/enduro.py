"""The cartridge of Enduro, with its RAM in our game's terms."""

from benchmarks.cartridges import console


def traffic(day: int) -> int:
    """Byte 56 of RAM on a day, the speed of the other cars: it tells how often RAM's day has gone round."""
    return (58 * (day // 100) + (17, 24, 31, 38, 41, 44)[min(day % 100, 5)] + max(min(day % 100, 29) - 5, 0)) % 256


class Cartridge(console.Cartridge):
    MAKER = 191

    def __init__(self):
        super().__init__("enduro")

    def read(self) -> dict:
        """Speed, x of the road, phase of the traffic, cars to pass, day, byte of the car in each slot, distance, crash."""
        ram = self.ram
        return {
            "speed": ram[22], "x": (ram[46] + 128) % 256 - 128, "phase": ram[25], "left": self.bcd(44, 43), "day": ram[45],
            "slots": ram[27:34], "way": self.bcd(42, 41, 40), "crash": ram[35],
        }

    def clear(self):
        """Take all cars off the road."""
        self.poke({27 + slot: 0 for slot in range(7)})

    def keep_middle(self) -> int:
        """The action that keeps the car in the middle of an empty road."""
        x = self.read()["x"]
        return 7 if x > 3 else 8 if x < -3 else 1

    def state(self) -> dict:
        """The fields of our struct."""
        ram, read = self.ram, self.read()
        day = self.bcd(45)
        day += next(days for days in range(0, 12_800, 100) if traffic(day + days) == ram[56])
        frame = (63 - ram[49] % 64 - 12 * (ram[49] % 64 < 36)) * 256 + 255 - ram[48]
        return {
            "odometer": 256 * read["way"] + ram[39], "day": day, "frame": frame, "left": read["left"],
            "speed": max(read["speed"], 6), "x": read["x"], "travelled": ram[24], "phase": ram[25], "rolls": ram[36],
            "marks": ram[37], "bend": ram[38], "hills": ram[54], "crash": ram[35], "serial": ram[71], "rest": ram[21],
            "random": ram[[0, 1]], "slot": ram[27:34],
        }
