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
    update: tuple[int, int, int, int]    # outside the graphs: launches (also of an epoch's statistics), kernels, waits, syncs
    moved: tuple[int, int]               # bytes to the device and to the host in an update
    memory: tuple[int, int, int]         # bytes before the first iteration, after it, and at the peak


# Settings, and their counts, with rewards as they are and random numbers that are drawn anew unless a row says otherwise. Each
# optimizer step of `accumulation` takes two minibatches.
TABLE = {
    "LSTM": ({},
        Expected((7, 1, 320, 24), (5, 12, 2, 4), (45, 0), (7, 4, 2, 1), (96, 100), (30720, 49664, 57344))),
    "LSTM, two batches": ({"num_batches": 2},
        Expected((7, 1, 256, 12), (10, 14, 4, 8), (45, 0), (7, 4, 2, 1), (96, 100), (37888, 56832, 64512))),
    "minGRU": ({"memory": "mingru"},
        Expected((9, 1, 320, 24), (5, 11, 2, 4), (27, 0), (7, 4, 2, 1), (96, 100), (25088, 35840, 45056))),
    "no memory": ({"memory": "none"},
        Expected((6, 1, 320, 24), (5, 11, 2, 4), (23, 0), (7, 4, 2, 1), (96, 100), (24064, 34816, 39936))),
    "masks": ({"game": "go", "encoder": "mlp", "options": {"size": 5}},
        Expected((8, 1, 1152, 24), (5, 12, 2, 4), (46, 0), (7, 4, 2, 1), (96, 100), (52736, 79872, 99328))),
    "stacked frames": ({"frame_stack": 4},
        Expected((8, 1, 320, 24), (5, 16, 2, 4), (46, 0), (7, 4, 2, 1), (96, 100), (31744, 50688, 58880))),
    "bfloat16": ({"precision": "bfloat16"},
        Expected((7, 1, 320, 24), (5, 16, 2, 4), (54, 0), (7, 4, 2, 1), (96, 100), (29184, 47616, 55808))),
    "accumulation": ({"num_envs": 8, "minibatch": 8, "accumulate": 2},
        Expected((7, 1, 320, 32), (5, 12, 2, 4), (42, 0), (11, 4, 2, 1), (128, 196), (31232, 49664, 57344))),
    "normalized": ({"normalize_observations": True, "normalize_rewards": True, "normalize_steps": 0},
        Expected((13, 1, 320, 24), (5, 45, 2, 6), (45, 0), (8, 40, 2, 1), (96, 100), (37376, 56320, 64512))),
    "rewards by the first steps": ({"normalize_rewards": True},
        Expected((7, 1, 320, 24), (5, 12, 2, 4), (45, 0), (8, 54, 2, 1), (96, 100), (34304, 53248, 61440))),
    "held random numbers": ({"noise_hold": 16, "noise_hold_after": "any"},
        Expected((7, 1, 320, 24), (5, 12, 2, 4), (45, 0), (7, 4, 2, 1), (96, 100), (30720, 49664, 57344))),
    "until the first end": ({"noise_hold": 16, "noise_hold_after": "truncation"},
        Expected((9, 1, 320, 24), (5, 12, 2, 4), (45, 0), (7, 4, 2, 1), (96, 100), (31232, 50176, 57856))),
    "priorities": ({"priority_alpha": 0.6},
        Expected((7, 1, 320, 24), (5, 12, 2, 4), (45, 0), (9, 19, 2, 11), (144, 148), (31744, 50688, 58368))),
    "Muon": ({"optimizer": "muon"},
        Expected((7, 1, 320, 24), (5, 12, 2, 4), (233, 0), (7, 4, 2, 1), (96, 100), (32768, 50688, 58368))),
    "games on the device": ({"sim": "device"},
        Expected((7, 0, 0, 0), (5, 12, 2, 0), (45, 0), (7, 4, 2, 1), (96, 100), (36864, 55808, 63488))),
}


def outside(operations) -> tuple[int, int, int, int]:
    """Launches of graphs, and kernels, waits and syncs outside of them."""
    free = counts([one for one in operations if one.graph is None])
    return counts(operations)["launches"], free["kernels"], free["waits"], free["syncs"]


def first_with(name: str, graphs: list) -> list:
    """The operations of the first of these launches in which an operation has this name."""
    return next(graph for graph in graphs if any(one.name == name for one in graph))


def counted(settings: dict) -> Expected:
    """The counts of a training."""
    with installed() as machine:
        memory, schedule = machine.device, machine.schedule
        made = make_session(config(**{"normalize_rewards": False, "noise_hold": 1, **settings}))
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
        step, minibatch = counts(launches(rollout)[0]), counts(first_with("ppo_loss", launches(update)))
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


def test_self_play_waits_for_moves_only_and_plays_another_batch_meanwhile():
    """Two batches, 4 steps and the bootstrap: a wait for the learner's actions and one for the opponents' moves in each."""
    settings = {"game": "go", "memory": "none", "encoder": "mlp", "num_envs": 4, "num_batches": 2, "options": {"size": 5},
                "self_play": {"self_play": True, "pool_size": 3, "snapshot_every": 1, "anchor_games": 0}}
    with installed() as machine:
        made = make_session(config(**settings))
        for _ in range(3):
            iterate(made)
        with machine.schedule.part("rollout"):
            collect(made.actor)
        made.pipeline.settle()
    operations = machine.schedule.of("rollout")
    assert all(one.pinned for one in operations if one.kind == "copy")
    waits = [one for one in operations if one.kind == "sync"]
    assert len(waits) == 2 * 2 * 4
    sources = {one.number: one for one in operations}
    moves = [(sources[max(one.after)], one) for one in waits if sources[max(one.after)].graph is None]
    beside = [any(one.kind == "copy" and one.stream != queued.stream and queued.number < one.number < waited.number
                  for one in operations) for queued, waited in moves]
    assert len(moves) == 2 * 4 and sum(beside) >= len(moves) - 1  # behind the last batch of a rollout there is none
