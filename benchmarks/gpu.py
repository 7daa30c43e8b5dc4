"""Everything that only a GPU can show, in one visit: `python -m benchmarks.gpu --out benchmarks/results/gpu.md`.

Correctness first: `pytest -m gpu` in a process of its own. Then what the probe measures, and Breakout's training with an
encoder and an LSTM of 128 on 118 float32 features: serially and with 1, 2, 4, 8 and 16 batches, what a rollout and an iteration
reach, how much of a rollout the device is idle, and how near the copies come to the bandwidth that the probe measured for
their size. The sizes are chosen for a large machine; `--num-envs` takes others.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.common import head, publish, rate, table
from bridge import DeviceError, open_device, probe
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.rollout.actor import collect
from trainer.training.session import Session
from trainer.training.train import iterate

VARIANTS = (("serial", 1, True), *((str(count), count, False) for count in (1, 2, 4, 8, 16)))
HORIZON = 64


def config(num_envs: int, num_batches: int, serial: bool, minibatches: int) -> Config:
    return Config("breakout", EnvConfig(num_envs=num_envs, num_batches=num_batches, reward_clip=1.0),
                  PolicyConfig(encoder_size=128, lstm_size=128),
                  PPOConfig(horizon=HORIZON, minibatch=num_envs * HORIZON // minibatches, total_steps=10**12),
                  RunConfig(device="cuda", serial=serial))


def busy_seconds(events) -> float:
    """Seconds in which the device did anything: the union of its events' intervals."""
    spans = sorted((event.time_range.start, event.time_range.end) for event in events
                   if event.device_type == torch.autograd.DeviceType.CUDA)
    total, reached = 0.0, float("-inf")
    for begin, end in spans:
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total / 1e6


def copy_share(events, costs, size: int) -> float:
    """The median bandwidth of the slabs' copies to the device over what the probe measured for their size."""
    times = [event.time_range.elapsed_us() / 1e6 for event in events
             if event.device_type == torch.autograd.DeviceType.CUDA and "HtoD" in event.name]
    slabs = [seconds for seconds in times if seconds > 0.2 * max(times)] if times else []
    return probe.copy_seconds(costs, size) / statistics.median(slabs) if slabs else float("nan")


def measure(settings: Config, costs, iterations: int) -> list[str]:
    """A row of the table."""
    session = Session(settings)
    for _ in range(6):  # the graphs are captured by then
        iterate(session)
    torch.cuda.synchronize()
    steps = settings.batch_steps
    whole = statistics.median(steps / m["sps"] for m in (iterate(session) for _ in range(iterations)))
    times = []
    for _ in range(iterations):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        collect(session.actor)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    rollout = statistics.median(times)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        collect(session.actor)
        torch.cuda.synchronize()
        traced = time.perf_counter() - begin
    events = profiler.events()
    size = session.pipeline.slabs[0].nbytes
    env = session.pipeline.env_seconds / (session.actor.step / HORIZON)
    session.pipeline.close()
    return [rate(steps / whole), rate(steps / rollout), f"{1e3 * whole:.2f}", f"{1e3 * rollout:.2f}", f"{1e3 * env:.2f}",
            f"{1 - busy_seconds(events) / traced:.0%}", f"{size:,}", f"{copy_share(events, costs, size):.0%}"]


def correctness() -> str:
    """What `pytest -m gpu` says at its end."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests"],
                          capture_output=True, text=True, check=False)
    print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr)
    return f"`pytest -m gpu`: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else 'said nothing'}\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, nargs="+", default=[8192, 32768], help="environments (default: 8192 32768)")
    parser.add_argument("--minibatches", type=int, default=4, help="minibatches a rollout (default: 4)")
    parser.add_argument("--iterations", type=int, default=10, help="iterations to take the median of (default: 10)")
    parser.add_argument("--no-tests", action="store_true", help="leave `pytest -m gpu` out")
    parser.add_argument("--out", type=Path, help="write the tables to this file, too")
    options = parser.parse_args()
    try:
        device = open_device("cuda")
    except DeviceError as error:
        parser.exit(2, f"error: {error}\n")
    text = head("On the GPU") + f"\n{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}\n\n"
    text += "" if options.no_tests else correctness() + "\n"
    costs = probe.measure(device)
    text += f"What copies and launches cost (`python -m bridge.probe`):\n\n```\n{probe.table(costs)}\n```\n"
    columns = ["batches", "steps/s", "rollout alone", "iteration ms", "rollout ms", "games ms", "device idle in it",
               "bytes a copy", "of the probe's bandwidth"]
    for num_envs in options.num_envs:
        rows = []
        for name, count, serial in VARIANTS:
            print(f"{num_envs} environments, {name}", file=sys.stderr, flush=True)
            rows.append([name, *measure(config(num_envs, count, serial, options.minibatches), costs, options.iterations)])
        text += (f"\nBreakout, {num_envs:,} environments, horizon {HORIZON}, {options.minibatches} minibatches, one epoch, "
                 "chosen precision:\n\n") + table(columns, rows)
    last = config(options.num_envs[-1], 1, False, options.minibatches)
    text += f"\nThe choice of the probe for the last size: {choice(last, costs)}\n"
    publish(text, options.out)


def choice(settings: Config, costs) -> str:
    """How many batches the probe would take."""
    from trainer.environments import make_source
    source = make_source(settings.game, settings.env, settings.env.num_envs, 0)
    chosen = probe.choose(costs, probe.slab_bytes(source), source.num_envs, probe.game_seconds(source))
    return f"{chosen.num_batches} ({chosen.reason})"


if __name__ == "__main__":
    main()
