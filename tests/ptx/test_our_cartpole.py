"""CartPole's kernels as NVRTC compiles them give the bits of the compiled game in every step."""

import numpy as np
import pytest
import torch
from ptx_runs import on_all

import envs_c
from bridge.on_device.cartpole import BLOCKS, MODULE, CartPoleKernel

PARTS = ("observation", "reward", "terminated", "truncated")


@pytest.fixture
def module(arch):
    from ptx import EmulatedModule
    return EmulatedModule(MODULE, arch)


def buffers(num_envs: int) -> list[torch.Tensor]:
    return [torch.full((num_envs, 4), 7.0), *torch.full((3, num_envs), 7.0)]


def play(module, num_envs: int, steps: int, seed: int = 1, block: int | None = None, work: int = 1, **settings) -> int:
    """Play the kernel and the game, compare every output, and return the number of ended episodes."""
    simulation = CartPoleKernel(num_envs, "cpu", seed, module=module, block=block, work=work, **settings)
    env = envs_c.VecEnv(envs_c.game("cartpole"), num_envs, seed=seed, **settings)
    ours, theirs, actions, episodes = buffers(num_envs), buffers(num_envs), np.zeros(num_envs, np.int32), 0
    batch = env.bind(0, num_envs, actions=actions, **{name: part.numpy() for name, part in zip(PARTS, theirs, strict=True)})
    random = np.random.default_rng(2)
    simulation.reset(*ours)
    batch.reset()
    for _ in range(steps):
        assert all(torch.equal(a.view(torch.int32), b.view(torch.int32)) for a, b in zip(ours, theirs, strict=True))
        actions[:] = random.integers(0, 2, num_envs)
        simulation.step(torch.from_numpy(actions.copy()), *ours)
        batch.step()
        ended = env.ended != 0
        assert np.array_equal(simulation.ended, env.ended)
        assert np.array_equal(simulation.ended_return[ended], env.ended_return[ended])
        assert np.array_equal(simulation.ended_length[ended], env.ended_length[ended])
        episodes += int(ended.sum())
    assert simulation.episodes.item() == episodes
    return episodes


STICKY = {"sticky": 0.25, "time_limit": 20}
SETTINGS = [{}, STICKY, {"time_limit": 1}, {"time_limit": 0, "reward_clip": 0.5}, {"work": 3, "sticky": 1.0}]


@pytest.mark.parametrize(("arch", "settings"), on_all(SETTINGS, STICKY), indirect=["arch"], ids=str)
def test_a_step_has_the_bits_of_the_game(settings, module):
    assert play(module, 129, 70, **settings) > 129


@pytest.mark.parametrize(("arch", "num_envs"), on_all((1, 3, 31, 1023), 31), indirect=["arch"])
def test_the_number_of_environments_changes_nothing(num_envs, module):
    assert play(module, num_envs, 30, sticky=0.1, time_limit=9) > num_envs


@pytest.mark.parametrize(("arch", "block"), on_all(BLOCKS, BLOCKS[0]), indirect=["arch"])
def test_the_size_of_a_block_changes_nothing(block, module):
    assert play(module, 300, 12, block=block, time_limit=5) > 300


@pytest.mark.parametrize(("arch", "seed"), on_all((0, 2**63, 2**64 - 1), 0), indirect=["arch"])
def test_every_seed_draws_the_game_s_random_numbers(seed, module):
    assert play(module, 65, 20, seed=seed, sticky=0.5, time_limit=6) > 65
