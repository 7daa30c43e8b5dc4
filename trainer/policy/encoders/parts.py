"""The encoder for observations of several parts, such as a Dict of a picture and numbers: see bridge/layout.py."""

import math

import torch
from torch import nn
from torch.nn import functional

from bridge.layout import Layout
from trainer.policy.encoders.encoder import Encoder
from trainer.policy.encoders.pictures import Board, Conv, choose_convolutions
from trainer.tensors import under, with_prefix


class Parts(Encoder):
    """Joins all parts, then one layer with ReLU: rows (B, K, n) to (B, size).

    Numbers enter scaled. A number that names one of several kinds has an input for each kind (one-hot). A picture or a board
    enters as the result of convolutions of its own.

    layout: of a row.
    flat: take pictures and boards as numbers too.
    """

    def __init__(self, shape: tuple[int, int], size: int, layout: Layout, flat: bool = False):
        super().__init__()
        numbers, scales, cells, kinds, self.pictures, self.places = [], [], [], [], nn.ModuleList(), []
        for part, columns in zip(layout.parts, layout.columns(), strict=True):
            encoder = None if flat or part.kinds else choose_convolutions(part.shape)
            if encoder is not None:
                self.pictures.append({"conv": Conv, "board": Board}[encoder]((shape[0], *part.shape), size))
                self.places.append((columns, part.shape, part.scale))
            elif part.kinds:
                cells += [columns.start + cell for cell, count in enumerate(part.kinds) for _ in range(count)]
                kinds += [kind for count in part.kinds for kind in range(count)]
            else:
                numbers += range(columns.start, columns.stop)
                scales += [part.scale] * part.size
        # Of each input: its column in a row, with the number's scale or the kind.
        for name, values in (("numbers", torch.tensor(numbers, dtype=torch.int64)), ("scales", torch.tensor(scales)),
                             ("cells", torch.tensor(cells, dtype=torch.int64)), ("kinds", torch.tensor(kinds).float())):
            self.register_buffer(name, values, persistent=False)
        self.layer = nn.Linear(shape[0] * (len(numbers) + len(cells)) + size * len(self.pictures), size)

    def initialize(self):
        for picture in self.pictures:
            picture.initialize()
        nn.init.orthogonal_(self.layer.weight, math.sqrt(2))
        nn.init.zeros_(self.layer.bias)

    def input_weights(self):
        return [self.layer.weight] if len(self.numbers) or len(self.cells) else []

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        weights = {"encoder": self.layer.weight.t().to(dtype), "encoder_bias": self.layer.bias.to(dtype)}
        for index, picture in enumerate(self.pictures):
            weights |= with_prefix(f"picture{index}.", picture.cast(dtype))
        return weights

    def vectors(self, x) -> list[torch.Tensor]:
        """The numbers and the kinds of rows as inputs (B, ...), in x's dtype."""
        vectors = []
        if len(self.numbers):
            vectors.append((x[..., self.numbers] * self.scales.to(x.dtype)).flatten(1))
        if len(self.cells):
            vectors.append((x[..., self.cells] == self.kinds.to(x.dtype)).to(x.dtype).flatten(1))
        return vectors

    def inputs(self, x) -> list[torch.Tensor]:
        """The inputs (B, K, *shape) of the convolutions."""
        return [x[..., columns].unflatten(-1, shape) * scale for columns, shape, scale in self.places]

    def forward(self, x):
        pictures = [picture(one) for picture, one in zip(self.pictures, self.inputs(x), strict=True)]
        joined = torch.cat([*self.vectors(x), *pictures], 1)
        return functional.linear(joined, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()

    def step(self, weights, x, out):
        pictures = [picture.step(under(f"picture{index}.", weights), one, None)
                    for index, (picture, one) in enumerate(zip(self.pictures, self.inputs(x), strict=True))]
        joined = torch.cat([*self.vectors(x), *pictures], 1)
        return torch.addmm(weights["encoder_bias"], joined, weights["encoder"], out=out).relu_()
