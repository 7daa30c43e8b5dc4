"""Encoders: what turns an observation into the row of numbers that the policy's core reads.

Each has `cast`, the matrices in the products' dtype; `forward`, differentiable, for learning; and `step`, without gradients,
for the rollout, with the matrices that `cast` gave. Both do the same arithmetic in the same order.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer.policy.encoders.cells import Cells
from trainer.policy.encoders.convolution import convolve
from trainer.policy.encoders.custom import Custom

CHANNELS = (16, 32, 32)          # of the convolutions over pictures
IMAGE = 36                       # pixels a side from which they fit
PLANES, LAYERS = 32, 3           # channels of the convolutions over boards, and how many there are
SMALL, LARGE = 4, 32             # sides of what "auto" takes for a board, and the largest that is one


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


class Convolutional(nn.Module):
    """Convolutions and a layer: (B, *shape) to (B, size). `_pictures`, what the convolutions make of (B, *shape), a row each,
    is the subclass's."""

    def __init__(self, convolutions: list[nn.Conv2d], shape: tuple[int, ...], size: int):
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
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

    def forward(self, x):
        x = self._pictures(x, self._own(x.dtype))
        return functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        """Writes `out` (B, size); the convolutions' own results are new memory."""
        own = {name.removeprefix("encoder_"): tensor for name, tensor in weights.items()}
        torch.addmm(weights["encoder_bias"], self._pictures(x, own), weights["encoder"], out=out).relu_()
        return out


class Conv(Convolutional):
    """Three convolutions and a layer, after Mnih et al., 2015 ("Human-level control through deep reinforcement learning"),
    with fewer channels: pictures (B, K, height, width) of K frames to (B, size)."""

    def __init__(self, shape: tuple[int, ...], size: int):
        channels = (shape[0], *CHANNELS)
        super().__init__([nn.Conv2d(channels[k], channels[k + 1], kernel, stride)
                          for k, (kernel, stride) in enumerate(((8, 4), (4, 2), (3, 1)))], shape, size)

    def _pictures(self, x, weights):
        for k, layer in enumerate(self.convolutions):
            x = convolve(x, weights[f"weight{k}"], weights[f"bias{k}"], layer.stride[0]).relu()
        return x.flatten(1)


class Board(Convolutional):
    """3 x 3 convolutions that keep a board's size, each but the first added to what it reads (He et al., 2015, "Deep Residual
    Learning for Image Recognition", arXiv:1512.03385), and a layer: (B, K, planes, height, width) or (B, K, height, width) to
    (B, size). A point's channels lie together, which the CPU's convolutions are fastest with."""

    def __init__(self, shape: tuple[int, ...], size: int):
        channels = (math.prod(shape[:-2]), *(PLANES for _ in range(LAYERS)))
        super().__init__([nn.Conv2d(channels[k], channels[k + 1], 3, padding=1) for k in range(LAYERS)], shape, size)

    def _pictures(self, x, weights):
        x = x.flatten(1, -3).contiguous(memory_format=torch.channels_last)
        for k in range(LAYERS):
            y = convolve(x, weights[f"weight{k}"], weights[f"bias{k}"], padding=1)
            x = (y.add_(x) if k else y).relu_()
        return x.permute(0, 2, 3, 1).flatten(1)


def choose_encoder(shape: tuple[int, ...]) -> str:
    """What "auto" is for observations of `shape`: "conv" for grey pictures, "board" for planes of small boards, else "mlp"."""
    if _is_picture(shape):
        return "conv"
    return "board" if len(shape) == 3 and _is_board(shape) and min(shape[1:]) >= SMALL else "mlp"


def _is_picture(shape):
    return len(shape) == 2 and min(shape) >= IMAGE


def _is_board(shape):
    return len(shape) in (2, 3) and max(shape[-2:]) <= LARGE


def make_encoder(kind: str, shape: tuple[int, ...], frames: int, size: int,
                 precision: torch.dtype = torch.float32, scale: float = 1.0) -> nn.Module:
    """The encoder for observations of `shape`, `frames` of them at once: "mlp", "conv", "board", "cells" (which reads bytes
    that were multiplied by `scale`), "auto" (`choose_encoder`), or the import path of a module, "package.module:Name"
    (`custom_encoder.Custom`), which is tried in `precision`.

    Raises ValueError where the encoder cannot read such observations, or there is none of that name.
    """
    if ":" in kind:
        return Custom(kind, (frames, *shape), size, precision)
    if kind == "auto":
        kind = choose_encoder(shape)
    if kind == "conv" and not _is_picture(shape):
        raise ValueError(f"the encoder 'conv' reads grey pictures of {IMAGE} x {IMAGE} or more, but observations have the "
                         f"shape {shape}; use --encoder mlp, or --view pixels")
    if kind == "board" and not _is_board(shape):
        raise ValueError(f"the encoder 'board' reads boards of (planes, height, width) or (height, width) up to {LARGE} x "
                         f"{LARGE}, but observations have the shape {shape}; use --encoder {choose_encoder(shape)}")
    if kind == "cells":
        return Cells((frames, *shape), size, scale)
    encoders = {"mlp": Mlp, "conv": Conv, "board": Board}
    if kind not in encoders:
        raise ValueError(f"encoder is {kind!r}; it may be auto, {', '.join(encoders)}, cells, or the import path of a "
                         "torch.nn.Module, such as my_encoders:Small")
    return encoders[kind]((frames, *shape), size)
