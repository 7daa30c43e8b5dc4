"""The cartridge of Asteroids at difficulty 3: with UFOs."""

from benchmarks.cartridges import asteroids


class Cartridge(asteroids.Cartridge):
    def __init__(self):
        super().__init__(difficulty=3)
