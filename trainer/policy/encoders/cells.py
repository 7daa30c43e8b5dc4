"""An encoder for cells that hold one of a few kinds of thing, such as the tiles of 2048: what lies between two kinds in number
lies nowhere near in meaning, so each kind is an input of its own."""

import math

import torch
from torch import nn
from torch.nn import functional

MOST = 64  # kinds


class Cells(nn.Module):
    """One input for each cell and kind, 1 where the cell holds it, then two layers: (B, K, *shape) bytes, brought to 0 .. 1 by
    `scale`, to (B, size)."""

    def __init__(self, shape: tuple[int, ...], size: int, scale: float):
        super().__init__()
        highest = round(1 / scale)
        if not 2 <= highest < MOST:
            raise ValueError(f"the encoder 'cells' reads bytes of 3 to {MOST} kinds, but these observations have "
                             f"{highest + 1 if highest > 1 else 'bits or numbers'}; use --encoder mlp")
        self.highest = highest
        self.register_buffer("kinds", torch.arange(highest + 1.0), persistent=False)
        self.first = nn.Linear(math.prod(shape) * (highest + 1), size)
        self.second = nn.Linear(size, size)

    def initialize(self):
        """Orthogonal weights, as PPO's usual."""
        for layer in (self.first, self.second):
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return {"encoder": self.first.weight.t().to(dtype), "encoder_bias": self.first.bias.to(dtype),
                "encoder_second": self.second.weight.t().to(dtype), "encoder_second_bias": self.second.bias.to(dtype)}

    def _inputs(self, x):
        kinds = (x.flatten(1).float() * self.highest).round_()
        return (kinds[..., None] == self.kinds).to(x.dtype).flatten(1)

    def forward(self, x):
        inner = functional.linear(self._inputs(x), self.first.weight.to(x.dtype), self.first.bias.to(x.dtype)).relu()
        return functional.linear(inner, self.second.weight.to(x.dtype), self.second.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        """Writes `out` (B, size); what lies between is new memory."""
        inner = torch.addmm(weights["encoder_bias"], self._inputs(x), weights["encoder"]).relu_()
        return torch.addmm(weights["encoder_second_bias"], inner, weights["encoder_second"], out=out).relu_()
