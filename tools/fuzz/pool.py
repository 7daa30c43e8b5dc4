"""Runs cases in child processes. A case that crashes or hangs its process is named; a new process runs the cases after it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
JOB = 10_000    # cases of one process at most
MOST_FAULTS = 20  # of one surface; then its other cases are left out
HUNG = "Timeout ("  # how faulthandler's report of a hanging case begins


@dataclass
class Fault:
    """A case with a wrong outcome. kind: error, crash or hang."""

    surface: str
    case: int
    first: int  # case of its process
    kind: str
    text: str


@dataclass
class Result:
    """Of one surface: cases that were run, calls that were accepted and refused, faults, and seconds of its processes."""

    cases: int = 0
    seconds: float = 0.0
    counts: Counter = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class Job:
    """Some cases of a surface for one process."""

    surface: str  # a name in tools.fuzz, or the import path of a module
    first: int
    last: int

    @property
    def module(self) -> str:
        """The import path of the surface's module."""
        return self.surface if "." in self.surface else f"tools.fuzz.{self.surface}"


def jobs(cases: dict[str, int], workers: int) -> list[Job]:
    """The cases of each surface, divided into jobs; the longest jobs first."""
    made = []
    for surface, count in cases.items():
        size = max(1, min(JOB, -(-count // workers)))
        made += [Job(surface, first, min(first + size, count) - 1) for first in range(0, count, size)]
    return sorted(made, key=lambda job: job.first - job.last)


def run(todo: list[Job], seed: int, workers: int, seconds: float, found: Callable[[Fault], None]) -> dict[str, Result]:
    """Run the jobs on `workers` processes at a time.

    seconds: after which a case hangs.
    found: called with each fault at once.
    Returns the results by surface.
    """
    results = {job.surface: Result() for job in todo}
    queue, lock = SimpleQueue(), threading.Lock()
    for job in todo:
        queue.put(job)

    def work() -> None:
        while True:
            try:
                job = queue.get_nowait()
            except Empty:
                return
            while job is not None and len(results[job.surface].faults) < MOST_FAULTS:
                job = run_job(job, seed, seconds, results[job.surface], lock, found)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def run_job(job: Job, seed: int, seconds: float, result: Result, lock, found) -> Job | None:
    """Run one process. Returns the job of the cases that are left if a case ended the process."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-P", "-m", "tools.fuzz.child", job.module, seed, job.first, job.last, seconds, folder]
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder,
                                 env=environment(folder))
        case, ended, began = job.first - 1, False, time.monotonic()
        with child.stdout:
            for line in child.stdout:
                word = json.loads(line)
                case = word.get("case", case)
                with lock:
                    if "end" in word:
                        ended, result.counts = True, result.counts + Counter(word["end"])
                    elif "fault" in word:
                        note(result, Fault(job.surface, case, job.first, "error", word["fault"]), found)
                        if len(result.faults) >= MOST_FAULTS:
                            child.kill()
                    else:
                        result.cases += 1
        status = child.wait()
        with lock:
            result.seconds += time.monotonic() - began
        if (ended and status == 0) or len(result.faults) >= MOST_FAULTS:
            return None
        errors.seek(0)
        text = errors.read()[-6000:]
        kind = "hang" if HUNG in text else "crash"
        name = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        with lock:
            note(result, Fault(job.surface, max(case, job.first), job.first, kind, f"{name}\n{text}"), found)
        return Job(job.surface, case + 1, job.last) if job.first <= case < job.last else None


def note(result: Result, fault: Fault, found: Callable[[Fault], None]) -> None:
    """Keep a fault, and report it."""
    result.faults.append(fault)
    found(fault)


def environment(folder: str) -> dict[str, str]:
    """The environment of a child: its home and temporary files lie in its own folder; no compiler cache leaves files there."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "HOME": folder, "TMPDIR": folder, "XDG_CACHE_HOME": folder,
                         "ENVS_C_CACHE": str(Path(folder, "games")), "ENVS_C_FLAGS": "-O0", "OMP_WAIT_POLICY": "passive",
                         "PYTHONHASHSEED": "0", "CCACHE_DISABLE": "1",
                         "SDL_VIDEODRIVER": "dummy", "MPLBACKEND": "agg", "COLUMNS": "200"}
