"""Measurements of training on this machine's GPU, the second part of `insertcoin selftest`.

First the copies and launches of bridge.probe. Then training on Breakout (118 float32 features, encoder and LSTM of size 128),
serial and with 1, 2, 4, 8 and 16 batches: the speed of a rollout and of an iteration, the share of a rollout in which the
device is idle, and the bandwidth of the copies, divided by the bandwidth that the probe measured for copies of the same size.
"""

import contextlib
import gc
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bridge import open_device, probe
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.policy import precision
from trainer.rollout.actor import collect
from trainer.training import batches
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

VARIANTS = (("serial", 1, True), *((str(number), number, False) for number in (1, 2, 4, 8, 16)))  # name, batches, serial
HORIZON, MINIBATCHES = 64, 4
WARM_UP = 6, 2.0  # iterations, in which the graphs are captured, and seconds, in which the games' threads settle, at least


def config(num_envs: int, num_batches: int, serial: bool) -> Config:
    """Training on Breakout with one epoch of MINIBATCHES minibatches."""
    return Config("breakout", EnvConfig(num_envs=num_envs, num_batches=num_batches, reward_clip=1.0),
                  PolicyConfig(encoder_size=128, lstm_size=128, noise_hold=1),
                  PPOConfig(horizon=HORIZON, minibatch=num_envs * HORIZON // MINIBATCHES, total_steps=10**12,
                            normalize_rewards=False),
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


def copy_share(events, costs: probe.Costs, size: int) -> float:
    """Return the median bandwidth of the slabs' copies to the device, divided by the probe's for copies of this size.

    events: of torch's profiler.
    costs: measured by the probe.
    size: bytes of a copy.
    """
    times = [event.time_range.elapsed_us() / 1e6 for event in events
             if event.device_type == torch.autograd.DeviceType.CUDA and "HtoD" in event.name]
    slabs = [seconds for seconds in times if seconds > 0.2 * max(times)] if times else []  # leaves out small copies
    return probe.copy_seconds(costs, size) / statistics.median(slabs) if slabs else float("nan")


def measure(settings: Config, costs: probe.Costs, iterations: int) -> dict[str, float]:
    """Train and play with these settings, and return the figures by name. Frees the device's memory at its end."""
    try:
        with contextlib.closing(make_session(settings)) as session:
            return figures_of(session, costs, iterations)
    finally:
        session = None
        gc.collect()  # a session's parts refer to each other
        torch.cuda.empty_cache()


def warm_up(session: TrainingSession) -> None:
    """Train until the time of an iteration is that of a longer training."""
    iterations, seconds = WARM_UP
    begin, done = time.perf_counter(), 0
    while done < iterations or time.perf_counter() - begin < seconds:
        iterate(session)
        done += 1
    torch.cuda.synchronize()


def figures_of(session: TrainingSession, costs: probe.Costs, iterations: int) -> dict[str, float]:
    """Train and play a session, and return the figures by name."""
    settings = session.config
    warm_up(session)
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
    return {"num_envs": settings.env.num_envs, "batches": settings.env.num_batches, "serial": settings.run.serial,
            "steps_per_second": steps / iteration, "rollout_steps_per_second": steps / rollout, "iteration_ms": 1e3 * iteration,
            "rollout_ms": 1e3 * rollout, "games_ms": 1e3 * env, "idle": 1 - busy_seconds(events) / traced, "copy_bytes": size,
            "bandwidth": copy_share(events, costs, size)}


def results(sizes: Sequence[int], iterations: int) -> Iterator[dict[str, Any]]:
    """Measure training with each number of environments in `sizes`, `iterations` times.

    Yields {"copies": the probe's table}, {"choice": the number of batches of a training with the last size}, and for each
    measurement {"figure": what `measure` returns}, or {"problem": the error}.
    """
    costs = probe.measure(open_device("cuda"))
    yield {"copies": probe.table(costs)}
    yield {"choice": choice(config(sizes[-1], 0, False))}
    for num_envs in sizes:
        for name, num_batches, serial in VARIANTS:
            print(f"{num_envs} environments, {name}", file=sys.stderr, flush=True)
            try:
                yield {"figure": measure(config(num_envs, num_batches, serial), costs, iterations)}
            except Exception as error:
                yield {"problem": f"{num_envs} environments, {name}: {type(error).__name__}: {error}"}


def choice(settings: Config) -> str:
    """Return the number of batches that a training would choose, with the reason."""
    dtype = precision.choose(settings.policy.precision, "cuda")[0]
    number, reason = batches.choose(settings, open_device("cuda"), dtype, graphs=True)
    return f"{number} ({reason})"
