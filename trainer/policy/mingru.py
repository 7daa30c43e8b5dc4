"""The policy with minimal gated recurrent units (Feng et al., 2024, "Were RNNs All We Needed?", arXiv:2410.01201).

With g(u) = u + 0.5 if u >= 0, else sigmoid(u) (appendix B.2.1, so that a state is never negative):

    z_t = sigmoid(W_z x_t + b_z)
    h_t = (1 - z_t) * keep_t * h_{t-1} + z_t * g(W_h x_t + b_h)

No matrix product depends on h. The caller computes the products of all steps as one; the rest is one kernel
(trainer/kernels/mingru). A layer's output is x_t + h_t, a residual connection; with the setting `highway` it is that of
PufferLib 4's MinGRU, a highway (Srivastava et al., 2015, arXiv:1505.00387) with a third gate:

    p_t = sigmoid(W_p x_t + b_p)
    y_t = p_t * h_t + (1 - p_t) * x_t
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer import kernels
from trainer.errors import SettingError
from trainer.policy.policy import Policy, StepSpace

LONGEST = 100.0  # steps: at initialization the units' time scales range from 1 to this


class MinGruPolicy(Policy):
    """`layers` minimal gated recurrent units of n units each between encoder and heads.

    Each layer has a residual connection (the first only if encoder_size equals n), so that the heads see the present beside
    the past; or, with `highway`, a highway, for which encoder_size must equal n. The state is h (B, layers * n) float32, all
    layers side by side, and c (B, 1) zeros, which is not used.
    """

    stacks = True

    def __init__(self, *args, highway: bool = False, **settings):
        self.highway, self.gates = highway, 3 if highway else 2
        super().__init__(*args, **settings)

    def make_core(self):
        n = self.core_size
        self._residual = self.encoder_size == n
        if self.highway and not self._residual:
            raise SettingError("highway", f"must be false if encoder_size, {self.encoder_size}, is not lstm_size, {n}")
        self.core = nn.ModuleList(nn.Linear(n if k else self.encoder_size, self.gates * n) for k in range(self.layers))

    def initialize_core(self):
        for layer in self.core:
            for weight in layer.weight.data.chunk(self.gates):
                nn.init.orthogonal_(weight)
            initialize_bias(layer.bias.data[:2 * self.core_size])
            layer.bias.data[2 * self.core_size:] = 0.0

    def stacked(self, name):
        return self.gates if name.startswith("core.") else 1

    def cast_core(self):
        weights = {f"core{k}": layer.weight.t().to(self.precision) for k, layer in enumerate(self.core)}
        return weights | {f"core{k}_bias": layer.bias for k, layer in enumerate(self.core)}

    def core_space(self):
        return {"product": (self.gates * self.core_size, self.precision)}

    def initial_state(self, batch: int, device="cpu"):
        return torch.zeros(batch, self.layers * self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        x, product, hidden = self.encoder.step(weights, x, space.encoded), space.core["product"], space.hidden32
        if self._residual:
            hidden.copy_(x)
        else:
            hidden.zero_()
        for k, state in enumerate(h.split(self.core_size, 1)):
            torch.mm(x, weights[f"core{k}"], out=product)
            through = hidden[None] if self.highway else None
            kernels.mingru_forward(product[None], weights[f"core{k}_bias"], keep[None], state, through, state[None], through)
            x = space.hidden.copy_(hidden if self.highway else hidden.add_(state))
        return self.apply_heads_step(weights, hidden, space)

    def unroll(self, x, start, state):
        x, keep = self.encoder(x.flatten(0, 1)), 1 - start
        hidden = x.float().view(*start.shape, -1) if self._residual else torch.zeros((), device=x.device)
        for layer, before in zip(self.core, state[0].split(self.core_size, 1), strict=True):
            product = functional.linear(x, layer.weight.to(x.dtype)).view(*start.shape, -1)
            if self.highway:
                hidden = kernels.mingru(product, layer.bias, keep, before, hidden)
            else:
                hidden = hidden + kernels.mingru(product, layer.bias, keep, before)
            x = hidden.to(x.dtype).flatten(0, 1)
        return self.apply_heads(hidden)

    @property
    def state_shapes(self):
        return {"h": (self.layers * self.core_size,)}

    def export_step(self, x, state):
        n, states = self.core_size, []
        hidden = x if self._residual else torch.zeros_like(state["h"][:, :n])
        for layer, before in zip(self.core, state["h"].split(n, 1), strict=True):
            u_z, u, *p = layer(x).chunk(self.gates, 1)
            z, candidate = u_z.sigmoid(), torch.maximum(u + 0.5, u.sigmoid())
            states.append((1 - z) * before + z * candidate)
            x = hidden = self._around(hidden, states[-1], *p)
        return hidden, {"h": torch.cat(states, 1)}

    def _around(self, x, state, p=None):
        """The output of a layer with input x and this state; p: pre-activation of a highway."""
        return x + state if p is None else p.sigmoid() * state + (1 - p.sigmoid()) * x


def initialize_bias(bias: torch.Tensor):
    """Set b_z and b_h, (2n,): time scales of 1 to LONGEST steps, evenly spaced on a logarithmic scale, and b_h = 0.

    A unit with time scale s has z = 1 / (1 + s) (Tallec and Ollivier, 2018, "Can recurrent neural networks warp time?",
    arXiv:1804.11188).
    """
    gate, candidate = bias.chunk(2)
    torch.neg(torch.linspace(0.0, math.log(LONGEST), len(gate)), out=gate)
    candidate.zero_()
