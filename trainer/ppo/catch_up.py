"""Learning from a rollout that an older policy has played, as with the setting `overlap`."""

import torch

from bridge.device import HostStream
from bridge.graphs import Captured, Graphs
from trainer.policy.policy import Policy
from trainer.rollout.storage import Storage


class CatchUp:
    """Brings a stored rollout up to the present policy.

    An older policy mu has played the rollout, which stores its log-probabilities and its critic's values. A call replaces them
    by those of the present policy pi and its critic, and writes the ratios pi / mu to `lag`. With these ratios
    `kernels.advantages` is V-trace (Espeholt et al., 2018, "IMPALA: Scalable Distributed Deep-RL with Importance Weighted
    Actor-Learner Architectures", arXiv:1802.01561, equation 1 and remark 2). For a transition inside an episode, with
    rho_t = min(rho_clip, pi / mu) and c_t = gae_lambda * min(c_clip, pi / mu), the targets are

        v_t = V_t + rho_t (r_t + gamma V_{t+1} - V_t) + gamma c_t (v_{t+1} - V_{t+1})

    and the advantages v_t - V_t. If both clips are equal and gae_lambda is 1, these are the paper's advantages,
    rho_t (r_t + gamma v_{t+1} - V_t). If mu is pi, they are those of generalized advantage estimation.

    Since the rollout then stores pi, PPO clips the change from the policy at the start of the update, whichever policy has
    played (Hilton et al., 2021, "Batch size-invariance for policy optimization", arXiv:2110.00641, section 3).

    The memory before the first step stays that of mu.

    sequences: number of sequences that are unrolled together; a divisor of their number.
    stream: the learner's, in which it is called.
    graphs: capture the work as a graph if the device can; ranks do not wait for each other in it.
    """

    def __init__(self, policy: Policy, storage: Storage, sequences: int, stream: HostStream, graphs: bool):
        self.policy, self.storage = policy, storage
        self.lag = torch.ones_like(storage.log_prob)
        self._groups = torch.arange(storage.log_prob.shape[1], device=self.lag.device).split(sequences)
        self._group = self._groups[0].clone()  # in memory that a captured graph reads
        self._captured = Captured("the present policy's evaluation of a rollout", self._evaluate, stream, Graphs(graphs))

    def __call__(self):
        for group in self._groups:
            self._group.copy_(group)
            self._captured()

    @torch.no_grad()
    def _evaluate(self):
        """Bring the sequences numbered in `_group` up to date."""
        policy, storage, group = self.policy, self.storage, self._group

        def columns(tensor):
            return None if tensor is None else tensor.index_select(1, group)

        starts = columns(storage.starts)
        inputs = policy.preprocess_rollout(columns(storage.frames), starts)
        logits, value = policy.unroll(inputs, starts[storage.before:], (storage.h[group], storage.c[group]))
        log_prob, _ = policy.distribution.evaluate(logits[:-1], columns(storage.action_mask), columns(storage.action))
        self.lag.index_copy_(1, group, (log_prob - columns(storage.log_prob)).exp())
        storage.log_prob.index_copy_(1, group, log_prob)
        storage.value.index_copy_(1, group, value)
