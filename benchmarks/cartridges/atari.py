"""Cartridges of the console (`atari:NAME`) under ale-py: the observations of our console, read from ale-py's."""

import math

import numpy as np

from benchmarks.cartridges.console import Cartridge
from envs_c.console.cartridges import PREFIX

SMALL = 84


class AtariCartridge(Cartridge):
    """A cartridge that keeps the grey screens of its last two frames. game: such as atari:pong."""

    def __init__(self, game: str):
        super().__init__(game.removeprefix(PREFIX))
        self.greys: list[np.ndarray] = []

    def restart(self):
        self.greys = []
        return super().restart()

    def step(self, action: int):
        outcome = super().step(action)
        self.greys = [*self.greys[-1:], self.ale.getScreenGrayscale()]
        return outcome


class Ram:
    """Reads the features. `read` returns the RAM, (128,) uint8."""

    def __init__(self, cartridge: AtariCartridge):
        self.cartridge = cartridge

    def read(self) -> np.ndarray:
        return self.cartridge.ale.getRAM()


class Brighter:
    """Reads the grey pictures. `read` returns the brighter pixels of a step's last two frames, (84, 84) uint8.

    The first picture, and one after a step of a single frame, shows the last frame alone.
    """

    def __init__(self, cartridge: AtariCartridge):
        self.cartridge, self.frames = cartridge, None
        self.rows, self.columns = (weights(length) for length in cartridge.ale.getScreenGrayscale().shape[:2])

    def read(self) -> np.ndarray:
        alone = self.frames is None or self.cartridge.frames == self.frames + 1
        self.frames = self.cartridge.frames
        if alone:
            return shrink(self.cartridge.ale.getScreenGrayscale(), self.rows, self.columns)
        return shrink(np.maximum(*self.cartridge.greys), self.rows, self.columns)


def weights(length: int) -> list[list[tuple[int, np.float32]]]:
    """For each small pixel the screen pixels below it, in their order, with their weights: the plain form of grey.pxd."""
    scale, rows = length / SMALL, []
    for k in range(SMALL):
        low, high = k * scale, k * scale + scale
        cell, last = min(scale, length - low), min(math.floor(high), length - 1)
        first = min(math.ceil(low), last)
        row = [(first - 1, np.float32((first - low) / cell))] if first - low > 1e-3 else []
        row += [(pixel, np.float32(1.0 / cell)) for pixel in range(first, last)]
        row += [(last, np.float32(min(high - last, 1.0, cell) / cell))] if high - last > 1e-3 else []
        rows.append(row)
    return rows


def shrink(grey: np.ndarray, rows: list, columns: list) -> np.ndarray:
    """The small picture of a screen, (height, width) uint8: (84, 84) uint8. rows, columns: from `weights`."""
    screen = grey.astype(np.float32)
    narrow, small = np.zeros((len(screen), SMALL), np.float32), np.zeros((SMALL, SMALL), np.float32)
    for k, row in enumerate(columns):
        for pixel, weight in row:
            narrow[:, k] += screen[:, pixel] * weight
    for k, row in enumerate(rows):
        for pixel, weight in row:
            small[k] += narrow[pixel] * weight
    return np.rint(small).astype(np.uint8)
