"""The model's answers as tables, and a timeline for Perfetto."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.gpu_model.cubin import usage
from benchmarks.gpu_model.devices import Costs, Device
from benchmarks.gpu_model.record import Iteration
from benchmarks.gpu_model.simulate import Result, Setting, simulate
from trainer.kernels.checks import sources
from trainer.log.numbers import count

FREE = float("inf")


def facts(iteration: Iteration, setting: Setting, device: Device, costs: Costs) -> dict:
    """The answer for one setting, ready for JSON."""
    result = simulate(iteration, setting, device, costs)
    return {"device": device.title, "num_envs": setting.num_envs, "minibatch": setting.minibatch, "batches": setting.batches,
            "cores": setting.cores, "game_ns": setting.game_seconds * 1e9, "precision": iteration.precision,
            "steps_per_second": result.steps_per_second, "rollout_ms": result.rollout * 1e3,
            "update_ms": (result.seconds - result.rollout) * 1e3, "kernels_work": result.work,
            "without": limits(iteration, setting, device, costs, result)}


def limits(iteration: Iteration, setting: Setting, device: Device, costs: Costs, result: Result) -> dict[str, float]:
    """How many times as fast an iteration would be if one cost were nothing, the largest first."""
    frees = {
        "latency of kernels": (setting, device, replace(costs, node=0, kernel=0, product=0)),
        "the host's launches": (setting, device, replace(costs, graph=0, operation=0, turn=0, python=0, sync=0)),
        "games": (replace(setting, game_seconds=0), device, costs),
        "the bus": (setting, replace(device, bus=FREE), replace(costs, copy=0)),
        "memory": (setting, replace(device, bandwidth=FREE), costs),
        "products": (setting, replace(device, bf16=FREE, f32=FREE), costs),
    }
    gains = {name: result.seconds / simulate(iteration, *changed).seconds for name, changed in frees.items()}
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def row(answer: dict) -> list[str]:
    """An answer as a row of a table; COLUMNS has its head."""
    first, second = list(answer["without"].items())[:2]
    return [answer["device"], answer["num_envs"], answer["minibatch"], answer["batches"], answer["cores"],
            count(answer["steps_per_second"]), f"{answer['rollout_ms']:.1f}", f"{answer['update_ms']:.1f}",
            f"{answer['kernels_work']:.0%}", *(f"{name} ({gain:.2f})" for name, gain in (first, second))]


COLUMNS = ["device", "environments", "minibatch", "batches", "cores", "steps/s, modelled", "rollout, ms", "update, ms",
           "kernels work", "limited by (gain without it)", "then by"]


KERNEL_COLUMNS = ["kernel", "registers", "shared, bytes", "stack, bytes", "occupancy"]


def kernel_rows(device: Device) -> list[list[str]]:
    """Registers, shared memory, stack and occupancy of our kernels on a device. Needs CuPy's NVRTC."""
    rows = []
    for module in sources.modules(bf16=device.bf16):
        for name, one in sorted(usage(module.compile(device.arch)).items()):
            occupancy = one.occupancy(device, sources.block_of(name))
            rows.append([name, one.registers, one.shared, one.stack, f"{occupancy:.0%}"])
    return rows


def write_trace(result: Result, path: Path) -> None:
    """Write the timeline in the format of Chrome's traces, which ui.perfetto.dev opens."""
    rows = sorted({event[0] for event in result.timeline.events})
    names = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": rows.index(one), "args": {"name": one}} for one in rows]
    events = [{"name": name, "ph": "X", "pid": 1, "tid": rows.index(one), "ts": begin * 1e6, "dur": (end - begin) * 1e6}
              for one, name, begin, end in result.timeline.events]
    path.write_text(json.dumps({"traceEvents": names + events, "displayTimeUnit": "ns"}), encoding="utf-8")


def sweep(iteration: Iteration, setting: Setting, device: Device, costs: Costs) -> list[dict]:
    """The answers with one size changed at a time."""
    changes: list[Setting] = []
    for name, values in (("num_envs", [setting.num_envs * k for k in (1, 2, 4, 8, 16)]), ("batches", [1, 2, 4, 8]),
                         ("minibatch", [setting.minibatch * k for k in (1, 2, 4, 8)]), ("cores", [4, 8, 16, 32])):
        changes += [replace(setting, **{name: value}) for value in values]
    kept = [one for one in dict.fromkeys(changes) if one.minibatch <= one.num_envs * iteration.horizon]
    return [facts(iteration, one, device, costs) for one in kept]


def against(iteration: Iteration, published: Sequence, costs: Costs) -> list[list[str]]:
    """Rows of published systems beside the model's answer for their sizes."""
    rows = []
    for name, device, setting, figure in published:
        modelled = simulate(iteration, setting, device, costs).steps_per_second
        rows.append([name, setting.batches, setting.cores, count(figure), count(modelled), f"{modelled / figure:.2f}"])
    return rows
