"""The kernels of actions in plain torch: slow, for any device and dtype. Tests compare the compiled versions with them.

Shapes: B rows (environments), A actions, D dimensions of a continuous action. `action_mask` (B, A) is 0 for illegal actions,
or None if all actions are legal. A counter `step` is an int or a tensor (1,) int64; nothing waits for the device to read it, so
calls can be captured.
"""

import math

import torch

MASK32 = 0xFFFFFFFF
HELD_SHARE = 4  # one in so many environments holds its random numbers
HELD_SEED = 0xD1B54A32D192ED03  # between the seeds of held and of other random numbers


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


def held_words(seed: int, environments, step, hold: int, held, index: int = 0):
    """As `random_words`, but one in HELD_SHARE environments has the same ones for `hold` steps.

    held: (B,), not 0 for environments that may; None: all may.
    """
    words = random_words(seed, environments, step, index)
    if hold == 1:
        return words
    kept = random_words((seed + HELD_SEED) % 2**64, environments // HELD_SHARE, step // hold, index)
    holds = environments % HELD_SHARE == 0
    if held is not None:
        holds &= held != 0
    return tuple(torch.where(holds, one, other) for one, other in zip(kept, words, strict=True))


def product(a: int, b):
    """The lower and upper 32 bits of a * b, computed in halves that fit int64."""
    low = a * (b & 0xFFFF)
    high = a * (b >> 16) + (low >> 16)
    return (high << 16 | low & 0xFFFF) & MASK32, high >> 16 & MASK32


def log_softmax(logits, action_mask):
    """Log-probabilities (..., A), and whether any action is action_mask, (...) bool.

    Illegal actions have -inf. If no action is legal, the log-probabilities are those without a mask.
    """
    if action_mask is None:
        return logits.log_softmax(-1), torch.ones_like(logits[..., 0], dtype=torch.bool)
    some = action_mask.bool().any(-1)
    return logits.masked_fill(~action_mask.bool() & some[..., None], float("-inf")).log_softmax(-1), some


def sample(logits, action_mask, seed: int, first: int, step, num_actions: int, hold: int = 1, held=None):
    """Draw an action for each row from softmax(logits), with the random bits of (seed, first + row, step).

    logits: (B, width) float32; the first `num_actions` columns are the logits.
    first: number of the environment of row 0.
    hold, held: as for `held_words`.
    Returns actions (B,) int32 and their log-probabilities (B,), 0 and 0 if no action is legal; and the column after the logits,
    the critic's value (B,), or None if there is no such column.
    """
    value = logits[:, num_actions] if logits.shape[1] > num_actions else None
    log_probs, some = log_softmax(logits[:, :num_actions], action_mask)
    environments = torch.arange(first, first + len(logits), device=logits.device)
    point = (held_words(seed, environments, step, hold, held)[0] >> 8).double() / (1 << 24)
    weights = log_probs.exp().double()
    passed = weights.cumsum(dim=1)
    beyond = (passed > point[:, None] * passed[:, -1:]) & (weights > 0)
    last = num_actions - 1 - (weights > 0).flip(1).int().argmax(dim=1)
    actions = torch.where(beyond.any(dim=1), beyond.int().argmax(dim=1), last) * some
    return actions.int(), log_probs.gather(1, actions[:, None]).squeeze(1).where(some, 0), value


def categorical(logits, action_mask, action):
    """The log-probability of each action under softmax(logits), and that distribution's entropy in nats; differentiable.

    logits: (..., A).
    action: (...).
    Returns two tensors (...). An illegal action has log-probability -inf, and illegal actions get no gradient. If no action is
    legal, both are 0, and so is the gradient.
    """
    log_probs, some = log_softmax(logits, action_mask)
    log_prob = log_probs.gather(-1, action.long()[..., None]).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs.masked_fill(log_probs == float("-inf"), 0)).sum(-1)
    return log_prob.where(some, 0), entropy.where(some, 0)


def gaussian_sample(mean, log_deviation, seed: int, first: int, step, hold: int = 1, held=None):
    """Draw an action of D numbers for each row from a normal distribution with independent dimensions.

    mean: (B, width) float32; the first D columns are the means.
    log_deviation: (D,) float32, the logarithm of the deviation, the same for all rows.
    seed, first, step, hold, held: as for `sample`. Dimension d takes two words of random bits of index d (Box and Muller,
        1958).
    Returns actions (B, D) float32 and their log-probabilities (B,); and the column after the means, the critic's value (B,),
    or None if there is no such column.
    """
    count = len(log_deviation)
    value = mean[:, count] if mean.shape[1] > count else None
    environments = torch.arange(first, first + len(mean), device=mean.device)
    words = [held_words(seed, environments, step, hold, held, index) for index in range(count)]
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
