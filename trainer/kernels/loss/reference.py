"""The loss of proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347) in plain torch: the text to read.

It runs in float32, for actions of all kinds, and beneath a loss of the user's own. row.h has the same arithmetic for one step
of discrete actions, with the gradient written out; `gradient` is what the tests compare it with.

Shapes: T steps, N environments of a rollout, S sequences of a minibatch, A actions.
"""

from typing import NamedTuple

import torch

from trainer.kernels.actions import reference as actions

PARTS = ("loss_policy", "loss_value", "entropy", "kl", "clip_fraction")  # names of the results of the kernels


class Rollout(NamedTuple):
    """What the loss reads of a rollout. Tensors are contiguous."""

    action_mask: torch.Tensor | None  # (T, N, A) uint8
    action: torch.Tensor              # (T, N) int32
    log_prob: torch.Tensor            # (T, N) float32, as the following ones
    value: torch.Tensor
    advantage: torch.Tensor           # of the policy's loss
    value_error: torch.Tensor         # the value's target minus the value
    terminated: torch.Tensor
    truncated: torch.Tensor

    @classmethod
    def of(cls, storage, advantage, value_error) -> "Rollout":
        """The rollout in a storage, with these advantages and errors (T, N)."""
        return cls(storage.action_mask, storage.action, storage.log_prob, storage.value[:-1], advantage, value_error,
                   storage.terminated[:-1], storage.truncated[:-1])


class Statistics(NamedTuple):
    """Statistics of a quantity over valid steps, such as those of all ranks: scalars of its dtype."""

    count: torch.Tensor     # valid steps, at least 1
    mean: torch.Tensor
    variance: torch.Tensor


class Terms(NamedTuple):
    """The terms of the loss before their weights (scalars with gradients), and what they were made of (T, S)."""

    policy: torch.Tensor
    value: torch.Tensor
    entropy: torch.Tensor
    ratio: torch.Tensor      # r
    advantage: torch.Tensor  # A, normalized and weighted, without a gradient


def masked_mean(values, valid, joint: Statistics | None = None):
    """The mean over valid steps. With `joint`, this rank's share of the mean over all ranks: the shares add up to it."""
    return (values * valid).sum() / (valid.sum().clamp(min=1) if joint is None else joint.count)


def normalize(advantage, valid, joint: Statistics | None = None):
    """Advantages with mean 0 and deviation 1 over valid steps (with `joint`, over those of all ranks); 0 if constant."""
    mean = masked_mean(advantage, valid) if joint is None else joint.mean
    variance = masked_mean((advantage - mean).square(), valid) if joint is None else joint.variance
    return (advantage - mean) * valid / (variance.sqrt() + 1e-8)


def terms(log_prob, entropies, value, batch, clip: float, value_clip: float, joint: Statistics | None = None) -> Terms:
    """The terms of a minibatch.

    With r the new probability of an action over the old one, the policy loss is -min(r A, clip(r, 1 - clip, 1 + clip) A)
    (equation 7). The value loss is half the squared error of the new value, or of the new value clipped to within value_clip
    of the old value, whichever is larger. Each sequence has its weight in the means of policy loss and value loss. The weights
    have a mean of 1 over the valid steps, and `joint` is of the weighted advantages.

    log_prob, entropies, value: (T, S), of the present policy, with gradients.
    batch: has log_prob, value, advantage, value_error and valid (T, S) of the rollout; the `weight` (S,) of each sequence, or
        None; and `signal` (), a factor of the advantages, or None.
    joint: statistics of the advantages over more than the batch, if that is a rank's part of a minibatch, or one of several
        minibatches of a step. The results are then its shares, which add up to those of the whole.
    """
    ratio = (log_prob - batch.log_prob).exp()
    advantage = normalize(batch.advantage, batch.valid, joint)
    for factor in (batch.weight, batch.signal):
        if factor is not None:
            advantage = advantage * factor
    clipped = ratio.clamp(1 - clip, 1 + clip)
    policy = masked_mean(-torch.minimum(ratio * advantage, clipped * advantage), batch.valid, joint)

    target = batch.value + batch.value_error
    error = (value - target).square()
    if value_clip > 0:
        clipped_value = batch.value + (value - batch.value).clamp(-value_clip, value_clip)
        error = torch.maximum(error, (clipped_value - target).square())
    if batch.weight is not None:
        error = error * batch.weight
    return Terms(policy, 0.5 * masked_mean(error, batch.valid, joint), masked_mean(entropies, batch.valid, joint), ratio,
                 advantage)


def changes(log_prob, ratio, batch, clip: float, joint: Statistics | None = None) -> dict[str, torch.Tensor]:
    """How much the policy has changed, by name: an estimate of the divergence, and the part of clipped ratios."""
    with torch.no_grad():
        log_ratio = log_prob - batch.log_prob
        return {"kl": masked_mean(ratio - 1 - log_ratio, batch.valid, joint),  # Schulman's k3 estimate, never negative
                "clip_fraction": masked_mean(((ratio - 1).abs() > clip).float(), batch.valid, joint)}


class _Batch(NamedTuple):
    """The columns of a minibatch, as `terms` reads them."""

    log_prob: torch.Tensor
    value: torch.Tensor
    advantage: torch.Tensor
    value_error: torch.Tensor
    valid: torch.Tensor
    weight: torch.Tensor | None
    signal: None = None


def gradient(out, rollout: Rollout, numbers, statistics, weight, entropy_coef, clip: float, value_clip: float,
             value_coef: float, scale: float, dout, parts, ratios):
    """The gradient of the loss by the policy's outputs, for discrete actions: what the kernels compute, by autograd.

    out: (T, S, A + 1), logits and values.
    numbers: (S,) int64, the columns of this minibatch.
    statistics: (3,), valid steps of the minibatch, and mean and variance of their advantages; None to compute them.
    weight: (S,), of each sequence; or None.
    entropy_coef: (), weight of the entropy bonus.
    scale: factor of the gradient.
    dout: OUT like out.
    parts: OUT (5,), the numbers named in PARTS.
    ratios: OUT (T, N), only the columns of this minibatch; or None.
    """
    columns = (None if one is None else one.index_select(1, numbers) for one in rollout)
    action_mask, action, *figures, terminated, truncated = columns
    batch = _Batch(*figures, 1 - torch.maximum(terminated, truncated), weight)
    joint = None if statistics is None else Statistics(*statistics)
    with torch.enable_grad():
        outputs = out.detach().requires_grad_()
        log_prob, entropies = actions.categorical(outputs[..., :-1], action_mask, action)
        found = terms(log_prob, entropies, outputs[..., -1], batch, clip, value_clip, joint)
        loss = found.policy + value_coef * found.value - entropy_coef * found.entropy
        dout.copy_(torch.autograd.grad(loss * scale, outputs)[0])
    parts.copy_(torch.stack([*found[:3], *changes(log_prob, found.ratio, batch, clip, joint).values()]).detach())
    if ratios is not None:
        ratios.index_copy_(1, numbers, found.ratio.detach())


def end_minibatch(sums, norm, history, position, batches: int):
    """Write sums (k,) and the norm of the gradients to row position[1] of history (R, k + 1), and go on to the next minibatch.

    norm: (), or None to leave the last column as it is.
    position: (2,) int64, numbers of this minibatch in the order of `batches` minibatches, and in the update; OUT those of the
        next one.
    """
    row = position[1:].clone()
    history[:, :-1].index_copy_(0, row, sums[None])
    if norm is not None:
        history[:, -1].index_copy_(0, row, norm[None])
    position.add_(1)
    position[:1].remainder_(batches)
