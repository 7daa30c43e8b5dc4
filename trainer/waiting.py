"""How OpenMP's threads wait: they spin while the cores are free, and sleep soon while other programs need them.

Between two parallel regions a thread of GNU's OpenMP spins for milliseconds, then sleeps. On free cores spinning is fast: to
wake a thread takes longer than many regions of a training. On busy cores a spinning thread takes time from the threads that
have work. docs/speed.md has figures.

The runtime reads the length of its spin from the environment when it is loaded, and has no call to change it. But with more
OpenMP threads than cores in a process it spins for 100 iterations in place of 300,000 (libgomp's manual, GOMP_SPINCOUNT). So
while the cores are busy, this module holds a team of threads that sleep: the process then has more threads than cores, and all
its teams spin briefly. What the threads compute is the same in both cases.

Loads no torch.
"""

import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

LOOK = 0.25         # seconds from one look at the system's counters to the next
BUSY = 0.10         # share of its time that the process waits for cores, from which they are busy
FREE = 0.05         # below this share they are free
SHORTEST_STAY = 1   # looks at free cores before threads spin long again ...
LONGEST_STAY = 128  # ... doubled each time that this was wrong, up to this

TASKS = Path("/proc/self/task")  # a folder for each thread, with Linux's counters


@functools.cache
def share_cores() -> None:
    """Watch from now on whether other programs need the cores, and let OpenMP's threads wait accordingly.

    A background thread looks at Linux's counters four times a second. On other systems, with another runtime than GNU's, or if
    the user has set OMP_WAIT_POLICY or GOMP_SPINCOUNT, nothing changes.
    """
    if sys.platform == "linux" and not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        threading.Thread(target=_watch, name="insertcoin-waiting", daemon=True).start()


class Times(NamedTuple):
    """What the threads of the process did, in ns since they started. Sleep is neither of the two."""

    ran: int
    waited: int  # for a core


class Decision:
    """Decides at each look whether threads should sleep soon. It begins with True, the cheaper of the two mistakes."""

    def __init__(self):
        self.sleep_soon = True
        self._stay = SHORTEST_STAY
        self._free_looks = 0
        self._looks = 0  # since the last change

    def look(self, ran: int, waited: int) -> bool:
        """Take note of what the process did since the last look, in ns; returns the new `sleep_soon`."""
        self._looks += 1
        if ran + waited == 0:  # it slept, or the system does not count
            return self.sleep_soon
        share = waited / (ran + waited)
        if not self.sleep_soon and share > BUSY:
            quick = self._looks <= 2 * self._stay  # they had been busy all the time
            self._stay = min(2 * self._stay, LONGEST_STAY) if quick else SHORTEST_STAY
            self._change(True)
        elif self.sleep_soon:
            self._free_looks = self._free_looks + 1 if share < FREE else 0
            if self._free_looks >= self._stay:
                self._change(False)
        return self.sleep_soon

    def _change(self, sleep_soon: bool) -> None:
        self.sleep_soon, self._looks, self._free_looks = sleep_soon, 0, 0


class SleepingTeam:
    """A team of OpenMP of one thread more than there are cores, asleep. It exists from `hold` to `drop`.

    library: the runtime, as ctypes loads it.
    """

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._end: threading.Event | None = None

    def hold(self) -> None:
        if self._end is None:
            self._end = threading.Event()
            threading.Thread(target=self._run, args=(self._end,), name="insertcoin-sleeping-team", daemon=True).start()

    def drop(self) -> None:
        """The team's threads end with the thread that started them."""
        if self._end is not None:
            self._end.set()
            self._end = None

    def _run(self, end: threading.Event) -> None:
        threads = self._library.omp_get_num_procs() + 1
        nothing = ctypes.cast(self._library.omp_get_thread_num, ctypes.c_void_p)  # what the region runs: without an effect
        self._library.GOMP_parallel(nothing, None, ctypes.c_uint(threads), ctypes.c_uint(0))
        end.wait()


def times(before: dict[str, Times]) -> tuple[dict[str, Times], Times]:
    """The counters of each thread of this process, and what the threads in both did since `before`.

    The counters are 0, or there are none, if the system does not count.
    """
    now = {}
    for task in TASKS.iterdir():
        with contextlib.suppress(OSError, ValueError):  # the thread has ended; no such counters
            ran, waited, _ = (task / "schedstat").read_text().split()
            now[task.name] = Times(int(ran), int(waited))
    since = [(each.ran - before[task].ran, each.waited - before[task].waited) for task, each in now.items() if task in before]
    return now, Times(sum(ran for ran, _ in since), sum(waited for _, waited in since))


def _watch() -> None:
    while not hasattr(sys.modules.get("torch"), "set_num_threads") or "envs_c.engine.engine" not in sys.modules:
        time.sleep(LOOK)
    from envs_c.engine import openmp
    library = openmp.runtime()
    if library is None or hasattr(library, "kmp_get_blocktime"):  # none, or LLVM's or Intel's under GNU's name
        return
    team, decision, counters = SleepingTeam(library), Decision(), {}
    team.hold()
    while True:
        time.sleep(LOOK)
        counters, since = times(counters)
        if decision.look(*since):
            team.hold()
        else:
            team.drop()
