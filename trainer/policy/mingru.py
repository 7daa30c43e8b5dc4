"""The minimal gated recurrent unit of Feng et al., 2024 ("Were RNNs All We Needed?", arXiv:2410.01201), over whole sequences
that reset where episodes begin, with its gradient.

Of an input x, with g(u) = u + 0.5 where u >= 0, else sigmoid(u) (appendix B.2.1, so that a state is never negative):

    z_t = sigmoid(W_z x_t + b_z)
    h_t = (1 - z_t) * keep_t * h_{t-1} + z_t * g(W_h x_t + b_h)

Nothing that is multiplied by a matrix depends on h: the products of all steps are one, made by the caller, and what stands
here is elementwise. It is done step by step, because a step's numbers stay in the cache: on a CPU that is almost twice as fast
as the same over all steps at once.
"""

import math

import torch

LONGEST = 100.0  # steps: the units' first memories reach from 1 to this far


def initialize_bias(bias: torch.Tensor):
    """Sets b_z and b_h, (2n,): units that forget after 1 to LONGEST steps, evenly on a logarithmic scale, after Tallec and
    Ollivier, 2018 ("Can recurrent neural networks warp time?", arXiv:1804.11188), and b_h = 0. A unit that forgets after s
    steps has z = 1 / (1 + s)."""
    gate, candidate = bias.chunk(2)
    torch.neg(torch.linspace(0.0, math.log(LONGEST), len(gate)), out=gate)
    candidate.zero_()


def mingru_forward(product, bias, keep, before, gates, active, candidate, after):
    """One time step of B environments.

    product: (B, 2n) = x @ [W_z | W_h], of any dtype; bias: (2n,) float32; keep: (B,) float32, 0.0 where a new episode starts
    at this step; before: (B, n) float32, the state so far. All in float32, writes active (B, 2n) = [z | sigmoid(u)], candidate
    (B, n) = g(u) and after (B, n), which may be `before`; gates (B, 2n) is room to work in. Allocates nothing.
    """
    gates.copy_(product).add_(bias)
    torch.sigmoid(gates, out=active)
    z, low = active.chunk(2, 1)
    decay, u = gates.chunk(2, 1)
    torch.maximum(u.add_(0.5), low, out=candidate)  # g: where u >= 0, u + 0.5 is the greater, and where u < 0, sigmoid(u)
    torch.neg(z, out=decay).add_(1).mul_(keep[:, None]).mul_(before)
    torch.addcmul(decay, z, candidate, out=after)


class MinGruSequence(torch.autograd.Function):
    """`mingru_forward` over T steps."""

    @staticmethod
    def forward(ctx, product, bias, keep, state):
        """product (T, B, 2n), bias (2n,) float32, keep (T, B) float32, state (B, n) float32, from which no gradient flows;
        returns the states (T, B, n) float32."""
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
            torch.addcmul(low, low, low, value=-1, out=work)                 # g' = sigmoid' where u < 0
            work.masked_fill_(candidate[t] > low, 1.0)                       # and 1 above
            du.copy_(work.mul_(d).mul_(z))
        rows = dproduct.flatten(0, 1)
        dbias = torch.mm(rows.new_ones(1, len(rows)), rows).view(-1).to(active.dtype)  # a sum over rows
        return dproduct, dbias, None, None
