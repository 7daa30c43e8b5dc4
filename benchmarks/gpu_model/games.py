"""Each game on the CPU's cores beside the same game on the GPU (`--sim device`), modelled.

A thread on the GPU plays an environment. Its state is a struct, of which it reads and writes all; the observation is written
once. So a step takes the longer of two times: these bytes at the memory's speed, and one thread's way through the step, whose
instructions wait for each other. The second is CPU_STEPS times the game's time on a core.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import envs_c
from benchmarks.gpu_model.devices import Costs, Device
from benchmarks.gpu_model.record import Iteration, Operation, Part, record
from benchmarks.gpu_model.simulate import Setting, simulate
from trainer.log.numbers import count

# Assumed: a GPU's thread takes 6 clocks of 1.7 GHz for an instruction, a core half a clock of 3 GHz; and the environments of a
# warp take 4 different ways through a step, one after another.
CPU_STEPS = 4 * (6 / 1.7) / (0.5 / 3)


class Moved(NamedTuple):
    """Bytes of one environment in a step on the GPU."""

    state: int        # of its struct
    observation: int

    @property
    def structs(self) -> int:
        """Moved with a struct an environment: all of it is read and written."""
        return 2 * self.state + self.observation


def moved(name: str) -> Moved:
    """What a step of a game moves."""
    env = envs_c.VecEnv(envs_c.game(name), 1, num_threads=1)
    return Moved(env.stride, int(np.prod(env.observation_shape)) * env.observation_dtype.itemsize)


def on_device(iteration: Iteration, bytes_a_step: float) -> Iteration:
    """The iteration with its games on the GPU: a kernel in place of a step's copies."""
    def step(operations: Sequence[Operation], size: float) -> tuple[Operation, ...]:
        games = replace(operations[0], kind="kernel", name="games", bytes=size * bytes_a_step, flops=0.0, direction="",
                        after=())
        return games, *(replace(one, after=(), shared=0.0) for one in operations if one.kind != "copy")
    small, large = (step(one, size) for one, size in zip((iteration.step.small, iteration.step.large), iteration.step.sizes,
                                                          strict=True))
    return replace(iteration, step=Part(small, large, iteration.step.sizes))


def games_seconds(name_moved: Moved, setting: Setting, device: Device, costs: Costs) -> float:
    """Seconds of a step of all environments on the GPU, alone."""
    moving = setting.num_envs * name_moved.structs / (device.bandwidth * costs.memory)
    return max(moving, CPU_STEPS * setting.game_seconds)


def rows(names: Sequence[str], speeds: dict[str, float], setting: Setting, devices: Sequence[Device], costs: Costs,
         **sizes) -> Iterator[list[str]]:
    """A row a game: its bytes, its nanoseconds on a core, and for each device steps a second with the games on the cores, on
    the GPU, and the part of the latter's time that the games take.

    speeds: seconds of a step of each game on a core. sizes: as for `record`, besides the game and its precision.
    """
    for name in names:
        bytes_of, its = moved(name), replace(setting, game_seconds=speeds[name])
        recorded = {one: record(name, precision=one, **sizes) for one in {device.precision for device in devices}}
        cells = []
        for device in devices:
            iteration = recorded[device.precision]
            seconds = games_seconds(bytes_of, its, device, costs)
            there = on_device(iteration, seconds * device.bandwidth * costs.memory / its.num_envs)
            beside = simulate(there, replace(its, batches=1, on_device=True), device, costs)
            host = simulate(iteration, its, device, costs)
            cells += [count(host.steps_per_second), count(beside.steps_per_second),
                      f"{seconds * iteration.horizon / beside.seconds:.0%}"]
        yield [name, str(bytes_of.state), str(bytes_of.observation), f"{speeds[name] * 1e9:.0f}", *cells]


def columns(devices: Sequence[Device], cores: int) -> list[str]:
    """The head of `rows`. cores: that step the games."""
    return ["game", "state, bytes", "features, bytes", "ns on a core",
            *(f"{device.title}: {what}" for device in devices for what in (f"on {cores} cores", "on the GPU", "games"))]
