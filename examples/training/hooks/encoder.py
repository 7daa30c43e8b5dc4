"""An encoder of your own: any torch.nn.Module that turns (batch, frames, *shape) into (batch, size).

    insertcoin cartpole --encoder examples.training.hooks.encoder:TwoBranches
"""

import torch
from torch import nn


class TwoBranches(nn.Module):
    """A linear and a nonlinear branch, added."""

    def __init__(self, shape: tuple[int, ...], size: int) -> None:
        super().__init__()
        inputs = int(torch.Size(shape).numel())
        self.linear = nn.Linear(inputs, size)
        self.deep = nn.Sequential(nn.Linear(inputs, size), nn.Tanh(), nn.Linear(size, size))

    def input_weights(self) -> list[nn.Parameter]:
        """The weights that read observations, which `--optimizer muon` leaves to Adam."""
        return [self.get_parameter("linear.weight"), self.get_parameter("deep.0.weight")]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.flatten(1)
        return torch.relu(self.linear(x) + self.deep(x))
