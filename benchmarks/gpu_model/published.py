"""Measured speeds of systems that train Breakout with a memory of 128, for a check of the model: others' and ours.

The first is a C++ trainer on PyTorch with an LSTM: 8,192 environments, horizon 64, a step of the game in about 120 ns on one
core (63 ms of all threads for 524,288 steps), and copies at 8.6 GB/s (247 MB in 28.8 ms). It has no CUDA graphs, and its author
gives the speed for several numbers of batches and of threads. The second is the RTX 2080 of the same author. PufferLib 4.0 with
a MinGRU reports 15M steps/s on an RTX 5090; its games take about 150 ns and its sizes are not all stated. Ours are those of
benchmarks/results/h100.md with the games on 16 cores, two batches and 4 minibatches of each rollout.
"""

from dataclasses import replace

from benchmarks.gpu_model.devices import DEVICES
from benchmarks.gpu_model.simulate import Setting

SLOW_BUS = replace(DEVICES["rtx4090"], bus=8.6e9)
SHAPE = {"horizon": 64, "width": 128}  # of all systems here
SIZES = {"num_envs": 8192, "minibatch": 65536, "game_seconds": 120e-9}

LSTM = [
    *((f"C++ on PyTorch, RTX 4090, {batches} batches", SLOW_BUS, Setting(batches=batches, cores=cores, **SIZES), figure)
      for batches, cores, figure in ((1, 8, 3.0e6), (2, 8, 4.5e6), (4, 8, 5.6e6), (8, 8, 6.1e6), (8, 1, 3.7e6), (8, 2, 5.2e6),
                                     (8, 4, 5.9e6))),
    ("C++ on PyTorch, RTX 2080, 8 batches", DEVICES["rtx2080"], Setting(batches=8, cores=12, **SIZES), 4.5e6),
]
MINGRU = [("PufferLib 4.0, RTX 5090, MinGRU", DEVICES["rtx5090"],
           Setting(num_envs=8192, minibatch=65536, batches=2, cores=16, game_seconds=150e-9), 15e6)]


def ours(memory: str, game_seconds: float) -> list[tuple]:
    """Our trainings on an H100 by environments, of horizon 64, as rows like those of the systems above."""
    figures = {"lstm": (4.62e6, 22.9e6, 44.1e6), "mingru": (5.05e6, 25.3e6, 41.6e6)}
    name = {"lstm": "LSTM", "mingru": "minGRU"}[memory]
    return [(f"insertcoin, H100, {num_envs:,} environments, {name}", DEVICES["h100"],
             Setting(num_envs=num_envs, minibatch=16 * num_envs, batches=2, cores=16, game_seconds=game_seconds), figure)
            for num_envs, figure in zip((1024, 8192, 65536), figures[memory], strict=True)]
