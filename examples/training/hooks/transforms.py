"""Transforms of rewards and observations of your own.

    insertcoin seaquest --reward-transform examples.training.hooks.transforms:square_root
    insertcoin cartpole --observation-transform examples.training.hooks.transforms:with_squares

The first returns the rewards to learn from; the scores in the log stay raw. The second stands before the encoder, and belongs
to the policy: evaluations, films and exported files have it too.
"""

import torch
from torch import Tensor

from trainer.ppo.own_code import Rollout


def square_root(rollout: Rollout) -> Tensor:
    """Rewards (T, N) of very different sizes come closer together: sign(r) (sqrt(|r| + 1) - 1) + 0.001 r.

    Pohlen et al. (2018), "Observe and Look Further", arXiv:1805.11593, section 3.2.
    """
    reward = rollout.reward
    return reward.sign() * ((reward.abs() + 1).sqrt() - 1) + 0.001 * reward


def with_squares(observation: Tensor) -> Tensor:
    """(B, K, features) to (B, K, 2 * features): the features and their squares."""
    return torch.cat([observation, observation.square()], -1)
