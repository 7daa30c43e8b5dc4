"""Minibatches of sequences that are drawn by priority: those with large advantages more often, and with less weight."""

import torch

from trainer.config import PPOConfig
from trainer.ranks import Ranks
from trainer.rollout.storage import Storage


class Prioritized:
    """Draws the minibatches of a step of the optimizer, with replacement. A rank draws from its own sequences.

    The weight w_i = (N p_i)^-beta of a sequence corrects the bias of its probability p_i (Schaul et al., 2015, "Prioritized
    Experience Replay", arXiv:1511.05952, section 3.4). The weights are scaled so that their mean is 1 over the valid steps of
    all minibatches of the step: a weighted sum over these steps, divided by their number, is divided by the sum of the weights.

    storage: has the rollout.
    order: (K, S) int64, OUT the sequences of each minibatch.
    generator: the same on all ranks.
    weights: (K, S) float32, of the sequences in `order`.
    """

    def __init__(self, storage: Storage, order: torch.Tensor, ppo: PPOConfig, generator: torch.Generator, ranks: Ranks):
        self.storage, self.order, self.ppo, self.generator, self.ranks = storage, order, ppo, generator, ranks
        self.weights = torch.ones(order.shape, device=order.device)
        self.probability: torch.Tensor | None = None  # (N,) float64 on the CPU: of drawing each sequence
        self.lengths: torch.Tensor | None = None      # (N,) float64 on the CPU: its valid steps

    def begin(self):
        """The advantages have changed: the next call reads them."""
        self.probability = None

    def draw(self, advantage: torch.Tensor):
        """Draw sequences by their advantages (T, N) and set their weights. All ranks call it."""
        if self.probability is None:
            self.probability = priorities(advantage, self.storage.valid, self.ppo.priority_alpha)
            self.lengths = self.storage.valid.sum(0).cpu().double()
        ranks, count = self.ranks, self.order.numel()
        # All ranks draw as many random numbers, and each uses its own part of them.
        drawn = torch.multinomial(self.probability, count * ranks.size, replacement=True, generator=self.generator)
        drawn = drawn[ranks.rank * count: (ranks.rank + 1) * count]
        weight, length = (len(self.probability) * self.probability[drawn]).pow(-self.ppo.priority_beta), self.lengths[drawn]
        steps, total = ranks.rows(torch.stack([length.sum(), (weight * length).sum()])).sum(0)
        self.order.view(-1).copy_(drawn)
        self.weights.view(-1).copy_(weight * (steps / total) if total > 0 else weight)


def priorities(advantage, valid, alpha: float) -> torch.Tensor:
    """The probability of drawing each sequence, p_i ~ (mean |A_i|)^alpha over its valid steps: (N,) float64 on the CPU.

    If some advantages are not finite, only their sequences are drawn: the loss then names the fault, on all ranks.
    """
    size = ((advantage.abs() * valid).sum(0) / valid.sum(0).clamp(min=1)).cpu().double() + 1e-6
    fault = ~torch.isfinite(size)
    priority = fault.double() if fault.any() else (size / size.max()).pow(alpha)
    return priority / priority.sum()
