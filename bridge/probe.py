"""Measure copies and launches on this machine."""

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from bridge.interfaces import Device, Stream, Work

SIZES: tuple[int, ...] = tuple(4096 * 4**k for k in range(8))  # bytes: 4 KiB to 64 MiB
ROUNDS = 20                                   # calls of which the median is taken


class Costs(NamedTuple):
    """Measured seconds."""

    copies: dict[tuple[str, str], list[float]]  # ("to the device" or "to the host", "pinned" or "pageable"): for each of SIZES
    launch: float                               # from the launch of a small kernel until the host knows its end
    host: float                                 # the part of this in which the host is busy


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


def table(costs: Costs) -> str:
    """Return the bandwidths by size, and the launch, as text."""
    columns = list(costs.copies)
    lines = ["GB/s".rjust(10) + "".join(f"{name}, {kind}".rjust(26) for name, kind in columns)]
    for k, size in enumerate(SIZES):
        label = f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
        lines.append(label.rjust(10) + "".join(f"{size / costs.copies[column][k] / 1e9:26.2f}" for column in columns))
    lines.append(f"a launch: {costs.launch * 1e6:.1f} microseconds until its end, {costs.host * 1e6:.1f} of them on the host")
    return "\n".join(lines)
