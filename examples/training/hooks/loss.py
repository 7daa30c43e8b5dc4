"""Losses of your own: another algorithm, and a further term, in one file.

    insertcoin cartpole --loss examples.training.hooks.loss:simple_policy_optimization
    insertcoin cartpole --loss examples.training.hooks.loss:smooth

A loss gets the minibatch and the policy's outputs, and returns named scalar tensors. `policy`, `value` and `entropy` replace
PPO's own terms; others are added. All are logged (as loss_NAME). Means are taken over valid steps only: the others belong to
resets.
"""

from torch import Tensor

from trainer.ppo.losses import Minibatch, masked_mean
from trainer.ppo.own_code import Outputs

EPSILON = 0.2


def simple_policy_optimization(batch: Minibatch, outputs: Outputs) -> dict[str, Tensor]:
    """The policy loss of SPO in place of PPO's: no clipping, but a quadratic penalty that keeps the ratio near 1.

    Xie et al. (2024), "Simple Policy Optimization", arXiv:2401.16025.
    """
    ratio, advantage = outputs.ratio, outputs.advantage
    gain = ratio * advantage - advantage.abs() / (2 * EPSILON) * (ratio - 1).square()
    return {"policy": -masked_mean(gain, batch.valid)}


def smooth(batch: Minibatch, outputs: Outputs) -> dict[str, Tensor]:
    """PPO with a further term: values of neighbouring steps of an episode shall differ little."""
    inside = (1 - batch.start[1:]) * batch.valid[1:]  # both steps belong to the same episode
    return {"smoothness": 0.01 * masked_mean(outputs.value.diff(dim=0).square(), inside)}
