"""Running statistics: observations are normalized by theirs, rewards are divided by the deviation of discounted returns."""

import torch
from torch import nn

from trainer.errors import LearningError
from trainer.ranks import ALONE, Ranks

CLIP = 10.0  # largest magnitude of a normalized observation or reward, in deviations
SAME = 1e-8  # numbers of a smaller variance do not vary


class Moments(nn.Module):
    """The mean and variance of all rows of `shape` so far.

    Batches are merged as in Chan et al., 1979 ("Updating formulae and a pairwise algorithm for computing sample variances").
    The numbers are buffers of the module, which saves them with it.
    """

    def __init__(self, shape: tuple[int, ...]):
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape, dtype=torch.float64))
        self.register_buffer("square", torch.zeros(shape, dtype=torch.float64))  # sum of squared differences from the mean
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def merge(self, mean, square, count):
        """Add `count` rows with this mean and sum of squared differences from it; count may be 0."""
        total = (self.count + count).clamp(min=1)
        delta = mean - self.mean
        self.mean += delta * (count / total)
        self.square += square + delta * delta * (self.count * count / total)
        self.count += count

    def add(self, rows: torch.Tensor, ranks: Ranks = ALONE):
        """Add rows (n, *shape) of this rank, and those of the other ranks."""
        rows = rows.double()
        mean = rows.mean(0)
        square = (rows - mean).square().sum(0)
        count = torch.tensor(float(len(rows)), dtype=torch.float64, device=rows.device)
        self.merge_all(mean, square, count, ranks)

    def merge_all(self, mean, square, count, ranks: Ranks):
        """`merge` the rows of this rank, and those of the other ranks."""
        for part in zip(ranks.rows(mean), ranks.rows(square), ranks.rows(count), strict=True):
            self.merge(*part)

    @property
    def deviation(self) -> torch.Tensor:
        """The standard deviation, float64 of `shape`; 1 before the first row, and for numbers that do not vary; NaN after a row
        that was not finite."""
        variance = self.square / self.count.clamp(min=1)
        return torch.where(variance <= SAME, torch.ones_like(variance), variance).sqrt()


class ObservationNorm(Moments):
    """Normalizes observations (B, *shape) to mean 0 and deviation 1, clipped to CLIP.

    The normalization changes only in `update`, between rollouts: the policy learns from the numbers it acted on.

    measured: for each number of a row, False if it is left as it is; None to normalize all.
    """

    def __init__(self, shape: tuple[int, ...], measured: list[bool] | None = None):
        super().__init__(shape)
        self.register_buffer("measured", None if measured is None else torch.tensor(measured), persistent=False)
        self.register_buffer("shift", torch.zeros(shape))
        self.register_buffer("factor", torch.ones(shape))

    def forward(self, observation, out=None):
        """Normalized observations, written to `out` if it is given."""
        out = torch.sub(observation, self.shift, out=out).mul_(self.factor)
        if self.measured is None:
            return out.clamp_(-CLIP, CLIP)
        return out.copy_(torch.where(self.measured, out.clamp(-CLIP, CLIP), out))

    def update(self, rows: torch.Tensor, ranks: Ranks = ALONE):
        """Add raw observations (n, *shape) of this rank and the other ranks, and use the new statistics from now on.

        Raises LearningError if they are not finite, on all ranks.
        """
        self.add(rows, ranks)
        if not torch.isfinite(self.mean).all():
            raise LearningError("the mean of the observations is not finite")
        shift, factor = self.mean, 1 / self.deviation
        if self.measured is not None:
            shift, factor = torch.where(self.measured, shift, 0.0), torch.where(self.measured, factor, 1.0)
        self.shift.copy_(shift)
        self.factor.copy_(factor)


class RewardNorm(Moments):
    """Divides rewards by the deviation of the discounted return, which each environment accumulates, and clips them to CLIP.

    Rewards are not shifted and keep their signs. This is what OpenAI's baselines do (VecNormalize). With `steps` the unit stays
    that of the first policies: later returns grow in it, and nothing is clipped. It is then at least the mean size of a reward,
    for the returns of rare rewards deviate little. Rewards of 0 do not count in that mean.

    steps: a number of valid steps. Rollouts that begin before it are added to the statistics, later ones only until there has
        been a reward other than 0. 0: all rollouts are added.
    """

    def __init__(self, num_envs: int, steps: int = 0):
        super().__init__(())
        self.steps = steps
        self.register_buffer("gathered", torch.zeros(num_envs))
        if steps:
            self.register_buffer("sizes", torch.zeros(2, dtype=torch.float64))  # sum of |reward|; rewards that are not 0

    def begin_episodes(self):
        """Forget the returns gathered so far: all environments begin new episodes. The statistics stay."""
        self.gathered.zero_()

    def forward(self, reward, over, valid, gamma: float, ranks: Ranks = ALONE):
        """The scaled rewards (T, N) of a rollout.

        reward: (T, N), raw.
        valid: (T, N), 0.0 for a step that only resets, else 1.0; the statistics are those of the valid steps.
        over: (T, N), 1.0 if the episode ended with this step, else 0.0.
        gamma: the discount.
        ranks: the deviation covers the returns of all ranks.
        """
        gathered = torch.empty_like(reward)
        self.gather(reward, over, gamma, gathered)
        return self.scaled(reward, gathered, valid, ranks)

    def gather(self, reward, over, gamma: float, out):
        """Write the discounted return after each step to `out` (T, N). A graph can capture it."""
        for t in range(len(reward)):
            self.gathered.mul_(gamma).add_(reward[t])
            out[t] = self.gathered
            self.gathered.mul_(1 - over[t])

    def scaled(self, reward, gathered, valid, ranks: Ranks = ALONE):
        """The scaled rewards, after the discounted returns `gathered` are added to the statistics."""
        wide, valid = gathered.double(), valid.double()
        if self.steps:
            valid = valid * ((self.count < self.steps) | (self.sizes[1] == 0))
            self.sizes += ranks.sum_(torch.stack([(reward.abs() * valid).sum(), ((reward != 0) * valid).sum()]))
        count = valid.sum()
        mean = (wide * valid).sum() / count.clamp(min=1)
        self.merge_all(mean, ((wide - mean).square() * valid).sum(), count, ranks)
        scaled = reward / self.unit.float()
        return scaled if self.steps else scaled.clamp_(-CLIP, CLIP)

    @property
    def unit(self) -> torch.Tensor:
        """What rewards are divided by, float64."""
        if not self.steps:
            return self.deviation
        unit = torch.maximum((self.square / self.count.clamp(min=1)).sqrt(), self.sizes[0] / self.sizes[1].clamp(min=1))
        return torch.where(unit == 0, torch.ones_like(unit), unit)
