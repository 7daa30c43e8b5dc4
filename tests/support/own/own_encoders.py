"""Encoders of the user's own, right and wrong, which tests name by import path."""

import math

import torch
from torch import nn


class Small(nn.Module):
    """Two layers with a normalization between them."""

    def __init__(self, shape, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.LazyLinear(20), nn.LayerNorm(20), nn.Tanh(), nn.Linear(20, size))

    def forward(self, x):
        return self.layers(x)


def small(size, shape):
    return Small(shape, size)


class Shorter(Small):
    def forward(self, x):
        return super().forward(x)[:, 1:]


class Scalar(Small):
    def forward(self, x):
        return 1.5


class Batch(Small):
    def __init__(self, shape, size):
        super().__init__(shape, size)
        self.layers[2] = nn.BatchNorm1d(20)


class Dropout(Small):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x))


class Decides(Small):
    """A valid encoder whose control flow depends on its input, which ONNX's graphs do not support."""

    def forward(self, x):
        return super().forward(x if x.max() < 1e6 else x / x.max())


class Divides(Small):
    def forward(self, x):
        return super().forward(x) / 0


class Masked(Small):
    """A valid encoder with a buffer of infinite numbers, as masks of attention have them."""

    def __init__(self, shape, size):
        super().__init__(shape, size)
        self.register_buffer("mask", torch.tensor([0.0, -math.inf]))


class Narrow(Small):
    def forward(self, x):
        return super().forward(x[:, :, :1]).view(7, 7)


class Padded(nn.Module):
    """A valid encoder without parameters: the numbers, and zeros."""

    def __init__(self, shape, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return nn.functional.pad(x.flatten(1), (0, self.size - math.prod(x.shape[1:])))


class Branches(Small):
    """A second branch, which reads observations too."""

    def __init__(self, shape, size):
        super().__init__(shape, size)
        self.second = nn.Linear(math.prod(shape), size)

    def forward(self, x):
        return super().forward(x) + self.second(x.flatten(1))

    def input_weights(self):
        return [self.layers[1].weight, self.second.weight]


class Layers(Small):
    """`input_weights` gives layers."""

    def input_weights(self):
        return [self.layers[1]]


class Forgotten(Small):
    """`input_weights` has no `return`."""

    def input_weights(self):
        pass


class Named(Small):
    """A valid encoder with a parameter that has the name of the method."""

    def __init__(self, shape, size):
        super().__init__(shape, size)
        self.input_weights = nn.Parameter(torch.ones(size))


class Other(Small):
    def __init__(self, shape):
        super().__init__(shape, 12)


class Raises(Small):
    def __init__(self, shape, size):
        raise KeyError("no such thing")


def nothing(shape, size):
    pass


NUMBER = 3
