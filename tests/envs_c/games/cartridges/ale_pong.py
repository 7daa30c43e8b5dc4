"""Pong's cartridge, its RAM read: what tests/envs_c/games/test_pong.py compares our game with."""

import cartridge


def signed(byte: int) -> int:
    return (byte + 128) % 256 - 128


class Cartridge(cartridge.Cartridge):
    def __init__(self):
        super().__init__("pong")

    def read(self) -> dict:
        """The player's y, scores (the player's first), and while there is a ball: the enemy's y, ball x y, velocity x y."""
        ram = self.ram
        seen = {"paddle": ram[60], "scores": (ram[14], ram[13])}
        if ram[54]:
            seen |= {"enemy": ram[50], "x": ram[49], "y": ram[54], "vx": -signed(ram[58]), "vy": signed(ram[56])}
        return {name: tuple(map(int, value)) if name == "scores" else int(value) for name, value in seen.items()}
