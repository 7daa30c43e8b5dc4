"""An LSTM with resets in plain torch: slow, for any device and dtype. Tests compare the compiled versions with it.

Shapes: B rows (environments), n units, T steps. A row of gates is i | f | g | o, each of n units.
"""

import torch

from trainer.kernels.shared.plain import wide


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next):
    """One time step of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates) with resets.

    gx: (B, 4n), the input product.
    gh: (B, 4n), the recurrent product of a hidden state that was already multiplied by `keep`.
    bias: (4n,).
    c_prev: (B, n), the cell state before this step.
    keep: (B,), 0.0 if an episode starts at this step, else 1.0.
    keep_next: (B,), the same for the next step.
    Returns activated gates (B, 4n), c, h and h * keep_next, (B, n) each, in float32 (float64 for float64 inputs).
    """
    i, f, g, o = (wide(gx) + wide(gh) + bias).chunk(4, dim=1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c_prev * keep[:, None] + i * g
    h = o * c.tanh()
    return torch.cat([i, f, g, o], dim=1), c, h, h * keep_next[:, None]


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """The gradient of `lstm_forward`.

    gates: (B, 4n), activated.
    c_prev, keep, keep_next: as in `lstm_forward`; c: (B, n), its result.
    dh: (B, n), dL/dh from the layer above.
    dh_next: (B, n), dL/dh from the next step's recurrent product.
    dc: (B, n), dL/d(c * keep_next) from the next step.
    Returns dL/d(pre-activations) (B, 4n) and dL/d(c_prev * keep) (B, n).
    """
    i, f, g, o = wide(gates).chunk(4, dim=1)
    dh = wide(dh) + wide(dh_next) * keep_next[:, None]
    t = c.tanh()
    d = dc * keep_next[:, None] + dh * o * (1 - t * t)
    di, df = d * g * i * (1 - i), d * c_prev * keep[:, None] * f * (1 - f)
    dg, do = d * i * (1 - g * g), dh * t * o * (1 - o)
    return torch.cat([di, df, dg, do], dim=1), d * f


def lstm_recurrence(products, weight_h, bias, keep, h, c):
    """T time steps of an LSTM with resets, after the input product.

    products: (T, B, 4n), the input products.
    weight_h: (4n, n).
    bias: (4n,).
    keep: (T + 1, B), as in `lstm_forward`; the last row is for the step after the sequence.
    h: (B, n), the hidden state before the first step, times keep[0]; c: (B, n).
    Returns activated gates (T, B, 4n); the hidden states times keep, with h (T + 1, B, n), which the recurrent products read
    in the dtype of weight_h; the cell states, with c (T + 1, B, n); and the hidden states (T, B, n).
    """
    gates, inputs, cells, hidden = [], [wide(h)], [wide(c)], []
    for t in range(len(products)):
        product = wide(inputs[-1].to(weight_h.dtype)) @ wide(weight_h).t()
        activated, c, h, h_next = lstm_forward(products[t], product, bias, cells[-1], keep[t], keep[t + 1])
        for results, result in zip((gates, cells, hidden, inputs), (activated, c, h, h_next), strict=True):
            results.append(result)
    return tuple(torch.stack(results) for results in (gates, inputs, cells, hidden))


def lstm_recurrence_backward(gates, weight_h, keep, cells, dhidden):
    """The gradient of `lstm_recurrence`.

    gates, cells: its results; weight_h, keep: as there.
    dhidden: (T, B, n), dL/d(hidden states) from the layer above.
    Returns dL/d(pre-activations) (T, B, 4n); the recurrent products read them in the dtype of weight_h.
    """
    dh, dc, gradients = torch.zeros_like(cells[0]), torch.zeros_like(cells[0]), []
    for t in reversed(range(len(gates))):
        dgates, dc = lstm_backward(gates[t], cells[t], keep[t], cells[t + 1], dhidden[t], dh, keep[t + 1], dc)
        dh = wide(dgates.to(weight_h.dtype)) @ wide(weight_h)
        gradients.append(dgates)
    return torch.stack(gradients[::-1])
