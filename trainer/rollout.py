"""Time-major storage of one rollout, (T, N, ...), and `collect`, which fills it.

What the slab brings at step t belongs together: the observation and the reward and flags of the action before it. After a
flag the environments reset with the next step ("next_step" autoreset), whatever the action; so at step t

    over[t]  = the flags that came with observation t: it is the last of its episode, and the action at t does nothing;
    valid[t] = 1 - over[t]: whether the transition of step t is one to learn from;
    start[t] = over[t - 1]: observation t is the first of an episode, and the LSTM's state is zeroed before it.

The value of a truncated episode's last observation, after the LSTM's state there, is thereby simply value[t].
"""

import time
from dataclasses import dataclass

import torch

from bridge import Pipeline
from trainer import kernels
from trainer.policy import Policy


@dataclass
class Storage:
    """One rollout of T steps of N environments; flags, rewards and values have a row more, for what the last step brought."""

    observation: torch.Tensor   # (T, N, *shape) uint8 or the policy's precision
    action: torch.Tensor        # (T, N) int32
    log_prob: torch.Tensor      # (T, N) float32
    value: torch.Tensor         # (T + 1, N) float32
    reward: torch.Tensor        # (T + 1, N) float32, reward[t] came with observation t
    terminated: torch.Tensor    # (T + 1, N) float32
    truncated: torch.Tensor     # (T + 1, N) float32
    start: torch.Tensor         # (T + 1, N) float32
    action_mask: torch.Tensor | None   # (T, N, A) uint8
    h: torch.Tensor             # (N, n) the LSTM's state at step 0
    c: torch.Tensor             # (N, n) float32

    @classmethod
    def empty(cls, horizon: int, pipeline: Pipeline, policy: Policy) -> "Storage":
        """Zeroed storage that fits a pipeline and a policy, on the pipeline's device."""
        n, device = pipeline.num_envs, pipeline.device
        slab = pipeline.receive(pipeline.batches[0])
        dtype = torch.uint8 if slab.observation.dtype == torch.uint8 else policy.precision
        mask = None if slab.action_mask is None else \
            torch.zeros(horizon, n, pipeline.num_actions, dtype=torch.uint8, device=device)
        rows = {name: torch.zeros(horizon + 1, n, device=device)
                for name in ("value", "reward", "terminated", "truncated", "start")}
        h, c = policy.initial_state(n, device)
        return cls(observation=torch.zeros(horizon, n, *slab.observation.shape[1:], dtype=dtype, device=device),
                   action=torch.zeros(horizon, n, dtype=torch.int32, device=device),
                   log_prob=torch.zeros(horizon, n, device=device), action_mask=mask, h=h, c=c, **rows)

    @property
    def horizon(self) -> int:
        return len(self.action)

    @property
    def valid(self) -> torch.Tensor:
        """(T, N) float32: 0 where the environment only reset."""
        return 1 - torch.maximum(self.terminated[:-1], self.truncated[:-1])

    def advantages(self, gamma: float, lam: float, reward_scale: float = 1.0) -> torch.Tensor:
        """(T, N) float32; rewards are multiplied by `reward_scale` first."""
        reward = self.reward[1:] if reward_scale == 1.0 else self.reward[1:] * reward_scale
        return kernels.advantages(reward, self.terminated[1:], self.truncated[1:], self.valid, self.value, gamma, lam)


class Actor:
    """What acts between rollouts: the policy, the LSTM's state of every environment, and which episode just ended."""

    def __init__(self, policy: Policy, pipeline: Pipeline, seed: int):
        self.policy, self.pipeline, self.seed = policy, pipeline, seed
        self.step = 0  # steps taken by every environment; with the seed and the environment it keys the sampling
        self.h, self.c = policy.initial_state(pipeline.num_envs, pipeline.device)
        self.over = torch.zeros(pipeline.num_envs, device=pipeline.device)  # flags of the last but one observation
        self.seconds = {"forward": 0.0, "sample": 0.0}

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint: everything but the policy's weights and `step`."""
        return {"h": self.h, "c": self.c, "over": self.over}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        for name, tensor in state.items():
            getattr(self, name).copy_(tensor)


@torch.no_grad()
def collect(actor: Actor, storage: Storage):
    """Play one rollout into `storage`; the actor goes on from where it stopped."""
    policy, pipeline = actor.policy, actor.pipeline
    weights = policy.cast_weights()
    storage.h.copy_(actor.h)
    storage.c.copy_(actor.c)
    for t in range(storage.horizon):
        for batch in pipeline.batches:
            slab = pipeline.receive(batch)
            rows = slice(batch.lo, batch.hi)
            begin = time.perf_counter()
            keep, keep_next = take(storage, t, rows, slab, actor.over)
            storage.observation[t, rows].copy_(slab.observation)
            out = policy.step(weights, storage.observation[t, rows], keep, keep_next, actor.h[rows], actor.c[rows])
            middle = time.perf_counter()
            if storage.action_mask is not None:
                storage.action_mask[t, rows] = slab.action_mask
            kernels.sample(out, slab.action_mask, actor.seed, batch.lo, actor.step, slab.actions,
                           storage.log_prob[t, rows], policy.num_actions)
            storage.action[t, rows] = slab.actions
            storage.value[t, rows] = out[:, -1]
            actor.seconds["forward"] += middle - begin
            actor.seconds["sample"] += time.perf_counter() - middle
            pipeline.send(batch)
        actor.step += 1
    bootstrap(actor, storage, weights)


def take(storage: Storage, t: int, rows: slice, slab, over):
    """Store what came with observation t; returns keep and keep_next (B,), and moves `over` (N,) on to step t."""
    storage.reward[t, rows] = slab.reward
    storage.terminated[t, rows] = slab.terminated
    storage.truncated[t, rows] = slab.truncated
    storage.start[t, rows] = over[rows]
    keep = 1 - over[rows]
    torch.maximum(slab.terminated, slab.truncated, out=over[rows])
    return keep, 1 - over[rows]


def bootstrap(actor: Actor, storage: Storage, weights):
    """The values after the last step; neither the LSTM's state nor `over` moves on."""
    over = actor.over.clone()
    for batch in actor.pipeline.batches:
        slab = actor.pipeline.receive(batch)
        rows = slice(batch.lo, batch.hi)
        keep, keep_next = take(storage, storage.horizon, rows, slab, over)
        observation = slab.observation.to(storage.observation.dtype)
        out = actor.policy.step(weights, observation, keep, keep_next, actor.h[rows].clone(), actor.c[rows].clone())
        storage.value[-1, rows] = out[:, -1]
