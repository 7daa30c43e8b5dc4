"""Observations of a cartridge as our game gives them: features from RAM, or the grey picture of 84x84 from the screen.

For features the cartridge's RAM is written into the struct of our game, and our game observes it.
"""

import importlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import envs_c
from benchmarks.cartridges import open_state
from benchmarks.cartridges.twins import TWINS
from envs_c.console.cartridges import PREFIX
from trainer.results.published import more_features


def open_cartridge(game: str, opened=None):
    """The cartridge of one of our games, or of the console's (atari:NAME), at its start. Raises ImportError without ale-py.

    opened: what plays the cartridge of one of our games, in place of ale-py: as `opened` of benchmarks/cartridges/console.py.
    """
    if game.startswith(PREFIX):
        return importlib.import_module("benchmarks.cartridges.atari").AtariCartridge(game)
    cartridge = importlib.import_module(f"benchmarks.cartridges.{game}").Cartridge
    return cartridge() if opened is None else type("Cartridge", (cartridge,), {"opened": staticmethod(opened)})()


class Observer:
    """Reads a cartridge's features. `read` returns them, (F,) float32, those of `envs_c.make(game, **options)`.

    options: only those that `more_features` leaves.
    """

    def __init__(self, cartridge, game: str, options: Mapping[str, float] | None = None):
        if game not in TWINS:
            raise ValueError(f"features are read from RAM for {', '.join(TWINS)} only, not for {game}")
        self.cartridge, self.layout = cartridge, TWINS[game].STATE
        self.core = envs_c.VecEnv(envs_c.game(game), 1, num_threads=1, options=options)
        self.features = np.zeros((1, *self.core.observation_shape), np.float32)
        outputs = np.zeros((3, 1), np.float32)
        self.batch = self.core.bind(0, 1, actions=np.zeros(1, np.int32), observation=self.features, reward=outputs[0],
                                    terminated=outputs[1], truncated=outputs[2])
        self.batch.reset()
        self.blank = open_state.read(self.core, self.layout)

    def read(self) -> np.ndarray:
        structs = self.blank.copy()
        for name, value in self.cartridge.state().items():
            structs[name][0] = value
        open_state.write(self.core, structs)
        self.batch.observe()
        return self.features[0].copy()


def reader_of(cartridge, game: str, view: str, options: Mapping[str, Any]):
    """The reader of a cartridge's features, with `more_features` of these options, or of its pictures if `view` is "pixels"."""
    if game.startswith(PREFIX):
        atari = importlib.import_module("benchmarks.cartridges.atari")
        return atari.Brighter(cartridge) if view == "pixels" else atari.Ram(cartridge)
    return Camera(cartridge) if view == "pixels" else Observer(cartridge, game, more_features(options))


GREY = np.array([299.0, 587.0, 114.0])  # thousandths of red, green and blue


class Camera:
    """Reads a cartridge's grey pictures. `read` returns them, (84, 84) uint8, without the maker's name."""

    def __init__(self, cartridge):
        self.cartridge = cartridge
        self.rows, self.columns = (units(length) for length in cartridge.screen().shape[:2])
        self.area = self.rows[0].sum() * self.columns[0].sum()

    def read(self) -> np.ndarray:
        picture = self.cartridge.masked()
        grey = np.floor((picture.reshape(-1, 3) @ GREY + 500) / 1000)  # float64: exact for integers, and products are fast
        sums = self.rows @ grey.reshape(picture.shape[:2]) @ self.columns.T
        return ((2 * sums + self.area) // (2 * self.area)).astype(np.uint8)  # halves up


def units(length: int, small: int = 84) -> np.ndarray:
    """(small, length) float64: how much of each pixel is in the area below each small one, in units of their common part.

    The numbers are integers, so that products of them are exact.
    """
    part = math.gcd(length, small)
    pixel, place = np.arange(length) * (small // part), np.arange(small)[:, None] * (length // part)
    ends = np.minimum(pixel + small // part, place + length // part)
    return np.clip(ends - np.maximum(pixel, place), 0, None).astype(float)
