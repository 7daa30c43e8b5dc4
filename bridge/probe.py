"""What copies and launches cost on this machine, and how many batches that makes best: `python -m bridge.probe`.

A step of all environments, cut into K batches, takes about as long as the slowest of three:

    the cores       the games' time, and for each batch what handing it over costs the host;
    the device      K copies of a K-th of the bytes, and K launches;
    one batch       its games, its copy, its launch, and the wait for its actions, one after the other.

More batches hide more of the copies behind the games, until the copies are so small that they cost more than they hide.
"""

import argparse
import statistics
import sys
import time
from typing import NamedTuple

import numpy as np
import torch

import envs_c
from bridge.device import open_device, why_no_gpu
from bridge.errors import BridgeError
from bridge.slab import Slab
from bridge.source import EpisodeLog

SIZES = tuple(4096 * 4**k for k in range(8))   # bytes: 4 KiB to 64 MiB
COUNTS = (1, 2, 4, 8, 16)                      # batches that are considered
WORTH = 1.05                                   # more batches have to save more than this
ROUNDS = 20


class Costs(NamedTuple):
    """Seconds, as measured; `copies` by direction and kind of host memory, for SIZES."""

    copies: dict[tuple[str, str], list[float]]   # ("to the device" or "to the host", "pinned" or "pageable")
    launch: float                                # from handing over one small kernel until it is known to be done
    host: float                                  # of that, until the host may go on


class Choice(NamedTuple):
    """How many batches, why, and the estimates (seconds a step of all environments) for COUNTS."""

    num_batches: int
    reason: str
    estimates: dict[int, float]


def median(work, rounds: int = ROUNDS) -> float:
    """The median seconds of a call, after one to warm up."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(device) -> Costs:
    """What a device's copies and launches cost."""
    stream = device.stream()
    copies = {}
    for kind in ("pinned", "pageable"):
        for size in SIZES:
            host = device.host_bytes(size) if kind == "pinned" else np.zeros(size, np.uint8)
            twin = device.device_bytes(device.host_bytes(size))
            for name, work in (("to the device", lambda host=host, twin=twin: stream.upload(twin, host)),
                               ("to the host", lambda host=host, twin=twin: stream.download(host, twin))):
                copies.setdefault((name, kind), []).append(median(lambda work=work: (work(), stream.mark(), stream.wait())))
    one = torch.zeros(1, device=device.torch_device)
    host = []

    def launch():
        begin = time.perf_counter()
        stream.run(lambda: one.add_(1))
        stream.mark()
        host.append(time.perf_counter() - begin)
        stream.wait()
    return Costs(copies, median(launch), statistics.median(host))


def copy_seconds(costs: Costs, size: float) -> float:
    """A pinned copy to the device of `size` bytes, between those measured on straight lines."""
    return float(np.interp(size, SIZES, costs.copies["to the device", "pinned"])) * max(1.0, size / SIZES[-1])


def choose(costs: Costs, size: int, num_envs: int, games: float) -> Choice:
    """The number of batches for `num_envs` environments that write `size` bytes a step in `games` seconds."""
    estimates = {}
    for count in COUNTS:
        if count <= num_envs:
            copy = copy_seconds(costs, size / count)
            alone = games / count + copy + costs.launch
            estimates[count] = max(games + count * costs.host, count * copy, alone)
    best = next(count for count, seconds in estimates.items() if seconds <= WORTH * min(estimates.values()))
    words = ", ".join(f"{count}: {seconds * 1e6:.0f}" for count, seconds in estimates.items())
    return Choice(best, f"estimated microseconds a step of all environments with so many batches: {words}", estimates)


def slab_bytes(source) -> int:
    """Bytes that a step of all of a source's environments sends to the device."""
    return Slab(source.num_envs, source.observation_shape, source.observation_dtype, source.num_masked).nbytes


def game_seconds(source, steps: int = 20) -> float:
    """Seconds of one step of all of a source's environments; plays it, so hand in one that is not needed any more."""
    slab = Slab(source.num_envs, source.observation_shape, source.observation_dtype, source.num_masked)
    bound = source.bind(0, source.num_envs, slab.host, slab.host_actions)
    bound.reset()
    times, ended = [], EpisodeLog(0)
    for _ in range(steps):
        bound.begin(lambda: None)
        bound.wait()
        times.append(bound.finish(ended)[1])
    return statistics.median(times)


def table(costs: Costs) -> str:
    """Bandwidths by size in text."""
    columns = list(costs.copies)
    lines = ["GB/s".rjust(10) + "".join(f"{name}, {kind}".rjust(26) for name, kind in columns)]
    for k, size in enumerate(SIZES):
        label = f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
        lines.append(label.rjust(10) + "".join(f"{size / costs.copies[column][k] / 1e9:26.2f}" for column in columns))
    lines.append(f"a launch: {costs.launch * 1e6:.1f} microseconds until it is done, {costs.host * 1e6:.1f} of them the host's")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bridge.probe", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="breakout", help="whose observations the choice is for (default: breakout)")
    parser.add_argument("--num-envs", type=int, default=4096, help="environments (default: 4096)")
    parser.add_argument("--view", choices=("features", "pixels"), default="features")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1 (default: auto)")
    options = parser.parse_args(argv)
    try:
        return report(options)
    except (BridgeError, envs_c.EnvsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def report(options) -> int:
    from bridge.source import GameSource
    device = open_device(options.device)
    source = GameSource(envs_c.VecEnv(envs_c.game(options.game), options.num_envs, view=options.view, seed=0))
    size, games = slab_bytes(source), game_seconds(source)
    print(f"{options.num_envs:,} environments of {options.game} ({options.view}): {size:,} bytes a step, "
          f"{games * 1e6:.0f} microseconds to play it")
    if device.torch_device.type == "cpu":
        print(f"device: cpu ({why_no_gpu() or 'as asked'})\nbatches: 1, since nothing is copied on the CPU")
        return 0
    costs = measure(device)
    choice = choose(costs, size, options.num_envs, games)
    print(f"device: {torch.cuda.get_device_name(device.torch_device)}\n{table(costs)}\n"
          f"batches: {choice.num_batches}; {choice.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
