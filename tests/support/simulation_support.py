"""A simulation on the device beside the compiled game: both step with the same actions, and all outputs are compared."""

import numpy as np
import torch
from cuda_on_cpu import CpuModule

import envs_c
from bridge.on_device.cartpole import MODULE, CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors

PARTS = ("observation", "reward", "terminated", "truncated")
N = 257


class Core:
    """The compiled game and its buffers."""

    def __init__(self, num_envs: int, seed: int, **settings):
        self.env = envs_c.VecEnv(envs_c.game("cartpole"), num_envs, seed=seed, **settings)
        self.actions = np.zeros(num_envs, np.int32)
        self.out = buffers(num_envs)
        self.batch = self.env.bind(0, num_envs, actions=self.actions,
                                   **{name: part.numpy() for name, part in zip(PARTS, self.out, strict=True)})
        self.batch.reset()

    def step(self, actions: np.ndarray):
        self.actions[:] = actions
        self.batch.step()

    def choose(self, random) -> np.ndarray:
        """Return actions (N,) int32: every other environment balances its pole, the others play at random."""
        actions = random.integers(0, 2, len(self.actions)).astype(np.int32)
        actions[::2] = (self.out[0].numpy() @ np.float32([0.02, 0.05, 1.0, 0.5]) > 0)[::2]
        return actions


def buffers(num_envs: int, device="cpu") -> list[torch.Tensor]:
    """Return the buffers that a step writes, filled with a value that it never writes."""
    return [torch.full((num_envs, 4), 7.0, device=device), *(torch.full((num_envs,), 7.0, device=device) for _ in range(3))]


def tensors(num_envs=N, seed=1, **settings):
    return CartPoleTensors(num_envs, "cpu", seed, **settings)


def kernel(num_envs=N, seed=1, blocks=3, threads=2, **settings):
    return CartPoleKernel(num_envs, "cpu", seed, module=CpuModule(MODULE, blocks, threads), **settings)


def same(core: Core, out: list[torch.Tensor]) -> bool:
    return all(torch.equal(ours.cpu().view(torch.int32), theirs.view(torch.int32))
               for ours, theirs in zip(out, core.out, strict=True))


def hold(simulation, core: Core, out: list[torch.Tensor], steps: int, step=None) -> tuple[int, int, int]:
    """Play both and compare all outputs. Returns the numbers of episodes, of their steps, and of truncated episodes."""
    random, episodes, lengths, late = np.random.default_rng(2), 0, 0, 0
    for _ in range(steps):
        actions = core.choose(random)
        core.step(actions)
        (step or simulation.step)(torch.from_numpy(actions).to(simulation.device), *out)
        assert same(core, out)
        ended = core.env.ended != 0
        assert np.array_equal(simulation.ended.cpu(), core.env.ended)
        assert np.array_equal(simulation.ended_return.cpu()[ended], core.env.ended_return[ended])
        assert np.array_equal(simulation.ended_length.cpu()[ended], core.env.ended_length[ended])
        episodes, lengths = episodes + ended.sum(), lengths + core.env.ended_length[ended].sum()
        late += int(core.out[3].sum())
    return episodes, lengths, late
