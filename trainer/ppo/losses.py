"""The loss of proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347), as functions of tensors."""

import math
from typing import NamedTuple

import torch

from trainer import kernels
from trainer.config import PPOConfig
from trainer.errors import LearningError
from trainer.policy.policy import Policy
from trainer.ppo.own_code import REPLACED, Outputs, OwnLoss, hidden_of
from trainer.ranks import ALONE, Ranks
from trainer.rollout.storage import Storage

NAMES = {"loss_policy": "the policy's loss", "loss_value": "the value's loss", "entropy": "the entropy",
         "grad_norm": "the gradient"}  # of diagnostics, in error messages


class Minibatch(NamedTuple):
    """S sequences of T steps."""

    inputs: torch.Tensor                       # (T, S, K, *shape): the encoder's input
    action: torch.Tensor                       # (T, S), or (T, S, ...)
    log_prob: torch.Tensor                     # (T, S), as the following ones
    value: torch.Tensor
    advantage: torch.Tensor
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None           # (T, S, A)
    state: tuple[torch.Tensor, torch.Tensor]   # the memory before step 0, (S, ...) each
    weight: torch.Tensor | None = None         # (S,): weight of each sequence; None if all have the same
    signal: torch.Tensor | None = None         # (): factor of policy loss and entropy bonus; None for 1


def select(policy: Policy, storage: Storage, advantage, sequences, weight=None, signal=None) -> Minibatch:
    """The minibatch of some environments' sequences.

    advantage: (T, N).
    sequences: (S,) int64, numbers of environments.
    weight: (S,), or None.
    signal: (), or None.
    """
    def columns(tensor):
        return None if tensor is None else kernels.take(tensor, sequences)

    starts = columns(storage.starts[:-1])
    return Minibatch(policy.preprocess_rollout(columns(storage.frames[:-1]), starts),
                     columns(storage.action), columns(storage.log_prob),
                     columns(storage.value[:-1]), columns(advantage), columns(storage.valid), starts[storage.before:],
                     columns(storage.action_mask), (storage.h[sequences], storage.c[sequences]), weight, signal)


class JointStatistics(NamedTuple):
    """Statistics of a quantity over the valid steps of all ranks: scalars of its dtype."""

    count: torch.Tensor     # valid steps, at least 1
    mean: torch.Tensor
    variance: torch.Tensor


def joint_statistics(values, valid, ranks: Ranks) -> JointStatistics:
    """The statistics of `values` over all ranks; this rank passes its part.

    The parts are merged as in Chan et al., 1979 ("Updating formulae and a pairwise algorithm for computing sample variances").
    """
    wide, valid = values.double(), valid.double()
    mean = masked_mean(wide, valid)
    rows = ranks.rows(torch.stack([valid.sum(), mean, ((wide - mean).square() * valid).sum()]))
    return JointStatistics(*(one.to(values.dtype) for one in merged(rows)))


def merged(rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Count (at least 1), mean and variance of parts; rows: (K, 3, ...), count, mean and sum of squared differences of each."""
    counts, means, squares = rows.unbind(1)
    count = counts.sum(0).clamp(min=1)
    mean = (counts * means).sum(0) / count
    return count, mean, (squares + counts * (means - mean).square()).sum(0) / count


def statistics_of_minibatches(values, valid, order, ranks: Ranks = ALONE):
    """(K, 3) The count, mean and variance of `values` (T, N) over the valid steps of each minibatch, of all ranks together.

    order: (K, S) int64, this rank's columns of each minibatch.
    """
    wide, valid = (one.index_select(1, order.flatten()).double().unflatten(1, order.shape) for one in (values, valid))
    count = valid.sum((0, 2))
    mean = (wide * valid).sum((0, 2)) / count.clamp(min=1)
    square = ((wide - mean[:, None]).square() * valid).sum((0, 2))
    if ranks.joined:
        found = merged(ranks.rows(torch.stack([count, mean, square])))
    else:
        found = (count.clamp(min=1), mean, square / count.clamp(min=1))
    return torch.stack(found, 1).to(values.dtype)


def has_signal(reward, terminated, valid, ranks: Ranks = ALONE) -> torch.Tensor:
    """1.0 if the rewards of the valid steps of all ranks differ, or an episode terminated in one of these steps, else 0.0 ().

    reward, terminated, valid: (T, N) of this rank.
    """
    used = valid > 0
    least, most = (torch.where(used, reward, sign * math.inf) for sign in (1, -1))
    rows = ranks.rows(torch.stack([least.min(), most.max(), (terminated * valid).max()]))
    return ((rows[:, 0].min() < rows[:, 1].max()) | (rows[:, 2].max() > 0)).to(reward.dtype)


def masked_mean(values, valid, joint: JointStatistics | None = None):
    """The mean over valid steps. With `joint`, this rank's share of the mean over all ranks: the shares add up to it."""
    return (values * valid).sum() / (valid.sum().clamp(min=1) if joint is None else joint.count)


def normalize(advantage, valid, joint: JointStatistics | None = None):
    """Advantages with mean 0 and deviation 1 over valid steps (with `joint`, over those of all ranks); 0 if constant."""
    mean = masked_mean(advantage, valid) if joint is None else joint.mean
    variance = masked_mean((advantage - mean).square(), valid) if joint is None else joint.variance
    return (advantage - mean) * valid / (variance.sqrt() + 1e-8)


def losses(policy: Policy, batch: Minibatch, ppo: PPOConfig, entropy_coef=None, joint: JointStatistics | None = None,
           own: OwnLoss | None = None):
    """The loss of a minibatch, and its diagnostics.

    With r the new probability of an action over the old one, the policy loss is -min(r A, clip(r, 1 - clip, 1 + clip) A)
    (equation 7). The value loss is half the squared error of the new value, or of the new value clipped to within value_clip
    of the old value, whichever is larger. The entropy bonus is entropy_coef times the mean entropy. Each sequence has its
    weight in the means of policy loss and value loss. `batch.signal` is a factor of the advantages A in the policy loss, and
    of the entropy bonus.

    entropy_coef: weight of the entropy bonus; ppo.entropy_coef if None.
    joint: statistics of the advantages over all ranks, if the batch is this rank's part of a minibatch. The results are then
        this rank's shares, which add up to those of the minibatch.
    own: a function of the user's own, whose terms are added or replace those above.
    Returns the loss (a scalar); the losses and diagnostics by name, detached; and the ratios r (T, S), detached.
    """
    with hidden_of(policy, own is not None) as hidden:
        logits, value = policy.unroll(batch.inputs, batch.start, batch.state)
    log_prob, entropies = policy.distribution.evaluate(logits, batch.action_mask, batch.action)
    log_ratio = log_prob - batch.log_prob
    ratio = log_ratio.exp()
    advantage = normalize(batch.advantage, batch.valid, joint)
    for factor in (batch.weight, batch.signal):
        if factor is not None:
            advantage = advantage * factor
    clipped = ratio.clamp(1 - ppo.clip, 1 + ppo.clip)
    policy_loss = masked_mean(-torch.minimum(ratio * advantage, clipped * advantage), batch.valid, joint)

    target = batch.value + batch.advantage
    error = (value - target).square()
    if ppo.value_clip > 0:
        clipped_value = batch.value + (value - batch.value).clamp(-ppo.value_clip, ppo.value_clip)
        error = torch.maximum(error, (clipped_value - target).square())
    if batch.weight is not None:
        error = error * batch.weight
    value_loss = 0.5 * masked_mean(error, batch.valid, joint)

    entropy = masked_mean(entropies, batch.valid, joint)
    entropy_coef = ppo.entropy_coef if entropy_coef is None else entropy_coef
    if batch.signal is not None:
        entropy_coef = entropy_coef * batch.signal
    terms = {"policy": policy_loss, "value": value_loss, "entropy": entropy}
    if own is not None:
        share = 1.0 if joint is None else batch.valid.sum().clamp(min=1) / joint.count
        outputs = Outputs(logits, value, hidden[0], log_prob, entropies, ratio, advantage.detach(), policy)
        terms |= own.terms(batch, outputs, share)
    loss = terms["policy"] + ppo.value_coef * terms["value"] - entropy_coef * terms["entropy"]
    loss = sum((term for name, term in terms.items() if name not in REPLACED), loss)
    with torch.no_grad():
        parts = {"entropy" if name == "entropy" else f"loss_{name}": term for name, term in terms.items()}
        parts |= {"kl": masked_mean(ratio - 1 - log_ratio, batch.valid, joint),  # Schulman's k3 estimate, never negative
                 "clip_fraction": masked_mean(((ratio - 1).abs() > ppo.clip).float(), batch.valid, joint)}
    return loss, {name: part.detach() for name, part in parts.items()}, ratio.detach()


def explained_variance(advantage, value, valid, ranks: Ranks = ALONE) -> torch.Tensor:
    """1 - Var(target - value) / Var(target) over the valid steps of all ranks.

    It is 1 for a perfect critic, and 0 for one that predicts only the mean.
    """
    def variance(x):
        if ranks.joined:
            return joint_statistics(x, valid, ranks).variance
        return masked_mean((x - masked_mean(x, valid)).square(), valid)

    return 1 - variance(advantage) / variance(value + advantage).clamp(min=1e-8)


def raise_not_finite(history: list[dict[str, torch.Tensor]]):
    """Raise LearningError that names the first diagnostic that is not finite, and its minibatch.

    history: the diagnostics of each minibatch.
    """
    for k, parts in enumerate(history):
        for name, part in parts.items():
            if not torch.isfinite(part):
                raise LearningError(f"{NAMES.get(name, name)} is {part.item()} in minibatch {k + 1} of {len(history)} of an "
                                    "update")
