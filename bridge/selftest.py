"""Check and measure this machine's GPU in less than ten minutes, and write one file to send back: `python -m bridge.selftest`.

Each part is a program of its own, so one that fails or takes too long does not end the others:

    checks    each kernel against plain torch; captured graphs against the same work without; several batches; memory
    figures   `python -m benchmarks.gpu` with one size: training on Breakout with 1 to 16 batches
    model     `python -m benchmarks.gpu_model` for the same sizes: its prediction beside each figure

The last two need the repository, with `make cuda`. The file is Markdown, and ends with all results as JSON. It names the
machine, the GPU, its driver and the versions. Exit code: 0 if all checks pass, 1 if one fails, 2 without a GPU.
"""

import argparse
import contextlib
import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import envs_c
from bridge.device import why_no_gpu
from envs_c.machine import cores, cpu_name

PACKAGES = ("torch", "numpy", "cupy-cuda12x", "cupy-cuda13x", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
SECONDS = 570.0                                          # for all parts together
CHECKS, FIGURES, MODEL = 240.0, 240.0, 40.0              # at most, for one program
NUM_ENVS, HORIZON, MINIBATCHES, ITERATIONS = 8192, 64, 4, 5
MODELS = ("h100", "h200", "rtx5090", "rtx4090", "rtx2080")  # of benchmarks.gpu_model
FIGURE_COLUMNS = ("batches", "steps/s, measured", "steps/s, modelled", "modelled / measured", "rollout, ms, measured",
                  "rollout, ms, modelled")
LAST_LINES = 12                                          # of a failed program's errors

Results = dict[str, Any]


class Clock:
    """The time that is left."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self, most: float) -> float:
        """Return the seconds for the next program."""
        return max(1.0, min(most, self.end - time.monotonic()))


def program(module: str, *arguments: str, seconds: float) -> tuple[str, str]:
    """Run `python -m module` and return its output and the reason why it failed, or ""."""
    if not _exists(module):
        return "", f"not here: {module} is a part of the repository; run this command in its folder"
    try:
        done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        return "", f"{module} was ended after {seconds:.0f} seconds"
    errors = "\n".join(done.stderr.splitlines()[-LAST_LINES:])
    return done.stdout, f"{module} ended with code {done.returncode}:\n{errors}" if done.returncode else ""


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of its package
        return False


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


def checks(clock: Clock) -> tuple[list[Results], str]:
    """Return the results of all checks, and the reason if there are none."""
    output, problem = program("trainer.training.selftest", seconds=clock.left(CHECKS))
    return ([], problem) if problem else (json.loads(output), "")


def figures(clock: Clock) -> tuple[list[Results], str, str]:
    """Return the figures of benchmarks.gpu, its page, and the reason if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        text, problem = program("benchmarks.gpu", "--no-tests", "--num-envs", str(NUM_ENVS), "--minibatches", str(MINIBATCHES),
                                "--iterations", str(ITERATIONS), "--json", str(file), seconds=clock.left(FIGURES))
        return ([], text, problem) if problem else (json.loads(file.read_text(encoding="utf-8")), text, "")


def predictions(clock: Clock, gpu: str, measured: Sequence[Results]) -> tuple[dict[int, Results], str]:
    """Return the model's answers by number of batches, and the reason if there are none.

    gpu: its name.
    measured: results of `figures`; the time of the games is taken from them.
    """
    name = next((one for one in MODELS if one in gpu.lower().replace(" ", "")), None)
    if name is None:
        return {}, f"the model does not know {gpu}; it has {', '.join(MODELS)}"
    answers: dict[int, Results] = {}
    for one in (one for one in measured if not one["serial"]):
        game_ns = one["games_ms"] * 1e6 * cores() / (NUM_ENVS * HORIZON)
        output, problem = program(
            "benchmarks.gpu_model", "--device", name, "--num-envs", str(NUM_ENVS), "--horizon", str(HORIZON), "--minibatch",
            str(NUM_ENVS * HORIZON // MINIBATCHES), "--batches", str(one["batches"]), "--cores", str(cores()), "--game-ns",
            f"{game_ns:.3f}", "--json", seconds=clock.left(MODEL))
        if problem:
            return answers, problem
        answers[one["batches"]] = json.loads(output)[0]
    return answers, "" if answers else "there are no figures to predict"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(columns), ["---"] * len(columns), *cells])


def page(results: Results) -> str:
    """Return the file to send."""
    verdicts = {True: "yes", False: "**NO**", None: ""}
    checked = [(one["part"], one["check"], verdicts[one["passed"]], one["detail"]) for one in results["checks"]]
    parts = [f"# insertcoin on {results['facts']['gpu']}\n", table(("fact", "value"), [*results["facts"].items()]),
             "## Checks\n", table(("part", "check", "passed", "detail"), checked),
             f"## Figures\n\nBreakout, {NUM_ENVS:,} environments, {MINIBATCHES} minibatches. The modelled figures were not "
             "measured.\n", table(FIGURE_COLUMNS, [figures_row(one, results["model"]) for one in results["figures"]])]
    parts += [f"## Not done: {name}\n\n```\n{problem}\n```\n" for name, problem in results["problems"].items()]
    parts += ["## All of `python -m benchmarks.gpu`\n", results["page"]] if results["page"] else []
    content = {name: value for name, value in results.items() if name != "page"}
    return "\n".join([*parts, "## JSON\n", f"```json\n{json.dumps(content, indent=1)}\n```\n"])


def figures_row(one: Results, model: dict[int, Results]) -> list[str]:
    """Return one figure beside the model's."""
    answer = None if one["serial"] else model.get(one["batches"])
    measured = [f"{one['steps_per_second']:,.0f}", f"{one['rollout_ms']:.2f}"]
    modelled = ["", "", ""] if answer is None else [
        f"{answer['steps_per_second']:,.0f}", f"{answer['steps_per_second'] / one['steps_per_second']:.2f}",
        f"{answer['rollout_ms']:.2f}"]
    return ["serial" if one["serial"] else str(one["batches"]), measured[0], *modelled[:2], measured[1], modelled[2]]


def visit(out: Path, seconds: float = SECONDS) -> Results:
    """Run all parts and return their results. The file is written after each part."""
    clock = Clock(seconds)
    results: Results = {"facts": facts(), "checks": [], "figures": [], "model": {}, "problems": {}, "page": ""}

    def note(name: str, problem: str) -> None:
        if problem:
            results["problems"][name] = problem
        print(f"{name}: {problem or 'done'}", file=sys.stderr, flush=True)
        out.write_text(page(results), encoding="utf-8")
    out.write_text(page(results), encoding="utf-8")
    results["checks"], problem = checks(clock)
    note("checks", problem)
    results["figures"], results["page"], problem = figures(clock)
    note("figures", problem)
    results["model"], problem = predictions(clock, results["facts"]["gpu"], results["figures"])
    note("model", problem)
    return results


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bridge.selftest", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("insertcoin_selftest.md"),
                        help="file to write (default: insertcoin_selftest.md)")
    options = parser.parse_args(argv)
    if problem := why_no_gpu():
        print(f"error: the self-test needs a GPU: {problem}", file=sys.stderr)
        return 2
    try:
        results = visit(options.out)
    except OSError as error:
        print(f"error: cannot write {options.out}: {error.strerror}; name another file with --out", file=sys.stderr)
        return 2
    failed = [one for one in results["checks"] if one["passed"] is False]
    for one in failed:
        print(f"failed: {one['part']}, {one['check']}: {one['detail']}", file=sys.stderr)
    print(f"{sum(one['passed'] is True for one in results['checks'])} checks passed, {len(failed)} failed; please send "
          f"{options.out} with an issue")
    return 1 if failed or "checks" in results["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
