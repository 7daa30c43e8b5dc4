"""The encoder for feature vectors: one layer."""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer import kernels


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
        if self.weight.is_cpu and kernels.takes_dense(self.weight[:1].to(dtype), self.out_features):
            return {"encoder_packed": kernels.pack_dense(self.weight), "encoder_bias": self.bias}
        return {"encoder": self.weight.t().to(dtype), "encoder_bias": self.bias.to(dtype)}

    def forward(self, x):
        if kernels.takes_dense(x.flatten(1), self.out_features):
            return kernels.dense(x.flatten(1), self.weight, self.bias)
        return functional.linear(x.flatten(1), self.weight.to(x.dtype), self.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        if "encoder_packed" in weights:
            return kernels.dense_step(x.flatten(1), weights["encoder_packed"], weights["encoder_bias"], out)
        if x.is_cuda:  # one kernel
            return torch._addmm_activation(weights["encoder_bias"], x.flatten(1), weights["encoder"], out=out)
        torch.addmm(weights["encoder_bias"], x.flatten(1), weights["encoder"], out=out).relu_()
        return out
