"""Encoders with convolutions: for pictures, and for small boards of several planes."""

import math
from abc import abstractmethod

import torch
from torch import nn
from torch.nn import functional

from trainer import kernels
from trainer.policy.encoders.encoder import Encoder
from trainer.tensors import under, with_prefix

CHANNELS = (16, 32, 32)   # of the convolutions over pictures
SMALLEST_PICTURE = 36     # pixels a side: smaller pictures do not fit the convolutions
PLANES, LAYERS = 32, 3    # channels and number of the convolutions over boards
LARGEST_BOARD = SMALLEST_PICTURE - 1  # points a side
SMALLEST_BOARD = 4        # points a side; "auto" takes smaller observations for vectors


class Convolutional(Encoder):
    """Convolutions, then one layer: (B, K, *shape) to (B, size).

    The subclass has `convolve(x, weights)`, which applies the convolutions and returns one row for each observation.
    """

    def __init__(self, convolutions: list[nn.Conv2d], shape: tuple[int, ...], size: int):
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
        with torch.no_grad():
            width = self.convolve(torch.zeros(1, *shape), self.convolution_weights(torch.float32)).shape[1]
            self.layer = nn.Linear(width, size)

    @abstractmethod
    def convolve(self, x, weights: dict[str, torch.Tensor]):
        """The features (B, width) of x (B, K, *shape); weights: those of `convolution_weights`."""

    def convolution_weights(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Weights and biases of the convolutions in `dtype`, such as "weight0"."""
        return {f"{kind}{k}": getattr(layer, kind).to(dtype) for k, layer in enumerate(self.convolutions)
                for kind in ("weight", "bias")}

    def initialize(self):
        for layer in (*self.convolutions, self.layer):
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        weights = with_prefix("encoder_", self.convolution_weights(dtype))
        return {**weights, "encoder": self.layer.weight.t().to(dtype), "encoder_bias": self.layer.bias.to(dtype)}

    def forward(self, x):
        x = self.convolve(x, self.convolution_weights(x.dtype))
        return functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        features = self.convolve(x, under("encoder_", weights))  # allocates the convolutions' results
        return torch.addmm(weights["encoder_bias"], features, weights["encoder"], out=out).relu_()


class Conv(Convolutional):
    """Three convolutions and a layer for pictures: (B, K, height, width) or (B, K, channels, height, width) to (B, size).

    After Mnih et al., 2015 ("Human-level control through deep reinforcement learning"), with fewer channels.
    """

    def __init__(self, shape: tuple[int, ...], size: int, scale: float = 1.0):
        channels = (math.prod(shape[:-2]), *CHANNELS)
        super().__init__([nn.Conv2d(channels[k], channels[k + 1], kernel, stride)
                          for k, (kernel, stride) in enumerate(((8, 4), (4, 2), (3, 1)))], shape, size)

    def initialize(self):
        """As for the other convolutions, but the weights of each first filter sum to 0: a flat background gives 0.

        Otherwise a bright background decides the features, and what moves on it hardly changes them.
        """
        super().initialize()
        with torch.no_grad():
            weight = self.convolutions[0].weight
            weight -= weight.mean((2, 3), keepdim=True)

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        if is_picture(shape):
            return ""
        return (f"the encoder 'conv' reads pictures of at least {SMALLEST_PICTURE} x {SMALLEST_PICTURE} (--view pixels), "
                f"but observations have the shape {shape}")

    def convolve(self, x, weights):
        x = x.flatten(1, -3)
        for k, layer in enumerate(self.convolutions):
            x = kernels.convolve(x, weights[f"weight{k}"], weights[f"bias{k}"], layer.stride[0]).relu()
        return x.flatten(1)


class Board(Convolutional):
    """3 x 3 convolutions that keep the board's size, then a layer: (B, K, planes, height, width) or (B, K, height, width) to
    (B, size).

    Each convolution but the first has a residual connection (He et al., 2015, "Deep Residual Learning for Image Recognition",
    arXiv:1512.03385). Tensors are stored channels last, the fastest layout for convolutions on a CPU.
    """

    def __init__(self, shape: tuple[int, ...], size: int, scale: float = 1.0):
        channels = (math.prod(shape[:-2]), *(PLANES for _ in range(LAYERS)))
        super().__init__([nn.Conv2d(channels[k], channels[k + 1], 3, padding=1) for k in range(LAYERS)], shape, size)

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        if is_board(shape):
            return ""
        return (f"the encoder 'board' reads boards of (planes, height, width) or (height, width) up to {LARGEST_BOARD} x "
                f"{LARGEST_BOARD}, but observations have the shape {shape}")

    def convolve(self, x, weights):
        x = x.flatten(1, -3).contiguous(memory_format=torch.channels_last)
        for k in range(LAYERS):
            y = kernels.convolve(x, weights[f"weight{k}"], weights[f"bias{k}"], padding=1)
            x = (y.add_(x) if k else y).relu_()
        return x.permute(0, 2, 3, 1).flatten(1)


def is_picture(shape: tuple[int, ...]) -> bool:
    """True if observations of `shape`, with their channels first, are pictures for `Conv`. A stack of pictures has one more
    axis."""
    return len(shape) in (2, 3, 4) and min(shape[-2:]) >= SMALLEST_PICTURE


def is_board(shape: tuple[int, ...]) -> bool:
    """True if observations of `shape` are boards for `Board`."""
    return len(shape) in (2, 3) and max(shape[-2:]) <= LARGEST_BOARD


def choose_convolutions(shape: tuple[int, ...]) -> str | None:
    """The encoder for observations of `shape`: "conv" for pictures, "board" for planes of small boards, None for others."""
    if is_picture(shape):
        return "conv"
    return "board" if len(shape) == 3 and is_board(shape) and min(shape[1:]) >= SMALLEST_BOARD else None
