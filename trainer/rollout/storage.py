"""The tensors of one rollout: T steps of N environments, time first.

The slab of step t holds the observation, and the reward and flags of the action before it. After a flag the environment resets
in the next step, whatever the action ("next_step" autoreset); after a lost life under `life_loss_info` it plays on instead, in
a step that is not learned from, and the policy forgets what was before. So at step t

    over[t]  = terminated[t] or truncated[t]: observation t is the last of its episode, and the action at t has no effect;
    valid[t] = 1 - over[t]: the transition of step t is used for learning;
    start[t] = over[t - 1]: observation t is the first of an episode, and the policy's memory is zeroed before it.

Therefore the value of a truncated episode's last observation, which bootstraps it, is value[t].
"""

from dataclasses import dataclass, fields

import torch

from bridge import Pipeline
from trainer import kernels
from trainer.policy.policy import Policy

SAMPLES = 8  # steps of a rollout from which observations are sampled for their statistics


@dataclass
class Storage:
    """One rollout. One extra row holds the result of the last step.

    For a policy that reads K frames, K - 1 rows before step 0 of `frames` and `starts` hold the frames before the rollout.
    """

    frames: torch.Tensor        # (K - 1 + T + 1, N, *shape) uint8 or the policy's precision
    starts: torch.Tensor        # (K - 1 + T + 1, N) float32
    action: torch.Tensor        # (T, N) int32; (T, N, M) int32 or (T, N, D) float32 for other kinds (bridge/actions.py)
    log_prob: torch.Tensor      # (T, N) float32
    value: torch.Tensor         # (T + 1, N) float32
    reward: torch.Tensor        # (T + 1, N) float32; reward[t] came with observation t
    terminated: torch.Tensor    # (T + 1, N) float32
    truncated: torch.Tensor     # (T + 1, N) float32
    action_mask: torch.Tensor | None   # (T, N, A) uint8
    h: torch.Tensor             # the memory before step 0, as in Policy.initial_state
    c: torch.Tensor
    sample: torch.Tensor | None = None  # (S, N, *shape) float32: raw observations, for the normalizer

    @classmethod
    def empty(cls, horizon: int, pipeline: Pipeline, policy: Policy) -> "Storage":
        """Zeroed storage for the pipeline's environments and the policy, on the pipeline's device."""
        n, device, before = pipeline.num_envs, pipeline.device, policy.frames - 1
        slab = pipeline.slab(pipeline.batches[0])
        dtype = torch.uint8 if slab.observation.dtype == torch.uint8 else policy.precision
        action_mask = None if slab.action_mask is None else \
            torch.zeros(horizon, n, pipeline.num_actions, dtype=torch.uint8, device=device)
        rows = {name: torch.zeros(horizon + 1, n, device=device) for name in ("value", "reward", "terminated", "truncated")}
        h, c = policy.initial_state(n, device)
        sample = None if policy.normalizer is None else torch.zeros(
            -(-horizon // sample_period(horizon)), n, *slab.observation.shape[1:], device=device)
        frames = kernels.new_rows(before + horizon + 1, n, slab.observation.shape[1:], dtype, device,
                                  apart=policy.reads_rows(dtype))
        return cls(frames=frames,
                   starts=torch.zeros(before + horizon + 1, n, device=device),
                   action=torch.zeros(horizon, n, *slab.actions.shape[1:], dtype=slab.actions.dtype, device=device),
                   log_prob=torch.zeros(horizon, n, device=device), action_mask=action_mask, h=h, c=c, sample=sample, **rows)

    @property
    def horizon(self) -> int:
        """T."""
        return len(self.action)

    @property
    def sample_period(self) -> int:
        """Number of steps that share a row of `sample`; each overwrites the one before."""
        return sample_period(self.horizon)

    @property
    def before(self) -> int:
        """Number of rows before step 0: K - 1."""
        return len(self.frames) - self.horizon - 1

    @property
    def observation(self) -> torch.Tensor:
        """(T + 1, N, *shape)."""
        return self.frames[self.before:]

    @property
    def start(self) -> torch.Tensor:
        """(T + 1, N) float32."""
        return self.starts[self.before:]

    @property
    def valid(self) -> torch.Tensor:
        """(T, N) float32: 0 if the environment only reset in this step."""
        return 1 - torch.maximum(self.terminated[:-1], self.truncated[:-1])

    @property
    def last(self) -> dict[str, torch.Tensor]:
        """The K - 1 rows of frames and starts that the next rollout has before its step 0."""
        rows = slice(self.horizon, self.horizon + self.before)
        return {"frames": self.frames[rows], "starts": self.starts[rows]}

    def columns(self, rows: slice) -> kernels.Columns:
        """The columns of some environments, for the steps from step 0 on."""
        names = ("observation", "start", "reward", "terminated", "truncated", "action_mask", "action", "log_prob", "value")
        tensors = [getattr(self, name) for name in names]
        return kernels.Columns(*(None if tensor is None else tensor[:, rows] for tensor in tensors))

    def state(self) -> dict[str, torch.Tensor]:
        """All tensors by name, in the storage's own memory."""
        tensors = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    def environment_dims(self) -> dict[str, int]:
        """The environment dimension of each tensor of `state()`."""
        return {name: 0 if name in ("h", "c") else 1 for name in self.state()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Copy the result of `state`, of this or of an equal storage."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def roll(self):
        """Copy the last frames to the rows before step 0, for a new rollout."""
        for name, rows in self.last.items() if self.before else ():
            getattr(self, name)[: self.before] = rows.clone()

    def advantages(self, reward, gamma: float, lam: float, **options) -> torch.Tensor:
        """Advantages (T, N) float32.

        reward: (T, N).
        gamma, lam: discount and decay of generalized advantage estimation.
        options: ratio, rho_clip, c_clip and out of `kernels.advantages`.
        """
        return kernels.advantages(reward, self.terminated[1:], self.truncated[1:], self.valid, self.value, gamma, lam,
                                  **options)


def sample_period(horizon: int) -> int:
    """Number of steps of a rollout that share a row of its sample of observations."""
    return horizon // SAMPLES or 1
