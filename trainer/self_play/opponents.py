"""The opponents' moves in self-play: each policy of the pool sees the rows in which it plays, in one batch."""

from types import SimpleNamespace

import numpy as np
import torch

from trainer import kernels
from trainer.policy.policy import Policy, StepSpace
from trainer.self_play.pool import Pool

SEED_OFFSET = 1 << 61  # opponents sample by other random numbers than the learner


class Opponents:
    """Policies of a pool, and what they remember of the games that they play: one row an environment.

    pool: who they are; policy: one of their kind; source: whose environments; seed: of the sampling, which the environment's
    number and that of its half steps so far key beside it.
    """

    def __init__(self, pool: Pool, policy: Policy, source, device: torch.device, seed: int):
        self.pool, self.policy, self.device, self.seed = pool, policy, device, seed + SEED_OFFSET
        count, frames, self.first = source.num_envs, policy.frames, source.env.first
        byte = source.observation_dtype == "uint8"
        dtype = torch.uint8 if byte else policy.precision
        self.frames = torch.zeros(frames, count, *source.observation_shape, dtype=dtype, device=device)
        self.starts = torch.zeros(frames, count, device=device)  # 1 where that frame is the first of its game
        self.h, self.c = policy.initial_state(count, device)
        self.new = torch.ones(count, device=device)              # 1 where the next frame is the first
        self.space = StepSpace(policy, count, device)
        self.out = torch.zeros(count, policy.num_actions + 1, device=device)
        self.action = torch.zeros(count, dtype=torch.int32, device=device)
        self.log_prob, self.value = torch.zeros(count, device=device), torch.zeros(count, device=device)

    def forget(self, environments: np.ndarray):
        """New games begin in these."""
        self.new[torch.from_numpy(environments).to(self.device)] = 1

    @torch.no_grad()
    def act(self, lo: int, rows: np.ndarray, opponent: np.ndarray, step: int, host: dict, actions: np.ndarray):
        """Choose moves for rows (R,) of the batch that begins at environment `lo`: actions[rows] are written.

        opponent: (B,) int64, who plays in each row. step: of the run, for the sampling. host: the batch's arrays, of which the
        observations are those of the side to move.
        """
        whole = slice(lo, lo + len(actions))
        for number in np.unique(opponent[rows]):
            self._see(self.pool.player(int(number)), lo, torch.from_numpy(rows[opponent[rows] == number]), host["observation"])
        mask = host.get("action_mask")
        legal = None if mask is None else torch.from_numpy(mask).to(self.device)
        kernels.sample(self.out[whole], legal, self.seed, self.first + lo, step, self.action[whole], self.log_prob[whole],
                       self.policy.num_actions, self.value[whole])
        actions[rows] = self.action[whole].cpu().numpy()[rows]

    def _see(self, player, lo: int, rows: torch.Tensor, observation: np.ndarray):
        """One player's forward in some rows: their logits go to `out`, what it remembers moves on."""
        network, weights = player
        seen = torch.from_numpy(observation)[rows].to(self.device)
        at = (rows + lo).to(self.device)
        if network.normalizer is not None:
            seen = network.normalizer(seen, torch.empty_like(seen))
        frames = torch.cat([self.frames[1:, at], seen[None].to(self.frames.dtype)])
        starts = torch.cat([self.starts[1:, at], self.new[at][None]])
        self.frames[:, at], self.starts[:, at] = frames, starts
        self.new[at] = 0
        space = part(self.space, len(rows))
        x = frames[0][:, None]
        if network.needs_preprocessing(frames.dtype):
            x = network.preprocess(frames, starts, 0, space.seen)[0]
        h, c = self.h[at], self.c[at]
        keep = 1 - starts[-1]  # the step forgets c by it, and takes h as already forgotten
        h *= keep.to(h.dtype)[:, None]
        self.out[at] = network.step(weights, x, keep, torch.ones_like(keep), h, c, space)
        self.h[at], self.c[at] = h, c

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint: (N, ...) each."""
        kept = {"frames": self.frames.transpose(0, 1), "starts": self.starts.t(), "h": self.h, "c": self.c, "new": self.new}
        return {f"self_play.{name}": tensor for name, tensor in kept.items()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


def part(space: StepSpace, count: int) -> SimpleNamespace:
    """The first `count` rows of a step's memory."""
    rows = {name: getattr(space, name)[:count] for name in ("encoded", "hidden", "hidden32", "out")}
    return SimpleNamespace(seen=space.seen[:, :count], core={name: one[:count] for name, one in space.core.items()}, **rows)
