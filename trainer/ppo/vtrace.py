"""Advantages and the targets of values, estimated again within an update, as the setting `vtrace` asks.

V-trace (Espeholt et al., 2018, arXiv:1802.01561, section 4.1) estimates the values of the present policy pi from a rollout of
another one. For a transition inside an episode, with rho_t = min(rho_clip, r_t), c_t = gae_lambda * min(c_clip, r_t) and
r_t = pi / mu, as the loss had it when it last learned from the sequence (1 before that), the targets are

    v_t = V_t + rho_t (r_t + gamma V_{t+1} - V_t) + gamma c_t (v_{t+1} - V_{t+1})

and the policy's gradient has rho_t times the advantage r_t + gamma v_{t+1} - V_t (section 4.2). PPO's loss has the ratio of the
new probabilities to the rollout's already, so here the advantage has none:

    A_t = r_t + gamma (V_{t+1} + gae_lambda (v_{t+1} - V_{t+1})) - V_t

With gae_lambda 1 this is the paper's. If all ratios are 1, both A_t and v_t - V_t are generalized advantage estimation.
"""

import torch

from trainer.config import PPOConfig
from trainer.rollout.storage import Storage


class VTrace:
    """Estimates by the ratios of the learner's probabilities to the rollout's.

    ratio: (T, N), written by the loss; 1 before a sequence's first minibatch of an update.
    value_error: (T, N), v_t - V_t.
    """

    def __init__(self, storage: Storage, ppo: PPOConfig):
        self.storage, self.ppo = storage, ppo
        self.ratio = torch.ones_like(storage.log_prob)
        self.value_error = torch.zeros_like(storage.log_prob)

    def estimate(self, reward: torch.Tensor, lag: torch.Tensor | None, advantage: torch.Tensor):
        """Write the advantages to `advantage` (T, N), and `value_error`.

        reward: (T, N).
        lag: (T, N), the probabilities that the ratios compare with, over those of the policy that played; None if that is the
            same. No ratio of the loss has this factor, so the advantages do.
        """
        storage, ppo = self.storage, self.ppo
        storage.advantages(reward, ppo.gamma, ppo.gae_lambda, ratio=self.ratio if lag is None else self.ratio * lag,
                           rho_clip=ppo.rho_clip, c_clip=ppo.c_clip, out=self.value_error)
        value, alive = storage.value, 1 - storage.terminated[1:]
        advantage.copy_(reward + ppo.gamma * alive * value[1:] - value[:-1])
        inside = alive * (1 - storage.truncated[1:])
        advantage[:-1] += ppo.gamma * ppo.gae_lambda * inside[:-1] * self.value_error[1:]
        advantage.mul_(storage.valid if lag is None else storage.valid * lag.clamp(max=ppo.rho_clip))
