"""Exploration with random numbers that stay the same for some steps.

Noise that stays moves a slow system farther than noise that is drawn anew in each step. Only one in four environments holds its
own (`kernels.Held`), since learning takes actions as independent of the steps before: with held noise in all environments
Pendulum-v1 is not learned. Log-probabilities are those of a single step, as for the held noise of gSDE (Raffin et al., 2021,
arXiv:2005.05719).
"""

import torch


def note_ends(may: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor):
    """Update which environments may hold their random numbers, by the ends of episodes in a step.

    An environment does so until one of its episodes terminates, and again from its next truncation on: an episode that is
    truncated may have stood still, and one that terminates has found what to avoid or to reach.

    may: IN, OUT (B,) float32, 0 or 1. terminated, truncated: (B,) float32, the flags of the step.
    """
    torch.maximum(may, truncated, out=may)
    torch.addcmul(may, may, terminated, value=-1, out=may)
