"""Profile of a training: a trace for Perfetto, and a table of the time of each stage."""

import contextlib
import tempfile
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from bridge.spans import recording
from envs_c.files import naming, write_atomically
from trainer import kernels
from trainer.config import Config
from trainer.errors import SettingError
from trainer.training.build import make_session
from trainer.training.train import iterate

WARM_UP = 4  # iterations before the trace, in which graphs are captured
STAGES = ("wait for the actions", "play", "copy to the device", "work on the device", "forward", "sample",
          "copy of the actions", "batch step", "advantages", "minibatch", "wait for the device")


def profile_run(config: Config, iterations: int, out: Path) -> str:
    """Train for a few iterations and trace them; returns the table of stages. The training is not saved.

    iterations: number of traced iterations, after a warm-up.
    out: file of the trace, .json or .json.gz.
    Raises SettingError if two threads would work (`overlap` on the CPU): the trace is that of one.
    """
    with contextlib.closing(make_session(config)) as session:
        if config.ppo.overlap and session.device.type == "cpu":
            raise SettingError("overlap", "must be false for a profile on the CPU, which records one thread, not true")
        for _ in range(WARM_UP):
            iterate(session)
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if session.device.type == "cuda" else [])]
        with recording(), profile(activities=activities) as profiler:
            metrics = [iterate(session) for _ in range(iterations)]
            if session.device.type == "cuda":
                torch.cuda.synchronize(session.device)
        session.pipeline.settle()
    with tempfile.TemporaryDirectory() as scratch:
        trace = Path(scratch, out.name)
        with naming(trace):
            profiler.export_chrome_trace(str(trace))
        write_atomically(out, [trace.read_bytes()])
    seconds = sum(session.config.batch_steps / m["sps"] for m in metrics)
    facts = ", ".join(f"{name} {value}" for name, value in session.facts.items())
    picked = ", ".join(f"{kernel} {version}" for kernel, version in kernels.picked().items())
    traced = f"{iterations} iteration{'s' * (iterations > 1)} of {config.batch_steps:,} steps"
    return f"{config.game}: {traced}, {facts}\nkernels: {picked}\n" + \
        table(profiler.key_averages(), iterations, seconds)


def table(events, iterations: int, seconds: float) -> str:
    """Milliseconds per iteration of every stage of every batch, on the host and on the device.

    events: averages of torch's profiler.
    iterations: number of traced iterations.
    seconds: duration of all of them.
    """
    rows = []
    for event in events:
        stage = event.key.partition(", batch ")[0]
        if stage in STAGES and event.cpu_time_total > 0:
            rows.append((STAGES.index(stage), event.key, event.count / iterations, event.cpu_time_total / 1e3 / iterations,
                         getattr(event, "device_time_total", 0.0) / 1e3 / iterations))
    total = seconds * 1e3 / iterations
    lines = [f"{'stage':<34}{'times':>8}{'host ms':>12}{'share':>8}{'device ms':>12}",
             f"{'iteration':<34}{1:>8}{total:>12.2f}{1:>8.0%}{'':>12}"]
    lines += [f"{name:<34}{count:>8.0f}{host:>12.2f}{host / total:>8.0%}{device:>12.2f}"
              for _, name, count, host, device in sorted(rows)]
    return "\n".join(lines)
