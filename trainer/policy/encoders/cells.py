"""The encoder for cells that hold one of a few kinds of thing, such as the tiles of 2048.

Kinds with neighbouring numbers are not similar, so each kind has its own input.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer.policy.encoders.encoder import Encoder

MOST_KINDS = 64


class Cells(Encoder):
    """A one-hot input for each cell and kind, then two layers with ReLU: (B, K, *shape) to (B, size).

    scale: factor that maps the observation's bytes to 0 .. 1; its inverse is the highest kind.
    """

    def __init__(self, shape: tuple[int, ...], size: int, scale: float):
        super().__init__()
        self.highest = highest_kind(scale)
        self.register_buffer("kinds", torch.arange(self.highest + 1.0), persistent=False)
        self.first = nn.Linear(math.prod(shape) * (self.highest + 1), size)
        self.second = nn.Linear(size, size)

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        highest = highest_kind(scale)
        if 2 <= highest < MOST_KINDS:
            return ""
        return (f"the encoder 'cells' reads bytes of 3 to {MOST_KINDS} kinds, but these observations have "
                f"{highest + 1 if highest > 1 else 'bits or numbers'}")

    def initialize(self):
        for layer in (self.first, self.second):
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return {"encoder": self.first.weight.t().to(dtype), "encoder_bias": self.first.bias.to(dtype),
                "encoder_second": self.second.weight.t().to(dtype), "encoder_second_bias": self.second.bias.to(dtype)}

    def one_hot(self, x):
        """(B, cells * kinds) in x's dtype, 1 if the cell holds the kind, else 0."""
        kinds = (x.flatten(1).float() * self.highest).round_()
        return (kinds[..., None] == self.kinds).to(x.dtype).flatten(1)

    def forward(self, x):
        inner = functional.linear(self.one_hot(x), self.first.weight.to(x.dtype), self.first.bias.to(x.dtype)).relu()
        return functional.linear(inner, self.second.weight.to(x.dtype), self.second.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        inner = torch.addmm(weights["encoder_bias"], self.one_hot(x), weights["encoder"]).relu_()
        return torch.addmm(weights["encoder_second_bias"], inner, weights["encoder_second"], out=out).relu_()


def highest_kind(scale: float) -> int:
    """The highest byte of an observation: `scale` maps it to 1."""
    return round(1 / scale)
