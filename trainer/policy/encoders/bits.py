"""The encoder for bytes whose bits matter, such as the RAM of a console.

A byte of a machine's memory is a place, a counter or eight flags; as one number between 0 and 1, a step of a place by one is
hardly seen, and flags not at all.
"""

import math

import torch

from trainer.policy.encoders.cells import highest_kind
from trainer.policy.encoders.mlp import Mlp


class Bits(Mlp):
    """The bits of each byte, -1 or 1, and the byte from -1 to 1, then one layer with ReLU: (B, K, *shape) to (B, size).

    scale: factor that maps the observation's bytes to 0 .. 1; its inverse is the highest byte.
    """

    def __init__(self, shape: tuple[int, ...], size: int, scale: float):
        highest = highest_kind(scale)
        super().__init__((math.prod(shape), highest.bit_length() + 1), size)
        self.highest = highest
        self.register_buffer("powers", 2.0 ** torch.arange(highest.bit_length()), persistent=False)

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        return "" if highest_kind(scale) > 1 else "the encoder 'bits' reads bytes, but these observations have bits or numbers"

    def inputs(self, x):
        """(B, numbers * (bits + 1)) in x's dtype: of each number its bits, the lowest first, and itself."""
        numbers = (x.flatten(1).float() * self.highest).round_()[..., None]
        bits = (numbers / self.powers).floor_().remainder_(2)
        return (torch.cat([bits, numbers / self.highest], -1) * 2 - 1).to(x.dtype).flatten(1)
