"""The encoder for pictures of bytes: `Conv`, with kernels that read the bytes on a CPU."""

import math

import torch
from torch.nn import functional

from trainer import kernels
from trainer.policy.encoders.pictures import Conv
from trainer.tensors import under, with_prefix


class Pixels(Conv):
    """The parameters and the results of `Conv`: (B, K, height, width) or (B, K, channels, height, width) to (B, size).

    On a CPU it reads pictures as uint8, and convolutions and their gradients are one pass over each picture: in float32, and in
    bfloat16 where the CPU multiplies it. Other pictures are stored channels last, the fastest layout for torch's convolutions
    on a CPU.
    """

    def __init__(self, shape: tuple[int, ...], size: int, scale: float = 1.0):
        super().__init__(shape, size)
        self.scale, self.pictures = scale, (math.prod(shape[:-2]), *shape[-2:])

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        return Conv.why_unfit(shape, scale).replace("'conv'", "'pixels'")

    def reads_bytes(self, precision: torch.dtype) -> bool:
        return kernels.reads_pictures(self.layer.weight, self.pictures, precision)

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        weights = super().cast(dtype)
        if not self.reads_bytes(dtype):
            return weights
        packed = kernels.pack_pictures(*self._weights, self._biases, self.scale, dtype)
        return weights | with_prefix("encoder_bytes_", packed) | {"encoder_last": self._layer_channels_last().t().to(dtype)}

    def convolve(self, x, weights):
        return super().convolve(x.flatten(1, -3).contiguous(memory_format=torch.channels_last), weights)

    def forward(self, x):
        if x.dtype != torch.uint8:
            return super().forward(x)
        features = kernels.pictures(x.flatten(1, -3), self._weights, self._biases, self.scale, self.precision).flatten(1)
        return functional.linear(features, self._layer_channels_last().to(features.dtype),
                                 self.layer.bias.to(features.dtype)).relu()

    def step(self, weights, x, out):
        if x.dtype != torch.uint8:
            return super().step(weights, x, out)
        features = kernels.pictures_step(x.flatten(1, -3), under("encoder_bytes_", weights)).flatten(1)
        return torch.addmm(weights["encoder_bias"], features, weights["encoder_last"], out=out).relu_()

    @property
    def _weights(self) -> list[torch.Tensor]:
        return [layer.weight for layer in self.convolutions]

    @property
    def _biases(self) -> list[torch.Tensor]:
        return [layer.bias for layer in self.convolutions]

    def _layer_channels_last(self):
        """The last layer's weight for features (rows, columns, channels); the parameter is for (channels, rows, columns)."""
        rows, columns, channels = kernels.picture_features(self.pictures)
        weight = self.layer.weight.view(-1, channels, rows, columns)
        return weight.permute(0, 2, 3, 1).flatten(1)
