"""The minimal gated recurrent unit of Feng et al., 2024 ("Were RNNs All We Needed?", arXiv:2410.01201): the policy, and the
unit over whole sequences that reset at the start of episodes, with its gradient.

With g(u) = u + 0.5 if u >= 0, else sigmoid(u) (appendix B.2.1, so that a state is never negative):

    z_t = sigmoid(W_z x_t + b_z)
    h_t = (1 - z_t) * keep_t * h_{t-1} + z_t * g(W_h x_t + b_h)

No matrix product depends on h. The caller computes the products of all steps as one; the rest, in this file, is elementwise.
It runs step by step, because the numbers of one step stay in the cache: on a CPU this is almost twice as fast as elementwise
operations over all steps.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer.policy.policy import Policy, StepSpace

LONGEST = 100.0  # steps: at initialization the units' time scales range from 1 to this


class MinGruPolicy(Policy):
    """`layers` minimal gated recurrent units of n units each between encoder and heads.

    Each layer has a residual connection (the first only if encoder_size equals n), so that the heads see the present beside
    the past. The state is h (B, layers * n) float32, all layers side by side, and c (B, 1) zeros, which is not used.
    """

    stacks = True

    def make_core(self):
        n = self.core_size
        self._residual = self.encoder_size == n
        self.core = nn.ModuleList(nn.Linear(n if k else self.encoder_size, 2 * n) for k in range(self.layers))

    def initialize_core(self):
        for layer in self.core:
            for weight in layer.weight.data.chunk(2):
                nn.init.orthogonal_(weight)
            initialize_bias(layer.bias.data)

    def cast_core(self):
        weights = {f"core{k}": layer.weight.t().to(self.precision) for k, layer in enumerate(self.core)}
        return weights | {f"core{k}_bias": layer.bias for k, layer in enumerate(self.core)}

    def core_space(self):
        n = self.core_size
        return {"product": (2 * n, self.precision), "gates": (2 * n, torch.float32), "active": (2 * n, torch.float32),
                "candidate": (n, torch.float32)}

    def initial_state(self, batch: int, device="cpu"):
        return torch.zeros(batch, self.layers * self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        x, core, hidden = self.encoder.step(weights, x, space.encoded), space.core, space.hidden32
        if self._residual:
            hidden.copy_(x)
        else:
            hidden.zero_()
        for k, state in enumerate(h.split(self.core_size, 1)):
            torch.mm(x, weights[f"core{k}"], out=core["product"])
            mingru_forward(core["product"], weights[f"core{k}_bias"], keep, state, core["gates"], core["active"],
                           core["candidate"], state)
            x = space.hidden.copy_(hidden.add_(state))
        return self.heads.step(weights, hidden, space.out)

    def unroll(self, x, start, state):
        x, keep = self.encoder(x.flatten(0, 1)), 1 - start
        hidden = x.float().view(*start.shape, -1) if self._residual else torch.zeros((), device=x.device)
        for layer, before in zip(self.core, state[0].split(self.core_size, 1), strict=True):
            product = functional.linear(x, layer.weight.to(x.dtype)).view(*start.shape, -1)
            hidden = hidden + MinGruSequence.apply(product, layer.bias, keep, before)
            x = hidden.to(x.dtype).flatten(0, 1)
        return self.apply_heads(hidden)

    @property
    def state_shapes(self):
        return {"h": (self.layers * self.core_size,)}

    def export_step(self, x, state):
        n, states = self.core_size, []
        hidden = x if self._residual else torch.zeros_like(state["h"][:, :n])
        for layer, before in zip(self.core, state["h"].split(n, 1), strict=True):
            u_z, u = layer(x).chunk(2, 1)
            z, candidate = u_z.sigmoid(), torch.maximum(u + 0.5, u.sigmoid())
            states.append((1 - z) * before + z * candidate)
            x = hidden = hidden + states[-1]
        return hidden, {"h": torch.cat(states, 1)}


def initialize_bias(bias: torch.Tensor):
    """Set b_z and b_h, (2n,): time scales of 1 to LONGEST steps, evenly spaced on a logarithmic scale, and b_h = 0.

    A unit with time scale s has z = 1 / (1 + s) (Tallec and Ollivier, 2018, "Can recurrent neural networks warp time?",
    arXiv:1804.11188).
    """
    gate, candidate = bias.chunk(2)
    torch.neg(torch.linspace(0.0, math.log(LONGEST), len(gate)), out=gate)
    candidate.zero_()


def mingru_forward(product, bias, keep, before, gates, active, candidate, after):
    """One time step of B environments. Allocates no memory.

    product: (B, 2n) = x @ [W_z | W_h], any dtype.
    bias: (2n,) float32.
    keep: (B,) float32, 0.0 if an episode starts at this step, else 1.0.
    before: (B, n) float32, the state before this step.
    gates: (B, 2n) float32, overwritten.
    active: (B, 2n) float32, written: [z | sigmoid(u)].
    candidate: (B, n) float32, written: g(u).
    after: (B, n) float32, written: the state after this step. It can be the same tensor as `before`.
    """
    gates.copy_(product).add_(bias)
    torch.sigmoid(gates, out=active)
    z, low = active.chunk(2, 1)
    decay, u = gates.chunk(2, 1)
    torch.maximum(u.add_(0.5), low, out=candidate)  # g(u): u + 0.5 is the larger one exactly if u >= 0
    torch.neg(z, out=decay).add_(1).mul_(keep[:, None]).mul_(before)
    torch.addcmul(decay, z, candidate, out=after)


class MinGruSequence(torch.autograd.Function):
    """`mingru_forward` over T steps."""

    @staticmethod
    def forward(ctx, product, bias, keep, state):
        """The states (T, B, n) float32.

        product: (T, B, 2n); bias: (2n,) float32; keep: (T, B) float32.
        state: (B, n) float32, before the first step; it gets no gradient.
        """
        steps, batch, n = *keep.shape, state.shape[1]
        active, gates = bias.new_empty(steps, batch, 2 * n), bias.new_empty(batch, 2 * n)
        candidate, states = bias.new_empty(steps, batch, n), bias.new_empty(steps + 1, batch, n)
        states[0] = state
        for t in range(steps):
            mingru_forward(product[t], bias, keep[t], states[t], gates, active[t], candidate[t], states[t + 1])
        ctx.save_for_backward(active, candidate, states, keep)
        ctx.dtype = product.dtype
        return states[1:]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dstates):
        active, candidate, states, keep = ctx.saved_tensors
        dproduct = torch.empty_like(active, dtype=ctx.dtype)
        carry, d, rest, work = (torch.zeros_like(states[0]) for _ in range(4))
        for t in reversed(range(len(active))):
            z, low = active[t].chunk(2, 1)
            dz, du = dproduct[t].chunk(2, 1)
            kept = keep[t][:, None]
            torch.add(dstates[t], carry, out=d)                              # dL/dh_t
            torch.neg(z, out=rest).add_(1)
            torch.mul(d, rest, out=carry).mul_(kept)                         # dL/dh_{t-1} by h_t
            torch.mul(states[t], kept, out=work).neg_().add_(candidate[t])
            dz.copy_(work.mul_(d).mul_(rest).mul_(z))
            torch.addcmul(low, low, low, value=-1, out=work)                 # g'(u) = sigmoid'(u) if u < 0
            work.masked_fill_(candidate[t] > low, 1.0)                       # and 1 otherwise
            du.copy_(work.mul_(d).mul_(z))
        rows = dproduct.flatten(0, 1)
        dbias = torch.mm(rows.new_ones(1, len(rows)), rows).view(-1).to(active.dtype)  # sum over rows
        return dproduct, dbias, None, None
