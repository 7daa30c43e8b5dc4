"""A policy without memory: a second layer instead of a recurrent core."""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer.policy.policy import Policy, StepSpace


class FeedForwardPolicy(Policy):
    """A layer of n units between encoder and heads. The state (h, c) is (B, 1) zeros each and not used."""

    def make_core(self):
        self.layer = nn.Linear(self.encoder_size, self.core_size)

    def initialize_core(self):
        nn.init.orthogonal_(self.layer.weight, math.sqrt(2))
        nn.init.zeros_(self.layer.bias)

    def cast_core(self):
        return {"layer": self.layer.weight.t().to(self.precision), "layer_bias": self.layer.bias.to(self.precision)}

    def initial_state(self, batch: int, device="cpu"):
        return torch.zeros(batch, 1, dtype=self.precision, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        encoded = self.encoder.step(weights, x, space.encoded)
        hidden = torch.addmm(weights["layer_bias"], encoded, weights["layer"], out=space.hidden).relu_()
        return self.apply_heads_step(weights, hidden, space)

    def unroll(self, x, start, state):
        x = self.encoder(x.flatten(0, 1))
        hidden = functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()
        return self.apply_heads(hidden.view(*start.shape, -1))

    @property
    def state_shapes(self):
        return {}

    def export_step(self, x, state):
        return self.layer(x).relu(), {}
