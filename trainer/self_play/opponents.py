"""The opponents' moves in self-play. Each policy of the pool plays its rows of a batch together."""

from types import SimpleNamespace

import numpy as np
import torch

from trainer import kernels
from trainer.policy.policy import Policy, StepSpace
from trainer.self_play.pool import Pool

SEED_OFFSET = 1 << 61  # opponents do not sample with the learner's random numbers


class Opponents:
    """The policies of a pool and their recurrent states: one row for each of N environments.

    pool: the policies to play with.
    policy: any policy of the same kind; decides the shapes.
    source: the source whose environments are played.
    device: the policies' device.
    seed: of the sampling. The number of the environment and the number of the step are the other keys.
    """

    overlaps = False  # True if `queue` does not wait for the moves

    def __init__(self, pool: Pool, policy: Policy, source, device: torch.device, seed: int):
        self.pool, self.policy, self.device, self.seed = pool, policy, device, seed + SEED_OFFSET
        count, frames, self.first = source.num_envs, policy.frames, source.env.first
        byte = source.observation_dtype == "uint8"
        dtype = torch.uint8 if byte else policy.precision
        self.frames = torch.zeros(frames, count, *source.observation_shape, dtype=dtype, device=device)
        self.starts = torch.zeros(frames, count, device=device)  # 1 if this frame is the first of its game
        self.h, self.c = policy.initial_state(count, device)
        self.new = torch.ones(count, device=device)              # 1 if the next frame is the first of its game
        self.space = StepSpace(policy, count, device, self.frames.dtype)
        self.out = torch.zeros(count, policy.num_actions + 1, device=device)  # logits, then the value
        self.action = torch.zeros(count, dtype=torch.int32, device=device)
        self.log_prob, self.value = torch.zeros(count, device=device), torch.zeros(count, device=device)

    def forget(self, environments: np.ndarray):
        """Reset the recurrent state of these environments before their next observation: a new game begins."""
        self.new[torch.from_numpy(environments).to(self.device)] = 1

    @torch.no_grad()
    def queue(self, lo: int, rows: np.ndarray, opponent: np.ndarray, step: int, host: dict):
        """Begin to choose the moves of some rows of a batch of B environments.

        lo: number of the batch's first environment.
        rows: (R,) rows in which the opponent moves.
        opponent: (B,) int64, the number of the opponent in each row.
        step: steps since the run began; keys the sampling.
        host: the batch's arrays; observations and masks of the side to move. They must not change before `fetch`.
        """
        batch = slice(lo, lo + len(opponent))
        for number in np.unique(opponent[rows]):
            self._forward(self.pool.player(int(number)), lo, torch.from_numpy(rows[opponent[rows] == number]),
                          host["observation"])
        action_mask = host.get("action_mask")
        if action_mask is not None:
            action_mask = torch.from_numpy(action_mask).to(self.device)
        kernels.sample(self.out[batch], action_mask, self.seed, self.first + lo, step, self.action[batch], self.log_prob[batch],
                       self.policy.num_actions, self.value[batch])

    def fetch(self, lo: int, rows: np.ndarray, actions: np.ndarray):
        """Write the moves of the last `queue` of this batch to `rows` of actions (B,) int32."""
        actions[rows] = self.action[lo: lo + len(actions)].cpu().numpy()[rows]

    def _forward(self, player, lo: int, rows: torch.Tensor, observation: np.ndarray):
        """One player's forward pass in its rows: writes their logits to `out` and updates their recurrent states."""
        newest = torch.from_numpy(observation)[rows].to(self.device)
        at = (rows + lo).to(self.device)
        self._step(player, self, at, newest, self.new[at], part(self.space, len(rows)))
        self.new[at] = 0

    def _step(self, player, memory, at, newest, new, space):
        """One player's step in the rows `at` of `memory`: an object with frames, starts, h, c and out.

        newest: (R, *shape) observations; new: (R,), 1 if they are the first of a game.
        """
        policy, weights = player
        if policy.normalizer is not None:
            newest = policy.normalizer(newest, torch.empty_like(newest))
        frames = torch.cat([memory.frames[1:, at], newest[None].to(memory.frames.dtype)])
        starts = torch.cat([memory.starts[1:, at], new[None]])
        memory.frames[:, at], memory.starts[:, at] = frames, starts
        x = frames[0][:, None]
        if policy.needs_preprocessing(frames.dtype):
            x = policy.preprocess(frames, starts, 0, space.inputs)[0]
        h, c = memory.h[at], memory.c[at]
        keep = 1 - starts[-1]
        for state in (h, c):  # in a rollout the step before may have reset them, by `keep_next`; here that is always 1
            state *= keep.to(state.dtype).view(-1, *[1] * (state.ndim - 1))
        memory.out[at] = policy.step(weights, x, keep, torch.ones_like(keep), h, c, space)
        memory.h[at], memory.c[at] = h, c

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint, (N, ...) each."""
        tensors = {"frames": self.frames.transpose(0, 1), "starts": self.starts.t(), "h": self.h, "c": self.c,
                   "new": self.new}
        return {f"self_play.{name}": tensor for name, tensor in tensors.items()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Restore the result of `state`."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def environment_dims(self) -> dict[str, int | str]:
        """The environment dimension of each tensor of `state()`."""
        return dict.fromkeys(self.state(), 0)


def part(space: StepSpace, count: int) -> SimpleNamespace:
    """The first `count` rows of a step's buffers."""
    rows = {name: getattr(space, name)[:count] for name in ("encoded", "hidden", "hidden32", "out")}
    return SimpleNamespace(inputs=space.inputs[:, :count], core={name: one[:count] for name, one in space.core.items()}, **rows)
