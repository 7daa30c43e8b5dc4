"""Measure copies and launches on this machine, and choose the number of batches.

One step of all environments in K batches takes about as long as the slowest of these three:

    the cores       the time of the games, plus the host's time to launch each batch;
    the device      K copies of 1/K of the bytes each;
    one batch       its games, its copy, its launch and the wait for its actions, one after the other.

More batches hide more of the copies behind the games. But small copies are less efficient: at some point they cost more than
they hide.
"""

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from bridge.interfaces import Device, Source, Stream, Work
from bridge.slab import Slab
from bridge.source import EpisodeLog

SIZES: tuple[int, ...] = tuple(4096 * 4**k for k in range(8))  # bytes: 4 KiB to 64 MiB
COUNTS = (1, 2, 4, 8, 16)                     # numbers of batches to choose from
WORTH = 1.05                                  # least speed-up for which more batches are taken
ROUNDS = 20                                   # calls of which the median is taken


class Costs(NamedTuple):
    """Measured seconds."""

    copies: dict[tuple[str, str], list[float]]  # ("to the device" or "to the host", "pinned" or "pageable"): for each of SIZES
    launch: float                               # from the launch of a small kernel until the host knows its end
    host: float                                 # the part of this in which the host is busy


class Choice(NamedTuple):
    """The chosen number of batches, the reason, and the estimated seconds per step of all environments for each of COUNTS."""

    num_batches: int
    reason: str
    estimates: dict[int, float]


def median(work: Work, rounds: int = ROUNDS) -> float:
    """Return the median seconds of a call of `work`, after one call to warm up."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(device: Device) -> Costs:
    """Measure the copies and launches of a device."""
    stream = device.stream()
    copies: dict[tuple[str, str], list[float]] = {}
    for kind in ("pinned", "pageable"):
        for size in SIZES:
            host = device.host_bytes(size) if kind == "pinned" else np.zeros(size, np.uint8)
            on_device = device.device_bytes(device.host_bytes(size))
            stream.wait_for_caller()  # whose stream may still be filling the new memory with zeros
            for name, copy, buffers in (("to the device", stream.upload, (on_device, host)),
                                        ("to the host", stream.download, (host, on_device))):
                copies.setdefault((name, kind), []).append(median(functools.partial(copy_and_wait, stream, copy, *buffers)))
    one = torch.zeros(1, device=device.torch_device)
    stream.wait_for_caller()
    host_seconds: list[float] = []

    def add() -> None:
        one.add_(1)

    def launch() -> None:
        begin = time.perf_counter()
        stream.run(add)
        stream.mark()
        host_seconds.append(time.perf_counter() - begin)
        stream.wait()
    return Costs(copies, median(launch), statistics.median(host_seconds))


def copy_and_wait(stream: Stream, copy: Callable[[Any, Any], None], target: Any, source: Any) -> None:
    """Queue one copy on a stream and wait for its end."""
    copy(target, source)
    stream.mark()
    stream.wait()


def copy_seconds(costs: Costs, size: float) -> float:
    """Estimate the seconds of a page-locked copy of `size` bytes to the device, by linear interpolation."""
    return float(np.interp(size, SIZES, costs.copies["to the device", "pinned"])) * max(1.0, size / SIZES[-1])


def choose(costs: Costs, size: int, num_envs: int, games: float) -> Choice:
    """Choose the number of batches.

    costs: of the device.
    size: bytes per step of all environments.
    num_envs: number of environments.
    games: seconds of the games per step of all environments.
    """
    estimates = {}
    for count in COUNTS:
        if count <= num_envs:
            copy = copy_seconds(costs, size / count)
            one_batch = games / count + copy + costs.launch
            estimates[count] = max(games + count * costs.host, count * copy, one_batch)
    best = next(count for count, seconds in estimates.items() if seconds <= WORTH * min(estimates.values()))
    listed = ", ".join(f"{count}: {seconds * 1e6:.0f}" for count, seconds in estimates.items())
    return Choice(best, f"estimated microseconds per step of all environments, by number of batches: {listed}", estimates)


def slab_bytes(source: Source) -> int:
    """Return the bytes copied to the device per step of all environments of a source."""
    return Slab(source.num_envs, source.observation_shape, source.observation_dtype, source.action_mask_size).nbytes


def game_seconds(source: Source, steps: int = 20) -> float:
    """Return the median seconds of a step of all environments of a source. Plays them, so pass a source made for this."""
    slab = Slab(source.num_envs, source.observation_shape, source.observation_dtype, source.action_mask_size)
    bound = source.bind(0, source.num_envs, slab.host, slab.host_actions)
    bound.reset()
    times, ended = [], EpisodeLog(0)
    for _ in range(steps):
        bound.begin(lambda: None)
        bound.wait()
        times.append(bound.finish(ended)[1])
    return statistics.median(times)


def table(costs: Costs) -> str:
    """Return the bandwidths by size, and the launch, as text."""
    columns = list(costs.copies)
    lines = ["GB/s".rjust(10) + "".join(f"{name}, {kind}".rjust(26) for name, kind in columns)]
    for k, size in enumerate(SIZES):
        label = f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
        lines.append(label.rjust(10) + "".join(f"{size / costs.copies[column][k] / 1e9:26.2f}" for column in columns))
    lines.append(f"a launch: {costs.launch * 1e6:.1f} microseconds until its end, {costs.host * 1e6:.1f} of them on the host")
    return "\n".join(lines)
