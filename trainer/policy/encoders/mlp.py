"""The encoder for feature vectors: one layer."""

import math

import torch
from torch import nn

from trainer import kernels
from trainer.policy.encoders.encoder import Encoder


class Mlp(Encoder, nn.Linear):
    """One layer with ReLU: (B, K, *shape) to (B, size)."""

    reads_rows = True

    def __init__(self, shape: tuple[int, ...], size: int, scale: float = 1.0):
        super().__init__(math.prod(shape), size)

    def initialize(self):
        nn.init.orthogonal_(self.weight, math.sqrt(2))
        nn.init.zeros_(self.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        packed, bias = kernels.pack_dense(self.weight, self.bias, dtype)
        return {"encoder": packed, "encoder_bias": bias}

    def inputs(self, x):
        """The layer's inputs, (B, inputs) in x's dtype."""
        return x.flatten(1)

    def forward(self, x):
        return kernels.dense(self.inputs(x), self.weight, self.bias)

    def step(self, weights, x, out):
        return kernels.dense_step(self.inputs(x), weights["encoder"], weights["encoder_bias"], out)
