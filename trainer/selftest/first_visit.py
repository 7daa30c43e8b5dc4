"""`insertcoin selftest --visit`: all that a GPU should show at a first visit of thirty minutes, in order of importance.

Each part is a program of its own. Its output is in the file at once, line by line: if a part, or the machine, ends early,
all before it is there. The parts run from the repository, and without a network.
"""

import contextlib
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from envs_c.files import write_atomically
from trainer.files import writing
from trainer.process import program_command
from trainer.selftest.page import table
from trainer.selftest.programs import run
from trainer.selftest.visit import facts

SIZES = (1024, 8192, 65_536)  # environments of the figures
SMALL_GPU = 12 << 30          # bytes; a GPU with less leaves out the last of SIZES
REFUSED = "tests/trainer/test_gpu_refused.py"  # its failed capture leaves torch's allocator in another state
LSTM = "tests/trainer/kernels/test_kernels_lstm.py"


class Part(NamedTuple):
    """A part of the visit."""

    name: str
    command: list[str]
    seconds: float           # after which it is ended
    needs: tuple[str, ...]   # files of the repository, or programs, without which it is left out


def parts(folder: Path, memory: int) -> list[Part]:
    """The parts in their order.

    folder: for traces.
    memory: bytes of the GPU.
    """
    own, python = [*program_command(), "selftest", "--part"], [sys.executable, "-m"]
    test = [*python, "pytest", "-q", "-m", "gpu", "--continue-on-collection-errors"]  # some need packages of other tests
    sizes = SIZES if memory >= SMALL_GPU else SIZES[:-1]
    profile = [*program_command(), "profile", "breakout", "--device", "cuda", "--sim"]
    return [
        Part("build", [sys.executable, "setup.py", "-q", "build_ext", "--inplace"], 600, ("setup.py",)),
        Part("kernels", [*own, "kernels"], 180, ()),
        Part("tests", [*test, "tests", f"--ignore={REFUSED}"], 420, ("tests",)),
        Part("a refused capture", [*test, REFUSED], 60, ("tests",)),
        Part("races", ["compute-sanitizer", "--tool", "racecheck", "--error-exitcode", "1", *test, LSTM], 180,
             ("tests", "compute-sanitizer")),
        Part("probe", [*own, "probe"], 60, ()),
        Part("games", [*own, "games"], 300, ()),
        Part("cartridges", [*own, "cartridges"], 240, ()),
        Part("simulations", [*own, "simulations", "--num-envs", ",".join(map(str, sizes))], 480, ()),
        Part("training", [*own, "training"], 660, ()),
        *(Part(f"trace, {sim}", [*profile, sim, "--out", str(folder / f"insertcoin_trace_{sim}.json.gz")], 60, ())
          for sim in ("host", "device")),
    ]


def missing(part: Part) -> str:
    """What a part needs and is not here, or ""."""
    return next((one for one in part.needs if not Path(one).exists() and shutil.which(one) is None), "")


def visit(out: Path) -> int:
    """Run all parts, and write their results to `out` as they come. Returns the number of parts that failed.

    Raises FileError if the file cannot be written.
    """
    results: dict[str, Any] = {"facts": facts(), "parts": []}

    def write() -> None:
        with writing(out, "name another file with --out"):
            write_atomically(out, [page(results).encode()])
    memory = torch.cuda.get_device_properties(0).total_memory
    write()
    for part in parts(out.parent, memory):
        done: dict[str, Any] = {"part": part.name, "seconds": 0.0, "problem": "it is running", "lines": []}
        results["parts"].append(done)

        def take(line: str, done: dict = done) -> None:
            done["lines"].append(line)
            write()
        write()
        print(f"{part.name} ...", file=sys.stderr, flush=True)
        begin, absent = time.perf_counter(), missing(part)
        done["problem"] = f"not here: {absent}" if absent else run(part.command, part.seconds, take) or failed(done["lines"])
        done["seconds"] = time.perf_counter() - begin
        print(f"{part.name}: {done['problem'] or 'done'}", file=sys.stderr, flush=True)
        write()
    return sum(bool(one["problem"]) for one in results["parts"])


def failed(lines: Sequence[str]) -> str:
    """The failed checks and the problems among a part's lines of JSON, or ""."""
    found = []
    for line in lines:
        with contextlib.suppress(json.JSONDecodeError):  # a line of another program
            result = json.loads(line)
            if isinstance(result, dict) and (result.get("passed") is False or "problem" in result):
                found.append(result.get("problem") or f"{result['check']}: {result['detail']}")
    return "; ".join(found)


def page(results: dict[str, Any]) -> str:
    """The file, as Markdown."""
    rows = [(one["part"], f"{one['seconds']:.0f}", one["problem"] or "done") for one in results["parts"]]
    text = [f"# A first visit to {results['facts']['gpu']}\n", table(("fact", "value"), [*results["facts"].items()]),
            "## Parts\n", table(("part", "seconds", "result"), rows)]
    text += [f"## {one['part']}\n\n```\n" + "\n".join([*one["lines"], one["problem"]]).strip() + "\n```\n"
             for one in results["parts"]]
    return "\n".join(text)
