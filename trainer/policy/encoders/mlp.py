"""The encoder for feature vectors: one layer."""

import math

import torch
from torch import nn
from torch.nn import functional


class Mlp(nn.Linear):
    """One layer with ReLU: (B, K, *shape) to (B, size)."""

    def __init__(self, shape: tuple[int, ...], size: int, scale: float = 1.0):
        super().__init__(math.prod(shape), size)

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        return ""

    def initialize(self):
        nn.init.orthogonal_(self.weight, math.sqrt(2))
        nn.init.zeros_(self.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return {"encoder": self.weight.t().to(dtype), "encoder_bias": self.bias.to(dtype)}

    def forward(self, x):
        return functional.linear(x.flatten(1), self.weight.to(x.dtype), self.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        if x.is_cuda:  # one kernel
            return torch._addmm_activation(weights["encoder_bias"], x.flatten(1), weights["encoder"], out=out)
        torch.addmm(weights["encoder_bias"], x.flatten(1), weights["encoder"], out=out).relu_()
        return out
