"""Heads of your own: a torch.nn.Module that turns the memory's output (batch, size) into (batch, outputs).

    insertcoin cartpole --heads examples.training.hooks.heads:Separate

The last output is the value, the others belong to the actions.
"""

import torch
from torch import nn


class Separate(nn.Module):
    """Actor and critic with a hidden layer each."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        logits = nn.Linear(64, outputs - 1)
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), logits)
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))
        nn.init.orthogonal_(logits.weight, 0.01)  # a nearly uniform policy at the start

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.actor(hidden), self.critic(hidden)], -1)
