"""The driver between games and policy: batches of environments, each with its slab, stepped by one host thread.

    pipeline.reset()
    for t in range(horizon):
        for batch in pipeline.batches:
            slab = pipeline.receive(batch)      # what the games wrote last is on the device
            ...                                 # the policy fills slab.actions
            pipeline.send(batch)                # the actions go back and the games play on

A batch's games step only once its actions are back, and those come after its observations, so one slab a batch is safe: the
games never write what is still being read.
"""

import time
from typing import NamedTuple

import numpy as np
import torch

from bridge.slab import Slab


class BatchRange(NamedTuple):
    """Environments lo .. hi-1, stepped together."""

    index: int
    lo: int
    hi: int


class Pipeline:
    """N environments (an `envs_c.VecEnv` with autoreset "next_step") in `num_batches` batches, as even as can be.

    env_seconds and copy_seconds add up what stepping and carrying took; `take_episodes` gives what ended since last asked.
    """

    def __init__(self, env, num_batches: int = 1, device: str | torch.device = "cpu"):
        if not 1 <= num_batches <= env.num_envs:
            raise ValueError(f"num_batches is {num_batches}; it must be from 1 to the number of environments, {env.num_envs}")
        if env.autoreset != "next_step":
            raise ValueError(f"the pipeline takes environments with autoreset 'next_step', not {env.autoreset!r}")
        self.env = env
        self.num_envs = env.num_envs
        self.num_actions = len(env.actions)
        self.device = torch.device(device)
        edges = [env.num_envs * k // num_batches for k in range(num_batches + 1)]
        self.batches = [BatchRange(k, edges[k], edges[k + 1]) for k in range(num_batches)]
        masked = self.num_actions if env.game.has_mask else 0
        self._slabs = [Slab(b.hi - b.lo, env.observation_shape, env.observation_dtype, masked, device) for b in self.batches]
        self._bound = [env.bind(b.lo, b.hi, actions=slab.host_actions, **slab.host)
                       for b, slab in zip(self.batches, self._slabs, strict=True)]
        self._returns: list[np.ndarray] = []
        self._lengths: list[np.ndarray] = []
        self.env_seconds = 0.0
        self.copy_seconds = 0.0

    def reset(self):
        """Begin new episodes everywhere."""
        for bound, slab in zip(self._bound, self._slabs, strict=True):
            bound.reset()
            slab.to_device()

    def receive(self, batch: BatchRange) -> Slab:
        """The batch's slab, its observations, rewards and flags on the device."""
        return self._slabs[batch.index]

    def send(self, batch: BatchRange):
        """Take slab.actions to the batch's games, step them, and carry what they wrote to the device."""
        slab = self._slabs[batch.index]
        begin = time.perf_counter()
        slab.to_host()
        middle = time.perf_counter()
        if self._bound[batch.index].step():
            over = batch.lo + np.flatnonzero(self.env.ended[batch.lo: batch.hi])
            self._returns.append(self.env.ended_return[over])
            self._lengths.append(self.env.ended_length[over])
        stepped = time.perf_counter()
        slab.to_device()
        self.env_seconds += stepped - middle
        self.copy_seconds += time.perf_counter() - stepped + middle - begin

    def take_episodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Raw returns (float64) and lengths (int32, steps) of the episodes that ended since the last call."""
        returns = np.concatenate([np.empty(0), *self._returns])
        lengths = np.concatenate([np.empty(0, np.int32), *self._lengths])
        self._returns.clear()
        self._lengths.clear()
        return returns, lengths

    def state(self) -> dict[str, torch.Tensor]:
        """Environments and slabs as tensors of bytes, for a checkpoint between two steps."""
        envs = torch.frombuffer(bytearray(self.env.get_state()), dtype=torch.uint8)
        return {"environments": envs, **{f"slab{k}": slab.contents() for k, slab in enumerate(self._slabs)}}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave, in the same number of batches."""
        self.env.set_state(state["environments"].numpy().tobytes())
        for k, slab in enumerate(self._slabs):
            slab.restore(state[f"slab{k}"])
