"""The kernels in plain torch: slow, for any device and dtype, and the oracle of the fast ones.

Shapes: B rows (environments), n units, A actions, T steps. A row of gates is i | f | g | o, each of n units.
"""

import torch

MASK32 = 0xFFFFFFFF


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next):
    """One time step of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates) whose state can be reset.

    gx, gh: (B, 4n) input and recurrent products, the latter from a hidden state that was already multiplied by `keep`.
    bias: (4n,); c_prev: (B, n); keep: (B,) 0.0 where a new episode starts at this step, else 1.0; keep_next likewise for
    the next step. Returns activated gates (B, 4n), c, h and h * keep_next, each (B, n), in float32.
    """
    i, f, g, o = (gx.float() + gh.float() + bias).chunk(4, dim=1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c_prev * keep[:, None] + i * g
    h = o * c.tanh()
    return torch.cat([i, f, g, o], dim=1), c, h, h * keep_next[:, None]


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """The gradient of `lstm_forward`.

    gates: activated, (B, 4n); dh: dL/dh of this step from above, dh_next: from the next step's recurrent product, dc: from
    the next step's cell, each (B, n). Returns dL/d(pre-activations) (B, 4n) and dL/d(c_prev * keep) (B, n).
    """
    i, f, g, o = gates.float().chunk(4, dim=1)
    dh = dh.float() + dh_next.float() * keep_next[:, None]
    t = c.tanh()
    d = dc * keep_next[:, None] + dh * o * (1 - t * t)
    di, df = d * g * i * (1 - i), d * c_prev * keep[:, None] * f * (1 - f)
    dg, do = d * i * (1 - g * g), dh * t * o * (1 - o)
    return torch.cat([di, df, dg, do], dim=1), d * f


def random_bits(seed: int, environments, step: int):
    """Philox 4x32-10's first word for (seed, environment, step); environments (B,) int64, result (B,) int64."""
    k0, k1 = seed & MASK32, seed >> 32 & MASK32
    c0 = environments & MASK32
    c1, c2, c3 = (torch.full_like(c0, word) for word in (step & MASK32, step >> 32 & MASK32, 0))
    for _ in range(10):
        (low_a, high_a), (low_b, high_b) = product(0xD2511F53, c0), product(0xCD9E8D57, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return c0


def product(a: int, b):
    """The lower and upper 32 bits of a * b, in halves that int64 holds."""
    low = a * (b & 0xFFFF)
    high = a * (b >> 16) + (low >> 16)
    return (high << 16 | low & 0xFFFF) & MASK32, high >> 16 & MASK32


def sample(logits, legal, seed: int, environments, step: int):
    """Draw an action a row from softmax(logits) with the random bits of (seed, environment, step).

    logits: (B, A) float32; legal: (B, A) bool or None. Returns actions (B,) int32 and their log-probability (B,).
    """
    if legal is not None:
        logits = logits.masked_fill(~legal, float("-inf"))
    point = (random_bits(seed, environments, step) >> 8).double() / (1 << 24)
    weights = (logits - logits.max(dim=1, keepdim=True).values).exp().double()
    passed = weights.cumsum(dim=1)
    beyond = (passed > point[:, None] * passed[:, -1:]) & (weights > 0)
    actions = torch.where(beyond.any(dim=1), beyond.int().argmax(dim=1), weights.shape[1] - 1)
    return actions.int(), logits.log_softmax(dim=1).gather(1, actions[:, None]).squeeze(1)


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float):
    """Generalized advantage estimation (Schulman et al., 2015, arXiv:1506.02438), equation 16, with two kinds of end.

    reward, terminated, truncated, valid: (T, B), of step t's transition; value: (T + 1, B), the last the bootstrap. A
    terminated end has no future; a truncated one bootstraps with the value of the observation it was cut at; both cut the
    recursion. Steps in which an environment only reset (valid == 0) get 0. Returns (T, B).
    """
    result = torch.zeros_like(reward)
    running = torch.zeros_like(reward[0])
    for t in reversed(range(len(reward))):
        alive = 1 - terminated[t]
        delta = reward[t] + gamma * value[t + 1] * alive - value[t]
        running = (delta + gamma * lam * alive * (1 - truncated[t]) * running) * valid[t]
        result[t] = running
    return result
