"""Kernels, copies, waits and memory of a training on a GPU, counted. A change of these numbers is a change of speed.

A kernel is an aten operation or a launch of one of our kernels; on a GPU some operations take several. `syncs` are waits of the
host for the device, `waits` those of a stream for another one. Sizes are tiny: 6 environments, 4 steps, 2 epochs of 2
minibatches.
"""

from typing import NamedTuple

import pytest
import torch
from cuda_double.install import installed
from cuda_double.schedule import counts, launches
from device_runs import config

from trainer.rollout.actor import collect
from trainer.training.build import make_session
from trainer.training.train import iterate


class Expected(NamedTuple):
    """The counts of one iteration after the third, in which all graphs are replayed."""

    step: tuple[int, int, int, int]      # of a batch: kernels, copies, bytes to the device, bytes to the host
    rollout: tuple[int, int, int, int]   # outside the graphs: launches, kernels, waits, syncs
    minibatch: tuple[int, int]           # kernels, copies
    update: tuple[int, int, int, int]    # outside the graphs: launches, kernels, waits, syncs
    moved: tuple[int, int]               # bytes to the device and to the host in an update
    memory: tuple[int, int, int]         # bytes before the first iteration, after it, and at the peak


# Settings, and their counts. Each optimizer step of `accumulation` takes two minibatches.
TABLE = {
    "LSTM": ({},
        Expected((21, 2, 320, 24), (5, 16, 2, 4), (198, 0), (4, 74, 8, 3), (96, 28), (33792, 67584, 81920))),
    "LSTM, two batches": ({"num_batches": 2},
        Expected((21, 2, 256, 12), (10, 18, 4, 8), (198, 0), (4, 74, 8, 3), (96, 28), (42496, 76288, 90624))),
    "minGRU": ({"memory": "mingru"},
        Expected((22, 2, 320, 24), (5, 15, 2, 4), (179, 0), (4, 74, 8, 3), (96, 28), (27648, 56320, 69120))),
    "no memory": ({"memory": "none"},
        Expected((20, 2, 320, 24), (5, 15, 2, 4), (175, 0), (4, 74, 8, 3), (96, 28), (27136, 54272, 66560))),
    "masks": ({"game": "go", "encoder": "mlp", "options": {"size": 5}},
        Expected((23, 2, 1152, 24), (5, 16, 2, 4), (200, 0), (4, 74, 8, 3), (96, 28), (55296, 97280, 118784))),
    "stacked frames": ({"frame_stack": 4},
        Expected((22, 2, 320, 24), (5, 16, 2, 4), (199, 0), (4, 74, 8, 3), (96, 28), (34304, 68096, 82944))),
    "bfloat16": ({"precision": "bfloat16"},
        Expected((22, 2, 320, 24), (5, 21, 2, 4), (210, 0), (4, 74, 8, 3), (96, 28), (31744, 65024, 80384))),
    "accumulation": ({"num_envs": 8, "minibatch": 8, "accumulate": 2},
        Expected((21, 2, 320, 32), (5, 16, 2, 4), (189, 0), (8, 98, 16, 3), (128, 28), (34304, 77824, 89600))),
    "normalized": ({"normalize_observations": True, "normalize_rewards": True},
        Expected((27, 2, 320, 24), (5, 49, 2, 6), (198, 0), (4, 129, 8, 3), (96, 28), (39424, 73216, 88064))),
    "priorities": ({"priority_alpha": 0.6},
        Expected((21, 2, 320, 24), (5, 16, 2, 4), (201, 0), (4, 80, 8, 12), (240, 52), (34304, 68096, 82432))),
    "games on the device": ({"sim": "device"},
        Expected((21, 0, 0, 0), (5, 16, 2, 0), (198, 0), (4, 74, 8, 3), (96, 28), (38400, 72192, 86528))),
}


def outside(operations) -> tuple[int, int, int, int]:
    """Launches of graphs, and kernels, waits and syncs outside of them."""
    free = counts([one for one in operations if one.graph is None])
    return counts(operations)["launches"], free["kernels"], free["waits"], free["syncs"]


def counted(settings: dict) -> Expected:
    """The counts of a training."""
    with installed() as machine:
        memory, schedule = machine.device, machine.schedule
        made = make_session(config(**settings))
        sizes = [memory.live]
        iterate(made)
        sizes.append(memory.live)
        for _ in range(2):
            iterate(made)
        peak, reserved = memory.peak, memory.reserved
        with schedule.part("rollout"):
            collect(made.actor)
        with schedule.part("update"):
            made.learner.update()
        assert (memory.peak, memory.reserved) == (peak, reserved)  # later iterations need no more
        rollout, update = schedule.of("rollout"), schedule.of("update")
        step, minibatch = counts(launches(rollout)[0]), counts(launches(update)[0])
        moved = counts(update)
    return Expected((step["kernels"], step["copies"], step["bytes to device"], step["bytes to host"]), outside(rollout),
                    (minibatch["kernels"], minibatch["copies"]), outside(update),
                    (moved["bytes to device"], moved["bytes to host"]), (*sizes, peak))


@pytest.mark.parametrize(("settings", "expected"), TABLE.values(), ids=TABLE.keys())
@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the numbers are those of torch 2.13's operations")
def test_operations_and_memory_of_an_iteration_are_those_of_the_table(settings, expected):
    assert counted(settings) == expected


@pytest.mark.parametrize(("units", "more"), [(32, 0), (6, 4 * 4)], ids=["whole sequences", "single steps"])
def test_kernels_of_a_minibatch_grow_with_the_horizon_only_in_single_steps(units, more):
    """The LSTM in bfloat16: a product and a kernel for each step, forward and backward, or one kernel for all steps."""
    sizes = [{"precision": "bfloat16", "lstm_size": units, "horizon": horizon, "minibatch": 3 * horizon} for horizon in (4, 8)]
    short, long = (counted(size).minibatch[0] for size in sizes)
    assert long - short == more
