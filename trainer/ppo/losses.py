"""The loss of proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347), of tensors."""

from typing import NamedTuple

import torch

from trainer import kernels
from trainer.policy.policy import Policy
from trainer.ranks import ALONE, Ranks
from trainer.rollout.actor import Storage


class Minibatch(NamedTuple):
    """S whole sequences of T steps, (T, S, ...); `seen` is what the encoder reads of the observations, (T, S, K, *shape).
    weight: (S,) what a sequence counts for, or None where all count the same."""

    inputs: torch.Tensor
    action: torch.Tensor
    log_prob: torch.Tensor
    value: torch.Tensor
    advantage: torch.Tensor
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None
    state: tuple[torch.Tensor, torch.Tensor]
    weight: torch.Tensor | None = None


def select(policy: Policy, storage: Storage, advantage, sequences, weight=None) -> Minibatch:
    """The minibatch of the environments `sequences`, (S,) int64, which count for `weight`, (S,) or None."""
    def columns(tensor):
        return None if tensor is None else tensor.index_select(1, sequences)

    starts = columns(storage.starts[:-1])
    return Minibatch(policy.preprocess_rollout(columns(storage.frames[:-1]), starts),
                     columns(storage.action), columns(storage.log_prob),
                     columns(storage.value[:-1]), columns(advantage), columns(storage.valid), starts[storage.before:],
                     columns(storage.action_mask), (storage.h[sequences], storage.c[sequences]), weight)


class Whole(NamedTuple):
    """Of the valid steps of all ranks: how many there are (1 where there is none), and some number's mean and variance over
    them; scalars of the number's dtype."""

    count: torch.Tensor
    mean: torch.Tensor
    variance: torch.Tensor


def whole_of(values, valid, ranks: Ranks) -> Whole:
    """The `Whole` of values of which this rank has some. What each has is merged as in Chan et al. (1979, "Updating formulae
    and a pairwise algorithm for computing sample variances")."""
    wide, valid = values.double(), valid.double()
    mean = masked_mean(wide, valid)
    counts, means, squares = ranks.rows(torch.stack([valid.sum(), mean, ((wide - mean).square() * valid).sum()])).unbind(1)
    count = counts.sum().clamp(min=1)
    mean = (counts * means).sum() / count
    variance = (squares + counts * (means - mean).square()).sum() / count
    return Whole(*(one.to(values.dtype) for one in (count, mean, variance)))


def masked_mean(values, valid, whole: Whole | None = None):
    """The mean over valid steps; with `whole`, this rank's part of the mean over those of all."""
    return (values * valid).sum() / (valid.sum().clamp(min=1) if whole is None else whole.count)


def normalize(advantage, valid, whole: Whole | None = None):
    """Advantages with mean 0 and deviation 1 over valid steps, those of all ranks with `whole`; constant ones become 0."""
    mean = masked_mean(advantage, valid) if whole is None else whole.mean
    variance = masked_mean((advantage - mean).square(), valid) if whole is None else whole.variance
    return (advantage - mean) * valid / (variance.sqrt() + 1e-8)


def losses(policy: Policy, batch: Minibatch, config, entropy_coef=None, whole: Whole | None = None):
    """The loss to minimize (a scalar), its parts and diagnostics by name, and the ratios (T, S), the last two detached.

    With r the new probability of an action over the old, the policy's loss is -min(r A, clip(r, 1 - clip, 1 + clip) A)
    (equation 7); the value's is half the squared error, of the worse of the new value and the new value held within
    value_clip of the old; the entropy's bonus is entropy_coef (the config's where None) times the mean entropy. Means of the
    losses count a sequence for its weight. whole: of the advantages, where the batch is this rank's part of a minibatch: what
    is returned is then its part of the minibatch's means, to be added to those of the other ranks.
    """
    logits, value = policy.unroll(batch.inputs, batch.start, batch.state)
    log_prob, entropies = kernels.categorical(logits, batch.action_mask, batch.action)
    log_ratio = log_prob - batch.log_prob
    ratio = log_ratio.exp()
    advantage = normalize(batch.advantage, batch.valid, whole)
    if batch.weight is not None:
        advantage = advantage * batch.weight
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = masked_mean(-torch.minimum(ratio * advantage, clipped * advantage), batch.valid, whole)

    target = batch.value + batch.advantage
    error = (value - target).square()
    if config.value_clip > 0:
        held = batch.value + (value - batch.value).clamp(-config.value_clip, config.value_clip)
        error = torch.maximum(error, (held - target).square())
    if batch.weight is not None:
        error = error * batch.weight
    value_loss = 0.5 * masked_mean(error, batch.valid, whole)

    entropy = masked_mean(entropies, batch.valid, whole)
    entropy_coef = config.entropy_coef if entropy_coef is None else entropy_coef
    loss = policy_loss + config.value_coef * value_loss - entropy_coef * entropy
    with torch.no_grad():
        parts = {"loss_policy": policy_loss, "loss_value": value_loss, "entropy": entropy,
                 "kl": masked_mean(ratio - 1 - log_ratio, batch.valid, whole),  # Schulman's k3 estimate, never negative
                 "clip_fraction": masked_mean(((ratio - 1).abs() > config.clip).float(), batch.valid, whole)}
    return loss, {name: part.detach() for name, part in parts.items()}, ratio.detach()


def explained_variance(advantage, value, valid, ranks: Ranks = ALONE) -> torch.Tensor:
    """1 - Var(target - value) / Var(target) over valid steps, those of all ranks: 1 is a perfect critic, 0 one that knows the
    mean only."""
    target = value + advantage
    def variance(x):
        if ranks.joined:
            return whole_of(x, valid, ranks).variance
        return masked_mean((x - masked_mean(x, valid)).square(), valid)

    return 1 - variance(advantage) / variance(target).clamp(min=1e-8)
