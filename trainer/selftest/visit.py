"""Runs the parts of the self-test, each as a program of its own: one that fails or takes too long does not end the others."""

import contextlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import envs_c
from envs_c.files import write_atomically
from envs_c.machine import cores, cpu_name
from trainer.files import writing
from trainer.process import program_command
from trainer.selftest.checks import CHECKS
from trainer.selftest.figures import HORIZON, MINIBATCHES
from trainer.selftest.page import page
from trainer.selftest.programs import program

PACKAGES = ("torch", "numpy", "cupy-cuda12x", "cupy-cuda13x", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
SECONDS = 570.0                                             # for all parts together
CHECK_SECONDS, FIGURES, MODEL = 240.0, 240.0, 40.0          # at most: for all checks, and for one program
MODELS = ("h100", "h200", "rtx5090", "rtx4090", "rtx2080")  # of benchmarks.gpu_model
OUTPUT = 6000                                               # characters of failed tests

Results = dict[str, Any]


class Clock:
    """The time that is left; seconds: None for no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self, most: float) -> float | None:
        """Return the seconds for the next program, or None without a limit."""
        return None if self.end is None else max(1.0, min(most, self.end - time.monotonic()))


def own_part(part: str, *arguments: str, seconds: float | None) -> tuple[list[Results], str]:
    """Run one part of the self-test in a process; returns its results so far, and the reason why it ended early, or ""."""
    output, problem = program([*program_command(), "selftest", "--part", part, *arguments], seconds)
    found = []
    for line in output.splitlines():
        with contextlib.suppress(json.JSONDecodeError):  # the line at which the process ended
            found.append(json.loads(line))
    return found, problem


def of_the_repository(path: str, *command: str, seconds: float | None) -> tuple[str, str]:
    """Run `python -m command` if this folder has the path; returns what `program` returns."""
    if not Path(path).exists():
        return "", f"not here: {path} is a part of the repository; run this command in its folder"
    return program([sys.executable, "-m", *command], seconds)


def facts() -> dict[str, str]:
    """Return the machine, the GPU and the versions."""
    found = {"date": date.today().isoformat(), "insertcoin": envs_c.__version__, "gpu": torch.cuda.get_device_name(),
             "driver": driver(), "cuda": str(torch.version.cuda), "cpu": f"{cpu_name()}, {cores()} cores",
             "system": f"{platform.system()} {platform.release()}", "python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def driver() -> str:
    """Return the driver, the memory and the bus of the GPUs, as nvidia-smi prints them."""
    query = "--query-gpu=driver_version,memory.total,pcie.link.gen.max,pcie.link.width.max,power.limit"
    try:
        done = subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True, timeout=20,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown: nvidia-smi does not run"
    return "; ".join(done.stdout.split("\n")).strip("; ") or "unknown: nvidia-smi prints nothing"


def predict(clock: Clock, gpu: str, measured: list[Results]) -> str:
    """Add the model's answer to each figure that is not serial, under "model". Returns the reason if one is missing, or "".

    gpu: its name.
    measured: figures; the time of the games is taken from them.
    """
    name = next((one for one in MODELS if one in gpu.lower().replace(" ", "")), None)
    if name is None:
        return f"the model does not know {gpu}; it has {', '.join(MODELS)}"
    for one in (one for one in measured if not one["serial"]):
        steps = one["num_envs"] * HORIZON
        output, problem = of_the_repository(
            "benchmarks/gpu_model", "benchmarks.gpu_model", "--device", name, "--num-envs", str(one["num_envs"]), "--horizon",
            str(HORIZON), "--minibatch", str(steps // MINIBATCHES), "--batches", str(one["batches"]), "--cores", str(cores()),
            "--game-ns", f"{one['games_ms'] * 1e6 * cores() / steps:.3f}", "--json", seconds=clock.left(MODEL))
        if problem:
            return problem
        one["model"] = json.loads(output)[0]
    return "" if measured else "there are no figures to predict"


def visit(out: Path, sizes: Sequence[int], iterations: int, *, full: bool = False) -> Results:
    """Run all parts and return their results. The file `out` is written after each part.

    sizes: numbers of environments to measure with.
    iterations: measured iterations for each size and number of batches.
    full: run the tests marked gpu too, and set no limit of time.

    Raises FileError if the file cannot be written.
    """
    clock = Clock(None if full else SECONDS)
    results: Results = {"facts": facts(), "checks": [], "copies": "", "choice": "", "figures": [], "tests": "", "problems": {}}

    def write() -> None:
        with writing(out, "name another file with --out"):
            write_atomically(out, [page(results).encode()])

    def note(name: str, problem: str) -> None:
        if problem:
            results["problems"][name] = problem
        print(f"{name}: {problem or 'done'}", file=sys.stderr, flush=True)
        write()
    write()
    checking = Clock(clock.left(CHECK_SECONDS))
    for part in CHECKS:
        found, problem = own_part(part, seconds=checking.left(CHECK_SECONDS))
        results["checks"] += found
        note(part, problem)
    if full:
        output, problem = of_the_repository("tests", "pytest", "-q", "-m", "gpu", "--continue-on-collection-errors", "tests",
                                            seconds=None)
        results["tests"] = "".join(output.splitlines()[-1:])
        note("tests", problem and f"{problem}\n{output[-OUTPUT:]}")
    found, problem = own_part("figures", "--num-envs", ",".join(map(str, sizes)), "--iterations", str(iterations),
                              seconds=clock.left(FIGURES))
    for one in found:
        results.update({name: one[name] for name in ("copies", "choice") if name in one})
    results["figures"] = [one["figure"] for one in found if "figure" in one]
    note("figures", "\n".join([*(one["problem"] for one in found if "problem" in one), *([problem] if problem else [])]))
    note("model", predict(clock, results["facts"]["gpu"], results["figures"]))
    return results
