"""Pong's cartridge under ale-py, its RAM read by the names of `Table.state` in test_pong.py."""

from benchmarks.cartridges import console

PLAY, GONE = 0, 2  # phases


def signed(byte: int) -> int:
    """The value of a byte in two's complement."""
    return (byte + 128) % 256 - 128


class Cartridge(console.Cartridge):
    def __init__(self):
        super().__init__("pong")

    def read(self) -> dict:
        """The player's y and the scores (the player's first); with a ball also enemy, ball and velocity."""
        ram = self.ram
        seen = {"paddle": ram[60], "scores": (ram[14], ram[13])}
        if ram[54]:
            seen |= {"enemy": ram[50], "x": ram[49], "y": ram[54], "vx": -signed(ram[58]), "vy": signed(ram[56])}
        return {name: tuple(map(int, value)) if name == "scores" else int(value) for name, value in seen.items()}

    def state(self) -> dict:
        """Fields of our struct; none before the first frame, when RAM is empty."""
        ram = [int(value) for value in self.ram]
        if not self.frames:
            return {}
        ball = ram[54] > 0
        return {"x": ram[49], "free": 0, "y": ram[54], "vx": -signed(ram[58]) if ball else 1, "vy": signed(ram[56]) * ball,
                "phase": PLAY if ball else GONE, "enemy": ram[50], "paddle": ram[60], "score": [ram[13], ram[14]]}
