"""Statistics over the valid steps of a rollout, of all ranks together."""

import math

import torch

from trainer.kernels.loss.reference import Statistics, masked_mean
from trainer.ranks import ALONE, Ranks

EQUAL = 1e-20  # a variance below this is that of equal numbers


def joint_statistics(values, valid, ranks: Ranks) -> Statistics:
    """The statistics of `values` over all ranks; this rank passes its part.

    The parts are merged as in Chan et al., 1979 ("Updating formulae and a pairwise algorithm for computing sample variances").
    """
    wide, valid = values.double(), valid.double()
    mean = masked_mean(wide, valid)
    rows = ranks.rows(torch.stack([valid.sum(), mean, ((wide - mean).square() * valid).sum()]))
    return Statistics(*(one.to(values.dtype) for one in merged(rows)))


def merged(rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Count (at least 1), mean and variance of parts; rows: (K, 3, ...), count, mean and sum of squared differences of each."""
    counts, means, squares = rows.unbind(1)
    count = counts.sum(0).clamp(min=1)
    mean = (counts * means).sum(0) / count
    return count, mean, (squares + counts * (means - mean).square()).sum(0) / count


def statistics_of_minibatches(values, valid, order, ranks: Ranks = ALONE, group: int = 1, weight=None):
    """(K, 3) The count, mean and variance of `values` (T, N) over the valid steps of each minibatch, of all ranks together.

    order: (K, S) int64, this rank's columns of each minibatch.
    group: minibatches that make one step of the optimizer. Each gets the mean and variance of its whole group, and the group's
        count divided by `group`: the sum over the group of sums divided by it is `group` times their mean over all steps.
    weight: (K, S) of each sequence, for weighted means; the count is the sum of the weights. None: all are 1.
    """
    wide, valid = (one.index_select(1, order.flatten()).double().unflatten(1, order.shape) for one in (values, valid))
    if weight is not None:
        valid = valid * weight
    count = valid.sum((0, 2))
    some = count.clamp(min=1e-9)  # a sum of weights may be less than 1
    mean = (wide * valid).sum((0, 2)) / some
    square = ((wide - mean[:, None]).square() * valid).sum((0, 2))
    if not ranks.joined and group == 1:
        return torch.stack([count.clamp(min=1), mean, square / some], 1).to(values.dtype)
    parts = ranks.rows(torch.stack([count, mean, square])).unflatten(2, (-1, group)).movedim(3, 1).flatten(0, 1)
    found = torch.stack(merged(parts), 1)
    found[:, 0] /= group
    return found[:, None].expand(-1, group, -1).flatten(0, 1).to(values.dtype)


def has_signal(reward, terminated, valid, ranks: Ranks = ALONE) -> torch.Tensor:
    """1.0 if the rewards of the valid steps of all ranks differ, or an episode terminated in one of these steps, else 0.0 ().

    reward, terminated, valid: (T, N) of this rank.
    """
    used = valid > 0
    least, most = (torch.where(used, reward, sign * math.inf) for sign in (1, -1))
    rows = ranks.rows(torch.stack([least.min(), most.max(), (terminated * valid).max()]))
    return ((rows[:, 0].min() < rows[:, 1].max()) | (rows[:, 2].max() > 0)).to(reward.dtype)


def explained_variance(advantage, value, valid, ranks: Ranks = ALONE) -> torch.Tensor:
    """1 - Var(target - value) / Var(target) over the valid steps of all ranks.

    It is 1 for a perfect critic, and 0 for one that predicts only the mean. Where all targets are equal (deviation below 1e-10)
    it is 1 if the errors are equal too, otherwise 0, as in scikit-learn's explained_variance_score.
    """
    def variance(x):
        if ranks.joined:
            return joint_statistics(x, valid, ranks).variance
        return masked_mean((x - masked_mean(x, valid)).square(), valid)

    error, target = variance(advantage), variance(value + advantage)
    return torch.where(target > EQUAL, 1 - error / target.clamp(min=EQUAL), (error <= EQUAL).to(error.dtype))
