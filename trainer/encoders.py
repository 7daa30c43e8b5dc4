"""Encoders: what turns an observation into the row of numbers that the policy's core reads.

Each has `cast`, the matrices in the products' dtype; `forward`, differentiable, for learning; and `step`, without gradients,
for the rollout, with the matrices that `cast` gave. Both do the same arithmetic in the same order.
"""

import math

import torch
from torch import nn
from torch.nn import functional

CHANNELS = (16, 32, 32)  # of the convolutions
IMAGE = 36               # pixels a side from which the convolutions fit


class Mlp(nn.Linear):
    """One layer: (B, *shape) to (B, size)."""

    def __init__(self, shape: tuple[int, ...], size: int):
        super().__init__(math.prod(shape), size)

    def initialize(self):
        """Orthogonal weights, as PPO's usual."""
        nn.init.orthogonal_(self.weight, math.sqrt(2))
        nn.init.zeros_(self.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return {"encoder": self.weight.t().to(dtype), "encoder_bias": self.bias.to(dtype)}

    def forward(self, x):
        return functional.linear(x.flatten(1), self.weight.to(x.dtype), self.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        """Writes `out` (B, size)."""
        torch.addmm(weights["encoder_bias"], x.flatten(1), weights["encoder"], out=out).relu_()
        return out


class Conv(nn.Module):
    """Three convolutions and a layer, after Mnih et al., 2015 ("Human-level control through deep reinforcement learning"),
    with fewer channels: pictures (B, K, height, width) of K frames to (B, size)."""

    def __init__(self, shape: tuple[int, ...], size: int):
        super().__init__()
        channels = (shape[0], *CHANNELS)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels[k], channels[k + 1], kernel, stride)
            for k, (kernel, stride) in enumerate(((8, 4), (4, 2), (3, 1))))
        with torch.no_grad():
            self.layer = nn.Linear(self._pictures(torch.zeros(1, *shape), self._own(torch.float32)).shape[1], size)

    def initialize(self):
        """Orthogonal weights, as PPO's usual."""
        for layer in (*self.convolutions, self.layer):
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        weights = {f"encoder_{name}": tensor for name, tensor in self._own(dtype).items()}
        return {**weights, "encoder": self.layer.weight.t().to(dtype), "encoder_bias": self.layer.bias.to(dtype)}

    def _own(self, dtype):
        return {f"{kind}{k}": getattr(layer, kind).to(dtype) for k, layer in enumerate(self.convolutions)
                for kind in ("weight", "bias")}

    def _pictures(self, x, weights):
        for k, layer in enumerate(self.convolutions):
            x = functional.conv2d(x, weights[f"weight{k}"], weights[f"bias{k}"], layer.stride).relu()
        return x.flatten(1)

    def forward(self, x):
        x = self._pictures(x, self._own(x.dtype))
        return functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        """Writes `out` (B, size)."""
        own = {name.removeprefix("encoder_"): tensor for name, tensor in weights.items()}
        torch.addmm(weights["encoder_bias"], self._pictures(x, own), weights["encoder"], out=out).relu_()
        return out


def make_encoder(kind: str, shape: tuple[int, ...], frames: int, size: int) -> nn.Module:
    """The encoder for observations of `shape`, `frames` of them at once: "mlp", "conv", or "auto", which is "conv" for
    pictures. Raises ValueError where pictures are asked for and there are none."""
    picture = len(shape) == 2 and min(shape) >= IMAGE
    if kind == "auto":
        kind = "conv" if picture else "mlp"
    if kind == "conv" and not picture:
        raise ValueError(f"the encoder 'conv' reads grey pictures of {IMAGE} x {IMAGE} or more, but observations have the "
                         f"shape {shape}; use --encoder mlp, or --view pixels")
    return {"mlp": Mlp, "conv": Conv}[kind]((frames, *shape), size)
