"""Running means and variances: of observations, and of discounted returns that rewards are measured by."""

import torch
from torch import nn

from trainer.ranks import ALONE, Ranks

CLIP = 10.0  # deviations that a normalized observation may be away from the mean


class Moments(nn.Module):
    """The mean and variance of rows of `shape` that came so far, merged batch by batch (Chan et al., 1979, "Updating formulae
    and a pairwise algorithm for computing sample variances"); buffers, so that they are saved with what they belong to."""

    def __init__(self, shape: tuple[int, ...]):
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape, dtype=torch.float64))
        self.register_buffer("square", torch.zeros(shape, dtype=torch.float64))  # sum of squared differences from the mean
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def merge(self, mean, square, count):
        """Take in `count` rows with this mean and sum of squared differences from it."""
        total = self.count + count
        delta = mean - self.mean
        self.mean += delta * (count / total)
        self.square += square + delta * delta * (self.count * count / total)
        self.count.copy_(total)

    def add(self, rows: torch.Tensor, ranks: Ranks = ALONE):
        """Take in rows (n, *shape), those of each rank."""
        rows = rows.double()
        mean = rows.mean(0)
        square = (rows - mean).square().sum(0)
        count = torch.tensor(float(len(rows)), dtype=torch.float64, device=rows.device)
        for part in zip(ranks.rows(mean), ranks.rows(square), ranks.rows(count), strict=True):
            self.merge(*part)

    @property
    def deviation(self) -> torch.Tensor:
        """float64 of `shape`; 1 before anything came, and where nothing varies."""
        variance = self.square / self.count.clamp(min=1)
        return torch.where(variance > 1e-8, variance, torch.ones_like(variance)).sqrt()


class ObservationNorm(Moments):
    """Observations (B, *shape) brought to mean 0 and deviation 1, within CLIP. What it does changes only in `update`, between
    rollouts, so that a rollout and what is learned from it see the same numbers."""

    def __init__(self, shape: tuple[int, ...]):
        super().__init__(shape)
        self.register_buffer("shift", torch.zeros(shape))
        self.register_buffer("factor", torch.ones(shape))

    def forward(self, observation, out=None):
        """Normalized observations, into `out` where it is given."""
        out = torch.sub(observation, self.shift, out=out)
        return out.mul_(self.factor).clamp_(-CLIP, CLIP)

    def update(self, rows: torch.Tensor, ranks: Ranks = ALONE):
        """Take in raw observations (n, *shape), those of each rank, and normalize by them from now on."""
        self.add(rows, ranks)
        self.shift.copy_(self.mean)
        self.factor.copy_(1 / self.deviation)


class RewardNorm(Moments):
    """Rewards divided by the deviation of the discounted return that every environment has gathered so far (as OpenAI's
    baselines do); they are not shifted, so that their signs stay."""

    def __init__(self, num_envs: int):
        super().__init__(())
        self.register_buffer("gathered", torch.zeros(num_envs))

    def forward(self, reward, over, gamma: float, ranks: Ranks = ALONE):
        """Scaled rewards (T, N) of a rollout, of raw ones and of its ends (T, N), 1.0 where an episode ended; the deviation is
        that over all ranks."""
        gathered = torch.empty_like(reward)
        for t in range(len(reward)):
            self.gathered.mul_(gamma).add_(reward[t])
            gathered[t] = self.gathered
            self.gathered.mul_(1 - over[t])
        self.add(gathered.view(-1), ranks)
        return reward / self.deviation.float()
