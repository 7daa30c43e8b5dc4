"""All tests and measurements that need a GPU, in one command: `python -m benchmarks.gpu --out benchmarks/results/gpu.md`.

First `pytest -m gpu` in its own process, then the measurements of bridge.probe. Then training on Breakout (118 float32
features, encoder and LSTM of size 128), serial and with 1, 2, 4, 8 and 16 batches: the speed of a rollout and of an iteration,
the share of a rollout in which the device is idle, and the bandwidth of the copies, divided by the bandwidth that the probe
measured for copies of the same size. The default sizes suit a large machine; `--num-envs` sets others.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.common import head, new_parser, publish
from bridge import DeviceError, open_device, probe
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.environments import make_source
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.rollout.actor import collect
from trainer.training.build import make_session
from trainer.training.train import iterate

VARIANTS = (("serial", 1, True), *((str(number), number, False) for number in (1, 2, 4, 8, 16)))  # name, batches, serial
HORIZON = 64


def config(num_envs: int, num_batches: int, serial: bool, minibatches: int) -> Config:
    return Config("breakout", EnvConfig(num_envs=num_envs, num_batches=num_batches, reward_clip=1.0),
                  PolicyConfig(encoder_size=128, lstm_size=128),
                  PPOConfig(horizon=HORIZON, minibatch=num_envs * HORIZON // minibatches, total_steps=10**12),
                  RunConfig(device="cuda", serial=serial))


def busy_seconds(events) -> float:
    """Return the seconds in which the device was busy: the length of the union of its events' intervals."""
    spans = sorted((event.time_range.start, event.time_range.end) for event in events
                   if event.device_type == torch.autograd.DeviceType.CUDA)
    total, reached = 0.0, float("-inf")
    for begin, end in spans:
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total / 1e6


def copy_share(events, costs, size: int) -> float:
    """Return the median bandwidth of the slabs' copies to the device, divided by the probe's for copies of this size.

    events: of torch's profiler.
    costs: measured by the probe.
    size: bytes of a copy.
    """
    times = [event.time_range.elapsed_us() / 1e6 for event in events
             if event.device_type == torch.autograd.DeviceType.CUDA and "HtoD" in event.name]
    slabs = [seconds for seconds in times if seconds > 0.2 * max(times)] if times else []  # leaves out small copies
    return probe.copy_seconds(costs, size) / statistics.median(slabs) if slabs else float("nan")


def measure(settings: Config, costs, iterations: int) -> dict[str, float]:
    """Train and play with these settings, and return the figures by name; `row` shows them."""
    session = make_session(settings)
    for _ in range(6):  # the graphs are captured in these iterations
        iterate(session)
    torch.cuda.synchronize()
    steps = settings.batch_steps
    iteration = statistics.median(steps / m["sps"] for m in (iterate(session) for _ in range(iterations)))
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
    return {"num_envs": settings.env.num_envs, "batches": settings.env.num_batches, "serial": settings.run.serial,
            "steps_per_second": steps / iteration, "rollout_steps_per_second": steps / rollout, "iteration_ms": 1e3 * iteration,
            "rollout_ms": 1e3 * rollout, "games_ms": 1e3 * env, "idle": 1 - busy_seconds(events) / traced, "copy_bytes": size,
            "bandwidth": copy_share(events, costs, size)}


def row(figures: dict[str, float]) -> list[str]:
    """The cells of the table for the figures of `measure`."""
    return ["serial" if figures["serial"] else str(figures["batches"]), count(figures["steps_per_second"]),
            count(figures["rollout_steps_per_second"]), f"{figures['iteration_ms']:.2f}", f"{figures['rollout_ms']:.2f}",
            f"{figures['games_ms']:.2f}", f"{figures['idle']:.0%}", f"{figures['copy_bytes']:,}", f"{figures['bandwidth']:.0%}"]


def correctness() -> str:
    """Run `pytest -m gpu` and return its last line."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests"],
                          capture_output=True, text=True, check=False)
    print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr)
    return f"`pytest -m gpu`: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else 'no output'}\n"


def main():
    parser = new_parser("gpu", __doc__)
    parser.add_argument("--num-envs", type=int, nargs="+", default=[8192, 32768],
                        help="numbers of environments (default: 8192 32768)")
    parser.add_argument("--minibatches", type=int, default=4, help="minibatches per rollout (default: 4)")
    parser.add_argument("--iterations", type=int, default=10, help="measured iterations (default: 10)")
    parser.add_argument("--no-tests", action="store_true", help="do not run `pytest -m gpu`")
    parser.add_argument("--json", type=Path, help="file to write the figures to, as JSON")
    parser.add_argument("--out", type=Path, help="file to write the tables to")
    options = parser.parse_args()
    try:
        device = open_device("cuda")
    except DeviceError as error:
        parser.exit(2, f"error: {error}\n")
    text = head("On the GPU") + f"\n{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}\n\n"
    text += "" if options.no_tests else correctness() + "\n"
    costs = probe.measure(device)
    text += f"Copies and launches (`python -m bridge.probe`):\n\n```\n{probe.table(costs)}\n```\n"
    columns = ["batches", "steps/s", "steps/s, rollout only", "iteration, ms", "rollout, ms", "games, ms", "device idle",
               "bytes per copy", "bandwidth / probe's"]
    everything = []
    for num_envs in options.num_envs:
        found = []
        for name, num_batches, serial in VARIANTS:
            print(f"{num_envs} environments, {name}", file=sys.stderr, flush=True)
            found.append(measure(config(num_envs, num_batches, serial, options.minibatches), costs, options.iterations))
        text += (f"\nBreakout, {num_envs:,} environments, horizon {HORIZON}, {options.minibatches} minibatches, one epoch, "
                 "the precision that the trainer chooses:\n\n") + markdown(columns, [row(one) for one in found])
        everything += found
    last = config(options.num_envs[-1], 1, False, options.minibatches)
    text += f"\nThe probe's choice for the last size: {choice(last, costs)}\n"
    if options.json is not None:
        options.json.write_text(json.dumps(everything), encoding="utf-8")
    publish(text, options.out)


def choice(settings: Config, costs) -> str:
    """Return the probe's number of batches, with its reason."""
    source = make_source(settings.game, settings.env, settings.env.num_envs, 0)
    chosen = probe.choose(costs, probe.slab_bytes(source), source.num_envs, probe.game_seconds(source))
    return f"{chosen.num_batches} ({chosen.reason})"


if __name__ == "__main__":
    main()
