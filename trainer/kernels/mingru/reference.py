"""Minimal gated recurrent units in plain torch: slow, for any device and dtype. Tests compare the compiled versions with it.

Shapes: B rows (environments), n units, T steps.
"""

import torch

from trainer.kernels.shared.plain import wide


def mingru(product, bias, keep, state, x=None):
    """T time steps of minimal gated recurrent units (Feng et al., 2024, arXiv:2410.01201), the log-free form, with resets.

    With g(u) = u + 0.5 if u >= 0, else sigmoid(u), and z = sigmoid(.): h_t = (1 - z_t) * keep_t * h_{t-1} + z_t * g(u_t).

    product: (T, B, 2n), the input products of z | u; with `x` (T, B, 3n), of z | u | p.
    bias: (2n,) or (3n,).
    keep: (T, B), 0.0 if an episode starts at this step, else 1.0.
    state: (B, n), before the first step.
    x: (T, B, n), the units' input for a highway (Srivastava et al., 2015, arXiv:1505.00387); or None.
    Returns the states h (T, B, n); and the highway's output sigmoid(p) * h + (1 - sigmoid(p)) * x, None without `x`.
    """
    gate, u, *highway = (wide(product) + bias).chunk(2 if x is None else 3, dim=-1)
    z, candidate, states = gate.sigmoid(), torch.where(u > 0, u + 0.5, u.sigmoid()), []
    for t in range(len(keep)):
        state = (1 - z[t]) * (keep[t][:, None] * state) + z[t] * candidate[t]
        states.append(state)
    states = torch.stack(states)
    if x is None:
        return states, None
    p = highway[0].sigmoid()
    return states, p * states + (1 - p) * x


def mingru_backward(product, bias, keep, state, states, x, dout):
    """The gradient of `mingru`.

    product, bias, keep, state, x: as in `mingru`; states: (T, B, n), its result.
    dout: (T, B, n), dL/d(highway's output), or dL/d(states) without `x`.
    Returns dL/d(product), and dL/dx, None without `x`. The derivative of g at 0 is that from below.
    """
    gate, u, *highway = (wide(product) + bias).chunk(2 if x is None else 3, dim=-1)
    z, low = gate.sigmoid(), u.sigmoid()
    candidate, slope = torch.where(u > 0, u + 0.5, low), torch.where(u > 0, 1, low * (1 - low))
    dstates, dx, dp = dout, None, []
    if x is not None:
        p = highway[0].sigmoid()
        dstates, dx, dp = dout * p, dout * (1 - p), [dout * (states - x) * p * (1 - p)]
    carry, dz, du = torch.zeros_like(states[0]), torch.empty_like(states), torch.empty_like(states)
    for t in reversed(range(len(keep))):
        d, kept = dstates[t] + carry, keep[t][:, None]
        before = (states[t - 1] if t else state) * kept
        dz[t] = d * (candidate[t] - before) * z[t] * (1 - z[t])
        du[t] = d * z[t] * slope[t]
        carry = d * (1 - z[t]) * kept
    return torch.cat([dz, du, *dp], dim=-1), dx
