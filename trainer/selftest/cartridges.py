"""A part of `insertcoin selftest --visit`: the console on the device, beside the CPU's engine, and its speed."""

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch

import envs_c
from bridge import open_device
from bridge.on_device.games import DeviceGame
from envs_c.console import cartridges
from trainer.selftest import simulations
from trainer.selftest.checks import check

GAMES = ("pong", "qbert", "seaquest")        # if their cartridges are here
STEPS = {"features": 200, "pixels": 60}      # of each environment, beside the engine
SIZES = (64, 1024, 8192, 32_768)             # environments
SECONDS, FEWEST = 1.5, 3                     # of each measurement, and its steps, at least


def results(steps: dict[str, int] | None = None, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """A check for each cartridge and view, then the console's speed: {"speed": {game, view, num_envs, steps_per_second}}.

    steps: by view.
    sizes: numbers of environments to measure with.
    """
    names = [f"atari:{name}" for name in GAMES if name in cartridges.present()]
    if not names:
        yield check("cartridges", "console", None, f"left out: no cartridge is here; {cartridges.how_to_get()}")
        return
    yield from simulations.games(names, steps or STEPS)
    for name in names:
        for view in STEPS:
            for num_envs in sizes:
                yield {"speed": {"game": name, "view": view, "num_envs": num_envs,
                                 "steps_per_second": steps_per_second(name, view, num_envs)}}


def steps_per_second(name: str, view: str, num_envs: int) -> float:
    """The median over some steps with the same random actions. A step has four frames."""
    device = open_device("cuda").torch_device
    game = DeviceGame(envs_c.game(name), num_envs, device, view=view, sticky=0.25, noop_max=30, seed=3)
    out = {output: torch.zeros(num_envs, device=device) for output in simulations.OUTPUTS[1:]}
    out["observation"] = torch.zeros(num_envs, *game.observation_shape, dtype=torch.uint8, device=device)
    actions = torch.randint(game.num_actions, (num_envs,), dtype=torch.int32, device=device)
    game.reset(**out)
    game.step(actions, **out)
    torch.cuda.synchronize()
    begin, times = time.perf_counter(), []
    while len(times) < FEWEST or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        game.step(actions, **out)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return num_envs / statistics.median(times)
