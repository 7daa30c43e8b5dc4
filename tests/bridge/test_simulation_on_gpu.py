"""The simulation on a GPU: the bits of the compiled game, no allocation, captured steps."""

import pytest
import torch
from simulation_support import Core, buffers, hold, same

from bridge.device import why_no_gpu
from bridge.on_device.cartpole import BLOCKS, CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors


def on_gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu())(test))


GPU_WAYS = pytest.mark.parametrize("way", [CartPoleTensors, CartPoleKernel])


@on_gpu
@GPU_WAYS
@pytest.mark.parametrize("settings", [{}, {"sticky": 0.25, "time_limit": 20}, {"work": 5}], ids=str)
def test_on_a_gpu_the_bits_are_those_of_the_compiled_game(way, settings):
    core = Core(1023, 1, **{name: value for name, value in settings.items() if name != "work"})
    simulation, out = way(1023, "cuda", 1, **settings), buffers(1023, "cuda")
    simulation.reset(*out)
    assert same(core, out)
    hold(simulation, core, out, 1100)


@on_gpu
@GPU_WAYS
def test_on_a_gpu_a_step_neither_allocates_nor_waits(way):
    simulation, out = way(1023, "cuda", 1), buffers(1023, "cuda")
    actions = torch.zeros(1023, dtype=torch.int32, device="cuda")
    simulation.reset(*out)
    simulation.step(actions, *out)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(50):
            simulation.step(actions, *out)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before


@on_gpu
@GPU_WAYS
def test_on_a_gpu_a_captured_step_gives_the_same_bits(way):
    core, out = Core(1023, 1, sticky=0.25), buffers(1023, "cuda")
    simulation = way(1023, "cuda", 1, sticky=0.25)
    taken = torch.zeros(1023, dtype=torch.int32, device="cuda")
    simulation.reset(*out)
    state = simulation.state()
    for _ in range(2):
        simulation.step(taken, *out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        simulation.step(taken, *out)
    simulation.restore(state)

    def replay(actions, *_):
        taken.copy_(actions)
        graph.replay()
    hold(simulation, core, out, 300, replay)


@on_gpu
def test_on_a_gpu_the_block_size_is_searched_and_changes_nothing():
    searched = CartPoleKernel(1023, "cuda", 1)
    assert set(searched.block_seconds) == set(BLOCKS) and min(searched.block_seconds.values()) > 0
    assert searched.block == min(searched.block_seconds, key=searched.block_seconds.get)
    for simulation in (searched, *(CartPoleKernel(1023, "cuda", 1, block=block) for block in BLOCKS)):
        core, out = Core(1023, 1), buffers(1023, "cuda")
        simulation.reset(*out)
        assert same(core, out)
        hold(simulation, core, out, 50)
