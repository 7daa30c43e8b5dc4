"""The kernels in plain torch: slow, for any device and dtype, and the oracle of the fast ones.

Shapes: B rows (environments), n units, A actions, T steps. A row of gates is i | f | g | o, each of n units. A mask `legal`
(B, A) is 0 for illegal actions, or None where all are legal.
"""

import torch

MASK32 = 0xFFFFFFFF


def wide(x):
    """As float32, or float64 if it is."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next):
    """One time step of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates) whose state can be reset.

    gx, gh: (B, 4n) input and recurrent products, the latter from a hidden state that was already multiplied by `keep`.
    bias: (4n,); c_prev: (B, n); keep: (B,) 0.0 where a new episode starts at this step, else 1.0; keep_next likewise for
    the next step. Returns activated gates (B, 4n), c, h and h * keep_next, each (B, n), in float32,
    of float64 in float64.
    """
    i, f, g, o = (wide(gx) + wide(gh) + bias).chunk(4, dim=1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c_prev * keep[:, None] + i * g
    h = o * c.tanh()
    return torch.cat([i, f, g, o], dim=1), c, h, h * keep_next[:, None]


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """The gradient of `lstm_forward`.

    gates: activated, (B, 4n); dh: dL/dh of this step from above, dh_next: from the next step's recurrent product, dc: from
    the next step's cell, each (B, n). Returns dL/d(pre-activations) (B, 4n) and dL/d(c_prev * keep) (B, n).
    """
    i, f, g, o = wide(gates).chunk(4, dim=1)
    dh = wide(dh) + wide(dh_next) * keep_next[:, None]
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


def log_softmax(logits, legal):
    """The log-probabilities of legal actions, -inf for the others, (..., A); and where any action is legal, (...) bool (where
    none is, the first are those without a mask)."""
    if legal is None:
        return logits.log_softmax(-1), torch.ones_like(logits[..., 0], dtype=torch.bool)
    some = legal.bool().any(-1)
    return logits.masked_fill(~legal.bool() & some[..., None], float("-inf")).log_softmax(-1), some


def sample(logits, legal, seed: int, first: int, step: int, num_actions: int):
    """Draw an action a row from softmax(logits) with the random bits of (seed, first + row, step).

    logits: (B, width) float32, of which the first `num_actions` count. Returns actions (B,) int32, their log-probability (B,)
    (0 and 0 where none is legal), and the column after the logits, the critic's value (B,), where there is one, else None.
    """
    value = logits[:, num_actions] if logits.shape[1] > num_actions else None
    log_probs, some = log_softmax(logits[:, :num_actions], legal)
    environments = torch.arange(first, first + len(logits), device=logits.device)
    point = (random_bits(seed, environments, int(step)) >> 8).double() / (1 << 24)
    weights = log_probs.exp().double()
    passed = weights.cumsum(dim=1)
    beyond = (passed > point[:, None] * passed[:, -1:]) & (weights > 0)
    last = num_actions - 1 - (weights > 0).flip(1).int().argmax(dim=1)
    actions = torch.where(beyond.any(dim=1), beyond.int().argmax(dim=1), last) * some
    return actions.int(), log_probs.gather(1, actions[:, None]).squeeze(1).where(some, 0), value


def categorical(logits, legal, action):
    """The log-probability of each action under softmax(logits), and that distribution's entropy in nats; differentiable.

    logits: (..., A); action: (...). Returns two of (...). An illegal action has log-probability -inf, and illegal actions get
    no gradient; where none is legal, both are 0, and so is the gradient.
    """
    log_probs, some = log_softmax(logits, legal)
    log_prob = log_probs.gather(-1, action.long()[..., None]).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs.masked_fill(log_probs == float("-inf"), 0)).sum(-1)
    return log_prob.where(some, 0), entropy.where(some, 0)


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0):
    """Generalized advantage estimation (Schulman et al., 2015, arXiv:1506.02438), equation 16, with two kinds of end.

    reward, terminated, truncated, valid: (T, B), of step t's transition; value: (T + 1, B), the last the bootstrap. A
    terminated end has no future; a truncated one bootstraps with the value of the observation it was cut at; both cut the
    recursion. Steps in which an environment only reset (valid == 0) get 0. Returns (T, B).

    ratio: (T, B), the policy's probability of each action over that of the policy which acted, where the two differ. Each
    step's error is then weighed by min(rho_clip, ratio) and what it hands on by min(c_clip, ratio), as in V-trace (Espeholt et
    al., 2018, arXiv:1802.01561, section 4.1, with lambda as in its remark 2): result + value are its targets.
    """
    result = torch.zeros_like(reward)
    running = torch.zeros_like(reward[0])
    for t in reversed(range(len(reward))):
        alive = 1 - terminated[t]
        rho, trace = (1, 1) if ratio is None else (ratio[t].clamp(max=rho_clip), ratio[t].clamp(max=c_clip))
        delta = rho * (reward[t] + gamma * value[t + 1] * alive - value[t])
        running = (delta + gamma * lam * alive * (1 - truncated[t]) * trace * running) * valid[t]
        result[t] = running
    return result


def stack_frames(frames, start, t: int, scale: float, steps: int, count: int):
    """What an encoder of `count` frames sees at `steps` steps, from stored single frames.

    frames: (L, B, *shape), L >= t + steps + count - 1; start: (L, B), 1.0 where a frame is the first of its episode. Step s
    shows frames t + s ... t + s + count - 1, oldest first, times `scale`; zeros for those of an earlier episode than the
    newest. Returns (steps, B, count, *shape) float32.
    """
    stacks = []
    for newest in range(int(t) + count - 1, int(t) + count - 1 + steps):
        planes, seen = [], torch.ones_like(start[0], dtype=torch.bool)
        for frame in range(newest, newest - count, -1):
            planes.insert(0, (wide(frames[frame]) * scale).where(seen.view(-1, *[1] * (frames.ndim - 2)), 0))
            seen = seen & (start[frame] == 0)
        stacks.append(torch.stack(planes, dim=1))
    return torch.stack(stacks)
