"""The kernels in plain torch: slow, for any device and dtype. Tests compare the fast kernels with them.

Shapes: B rows (environments), n units, A actions, D dimensions of a continuous action, T steps. A row of gates is
i | f | g | o, each of n units. A mask `legal` (B, A) is 0 for illegal actions, or None if all actions are legal.
A counter (step, t) is an int or a tensor (1,) int64; nothing waits for the device to read it, so calls can be captured.
"""

import math

import torch

MASK32 = 0xFFFFFFFF


def wide(x):
    """x in float32, or in float64 if it already is."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


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


def random_words(seed: int, environments, step, index: int = 0):
    """The first two words of Philox 4x32-10 for (seed, environment, step, index).

    environments: (B,) int64, numbers of environments.
    Returns two tensors (B,) int64, 32 random bits each.
    """
    k0, k1 = seed & MASK32, seed >> 32 & MASK32
    c0 = environments & MASK32
    c1, c2, c3 = (torch.zeros_like(c0) + word for word in (step & MASK32, step >> 32 & MASK32, index))
    for _ in range(10):
        (low_a, high_a), (low_b, high_b) = product(0xD2511F53, c0), product(0xCD9E8D57, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return c0, c1


def random_bits(seed: int, environments, step):
    """The first of `random_words`, of index 0."""
    return random_words(seed, environments, step)[0]


def product(a: int, b):
    """The lower and upper 32 bits of a * b, computed in halves that fit int64."""
    low = a * (b & 0xFFFF)
    high = a * (b >> 16) + (low >> 16)
    return (high << 16 | low & 0xFFFF) & MASK32, high >> 16 & MASK32


def log_softmax(logits, legal):
    """Log-probabilities (..., A), and whether any action is legal, (...) bool.

    Illegal actions have -inf. If no action is legal, the log-probabilities are those without a mask.
    """
    if legal is None:
        return logits.log_softmax(-1), torch.ones_like(logits[..., 0], dtype=torch.bool)
    some = legal.bool().any(-1)
    return logits.masked_fill(~legal.bool() & some[..., None], float("-inf")).log_softmax(-1), some


def sample(logits, legal, seed: int, first: int, step, num_actions: int):
    """Draw an action for each row from softmax(logits), with the random bits of (seed, first + row, step).

    logits: (B, width) float32; the first `num_actions` columns are the logits.
    first: number of the environment of row 0.
    Returns actions (B,) int32 and their log-probabilities (B,), 0 and 0 if no action is legal; and the column after the logits,
    the critic's value (B,), or None if there is no such column.
    """
    value = logits[:, num_actions] if logits.shape[1] > num_actions else None
    log_probs, some = log_softmax(logits[:, :num_actions], legal)
    environments = torch.arange(first, first + len(logits), device=logits.device)
    point = (random_bits(seed, environments, step) >> 8).double() / (1 << 24)
    weights = log_probs.exp().double()
    passed = weights.cumsum(dim=1)
    beyond = (passed > point[:, None] * passed[:, -1:]) & (weights > 0)
    last = num_actions - 1 - (weights > 0).flip(1).int().argmax(dim=1)
    actions = torch.where(beyond.any(dim=1), beyond.int().argmax(dim=1), last) * some
    return actions.int(), log_probs.gather(1, actions[:, None]).squeeze(1).where(some, 0), value


def categorical(logits, legal, action):
    """The log-probability of each action under softmax(logits), and that distribution's entropy in nats; differentiable.

    logits: (..., A).
    action: (...).
    Returns two tensors (...). An illegal action has log-probability -inf, and illegal actions get no gradient. If no action is
    legal, both are 0, and so is the gradient.
    """
    log_probs, some = log_softmax(logits, legal)
    log_prob = log_probs.gather(-1, action.long()[..., None]).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs.masked_fill(log_probs == float("-inf"), 0)).sum(-1)
    return log_prob.where(some, 0), entropy.where(some, 0)


def gaussian_sample(mean, log_deviation, seed: int, first: int, step):
    """Draw an action of D numbers for each row from a normal distribution with independent dimensions.

    mean: (B, width) float32; the first D columns are the means.
    log_deviation: (D,) float32, the logarithm of the deviation, the same for all rows.
    seed, first, step: as for `sample`. Dimension d takes two words of random bits of index d (Box and Muller, 1958).
    Returns actions (B, D) float32 and their log-probabilities (B,); and the column after the means, the critic's value (B,),
    or None if there is no such column.
    """
    count = len(log_deviation)
    value = mean[:, count] if mean.shape[1] > count else None
    environments = torch.arange(first, first + len(mean), device=mean.device)
    words = [random_words(seed, environments, step, index) for index in range(count)]
    radius = [(-2 * (((word >> 8) + 1).double() / (1 << 24)).log()).sqrt() for word, _ in words]
    noise = [r * (2 * math.pi * (word >> 8).double() / (1 << 24)).cos() for r, (_, word) in zip(radius, words, strict=True)]
    action = mean[:, :count] + log_deviation.exp() * torch.stack(noise, 1).to(mean.dtype)
    return action, gaussian(mean[:, :count], log_deviation, action)[0], value


def gaussian(mean, log_deviation, action):
    """The log-probability of each action under a normal distribution with independent dimensions, and the
    distribution's entropy in nats; differentiable by mean and log_deviation.

    mean, action: (..., D).
    log_deviation: (D,).
    Returns two tensors (...).
    """
    z = (action - mean) * (-log_deviation).exp()
    width = log_deviation + 0.5 * math.log(2 * math.pi)
    return -(0.5 * z * z + width).sum(-1), (width + 0.5).sum().expand(mean.shape[:-1])


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0):
    """Generalized advantage estimation (Schulman et al., 2015, arXiv:1506.02438), equation 16, with two kinds of end.

    A terminated episode has no future. A truncated one bootstraps with the value of its last observation. Both end the
    recursion. Steps in which an environment only reset (valid == 0) get 0.

    With `ratio` this is V-trace (Espeholt et al., 2018, arXiv:1802.01561, section 4.1, with lambda as in its remark 2): each
    step's error has the weight min(rho_clip, ratio), and the recursion the factor min(c_clip, ratio). Its targets are
    result + value.

    reward, terminated, truncated, valid: (T, B), of the transition of step t.
    value: (T + 1, B); the last row is the bootstrap.
    ratio: (T, B), the present policy's probability of each action over that of the policy which acted; or None.
    Returns (T, B).
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


def stack_frames(frames, start, t, scale: float, steps: int, count: int):
    """Stack single frames for an encoder that reads `count` frames at each of `steps` steps.

    Step s has the frames t + s ... t + s + count - 1, oldest first, times `scale`. Frames of an earlier episode than the
    newest frame's are zeros.

    frames: (L, B, *shape), L >= t + steps + count - 1.
    start: (L, B), 1.0 if a frame is the first of its episode.
    Returns (steps, B, count, *shape) float32.
    """
    def at(rows, step: int):
        return rows.index_select(0, t + step)[0] if isinstance(t, torch.Tensor) else rows[t + step]

    stacks = []
    for newest in range(count - 1, count - 1 + steps):
        planes, same_episode = [], torch.ones_like(start[0], dtype=torch.bool)
        for frame in range(newest, newest - count, -1):
            planes.insert(0, (wide(at(frames, frame)) * scale).where(same_episode.view(-1, *[1] * (frames.ndim - 2)), 0))
            same_episode = same_episode & (at(start, frame) == 0)
        stacks.append(torch.stack(planes, dim=1))
    return torch.stack(stacks)
