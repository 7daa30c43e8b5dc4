"""Exploration with random numbers that stay the same for some steps."""

import torch

from trainer.policy.distributions import sample_and_store

SHARE = 4  # one in so many environments holds its random numbers
_SEED = 0xD1B54A32D192ED03  # between the seeds of held and of other random numbers


class HeldNoise:
    """Sampling in which every fourth environment uses the same random numbers for `steps` steps.

    Noise that stays moves a slow system farther than noise that is drawn anew in each step. The other environments draw it
    anew, since learning takes actions as independent of the steps before: with held noise in all environments Pendulum-v1 is
    not learned. Log-probabilities are those of a single step, as for the held noise of gSDE (Raffin et al., 2021,
    arXiv:2005.05719).

    With `hold`, an environment does so until one of its episodes terminates, and again from its next truncation on: an episode
    that is truncated may have stood still, and one that terminates has found what to avoid or to reach.

    distribution: one of trainer/policy/distributions.py.
    first, count: the environments of a batch, among those of all ranks.
    hold: (count,) float32, 1 in environments that may hold their random numbers, which `note` updates. None: always 1.
    """

    def __init__(self, distribution, steps: int, first: int, count: int, device: torch.device,
                 hold: torch.Tensor | None = None):
        held = range(-(-first // SHARE) * SHARE, first + count, SHARE)
        self.distribution, self.steps, self.first, self.hold = distribution, steps, held.start // SHARE, hold
        self.rows = torch.tensor([number - first for number in held], dtype=torch.int64, device=device)

    def note(self, terminated: torch.Tensor, truncated: torch.Tensor):
        """Take the flags of a step, (count,) float32 each."""
        if self.hold is not None:
            torch.maximum(self.hold, truncated, out=self.hold).mul_(1 - terminated)

    def sample(self, out, action_mask, seed: int, first: int, step, action, log_prob, value):
        """As `sample` of the distribution."""
        self.distribution.sample(out, action_mask, seed, first, step, action, log_prob, value)
        if not len(self.rows):
            return
        parts = [None if one is None else one[self.rows] for one in (out, action_mask, action, log_prob, value)]
        own, own_mask, *results = parts
        self.distribution.sample(own, own_mask, (seed + _SEED) % 2**64, self.first, step // self.steps, *results)
        for whole, part in zip((action, log_prob), results, strict=False):
            if self.hold is not None:
                may = self.hold[self.rows].bool().view(-1, *(1 for _ in part.shape[1:]))
                part = torch.where(may, part, whole[self.rows])
            whole.index_copy_(0, self.rows, part)

    sample_step = sample_and_store
