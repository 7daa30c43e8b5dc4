"""The base of all encoders: the part of a policy that turns an observation into a vector of `size` numbers."""

from abc import ABC, abstractmethod

import torch
from torch import nn


class Encoder(nn.Module, ABC):
    """An encoder, made by Encoder(shape, size, scale).

    shape: (K, *shape of an observation); K frames are read at once.
    size: width of the output.
    scale: factor by which observations are multiplied before the encoder reads them.

    `forward` and `step` do the same arithmetic in the same order.
    """

    reads_rows = False  # True if `step` and `forward` only need the numbers of one observation to be contiguous
    precision = torch.float32  # of the products of `forward` on bytes; make_encoder sets it

    @staticmethod
    def why_unfit(shape: tuple[int, ...], scale: float) -> str:
        """Why it cannot read observations of `shape` (without K), "" if it can."""
        return ""

    @abstractmethod
    def initialize(self) -> None:
        """Set the parameters: orthogonal weights, as usual for PPO."""

    def input_weights(self) -> list[nn.Parameter]:
        """The weights that read observations: by default the first one of two or more dimensions."""
        return [parameter for parameter in self.parameters() if parameter.ndim > 1][:1]

    def reads_bytes(self, precision: torch.dtype) -> bool:
        """True if `forward` and `step` read observations in uint8 too, which are not scaled, for products in `precision`."""
        return False

    @abstractmethod
    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """The weights for `step` by name, in the dtype of the matrix products."""

    @abstractmethod
    def forward(self, x):
        """(B, K, *shape) to (B, size), differentiable, for learning."""

    @abstractmethod
    def step(self, weights: dict[str, torch.Tensor], x, out):
        """The same without gradients, for the rollout. weights: those of `cast`. Writes and returns `out` (B, size)."""
