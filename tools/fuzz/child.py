"""The main program of a child process: `python -m tools.fuzz.child MODULE SEED FIRST LAST SECONDS FOLDER`.

It runs the cases FIRST .. LAST of one surface, and writes a line of JSON before each case, for each fault, and at the end.
A case that takes more than SECONDS ends the process, with the Python stack of that moment on the standard error.
"""

import contextlib
import faulthandler
import importlib
import json
import os
import random
import sys
import traceback
import warnings
from pathlib import Path

from envs_c.testing.watchdog import end_with_parent
from tools.fuzz.case import Box, Fault, resident

WARM_UP = 100        # cases, after which caches are full
GROWTH = 200 << 20   # bytes that a process may grow by after that; one more is a leak
MORE = 1536 << 20    # bytes of address space for the cases: what is larger does not fit, here as on a small machine
CHECKED_EVERY = 100  # cases between two looks at the memory


def main(module: str, seed: str, first: str, last: str, seconds: str, folder: str) -> None:
    """Run the cases and report them."""
    end_with_parent()
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a case prints beneath Python
    faulthandler.enable()
    warnings.simplefilter("ignore")
    surface, box = importlib.import_module(module), Box(Path(folder))
    surface.setup(box)
    box.keep()
    limit_memory()
    start, name = 0, module.rpartition(".")[2]
    for number in range(int(first), int(last) + 1):
        print(json.dumps({"case": number}), file=report)
        faulthandler.dump_traceback_later(float(seconds), exit=True)
        fault = run(surface, random.Random(f"{seed} {name} {number}"), box)
        faulthandler.cancel_dump_traceback_later()
        done = number - int(first) + 1
        if done == WARM_UP:
            start = resident()
        elif done > WARM_UP and done % CHECKED_EVERY == 0 and resident() - start > GROWTH:
            fault = fault or f"memory grew by {(resident() - start) >> 20} MB in the cases {first} to {number} of one process"
            start = resident()
        if fault:
            print(json.dumps({"fault": fault, "case": number}), file=report)
    print(json.dumps({"end": dict(box.counts)}), file=report)


def run(surface, rng: random.Random, box: Box) -> str | None:
    """Run one case; returns its fault, or None."""
    fault = None
    try:
        surface.case(rng, box)
    except Fault as error:
        fault = str(error)
    except BaseException:  # whatever a case raises beside the documented errors is the fault to report
        fault = traceback.format_exc()
    if not fault and (new := box.new_files()):
        fault = f"left over: {', '.join(new[:10])}"
    box.tidy()
    return fault


def limit_memory() -> None:
    """Let allocations fail that a small machine has no memory for."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource
        used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MORE, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
