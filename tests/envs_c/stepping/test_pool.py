"""The engine's pool of threads: each chunk is done once, and the threads take part if they help and end with their pool.

The pool and the choice of its size are C (envs_c/engine/pool.h and team.h). They are tested in programs of their own, which
are compiled here: one under the thread sanitizer, one with simulated times.
"""

import ctypes
import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from c_programs import COMPILER, TASKS, counts_threads, needs_compiler, prints_ok

import envs_c
from envs_c import VecEnv
from envs_c.engine import engine
from envs_c.testing.play import bind, buffers

ENGINE = Path(engine.__file__).parent
STRESS = Path(__file__).parents[2] / "support" / "pool_stress.h"

SIMULATION = """
#include "crowd.h"
#include "team.h"

typedef struct { Team team; Crowd crowd; } Caller;

/* Calls that take work / size + each * (size - 1) + wake (if size > 1) ns, where work = items * item. The caller works
   for `gap` ns between them. cpu: the part of the time in which it has a core, with one thread and with more.
   sizes, times: (calls,) the threads and ns of each call. */
void simulate(Caller *c, int calls, double items, double item, double each, double wake, double gap, double cpu_alone,
              double cpu, int *sizes, double *times)
{
    for (int k = 0; k < calls; k++) {
        int crowded = crowd_is_here(&c->crowd), size = sizes[k] = team_size(&c->team, items, crowded);
        double own = items * item / size, ns = times[k] = own + (size > 1 ? each * (size - 1) + wake : 0);
        double ran = (ns + gap) * (size > 1 ? cpu : cpu_alone);
        Call call = {.items = items, .ns = ns, .gap = gap, .own_items = items / size, .own_ns = own};
        crowd_note(&c->crowd, ran, ns + gap - ran);
        team_note(&c->team, size, crowded, &call);
    }
}

void *caller_new(int most) {
    Caller *c = calloc(1, sizeof *c);
    team_init(&c->team, most);
    return c;
}

void look(Crowd *c, int64_t now) { crowd_look(c, now); }
"""
SCHEDSTAT = Path("/proc/thread-self/schedstat")


class Crowd(ctypes.Structure):
    """Crowd of crowd.h."""

    _fields_ = [("ran", ctypes.c_double), ("waited", ctypes.c_double), ("looked", ctypes.c_int64),
                ("counters", ctypes.c_uint64 * 2), ("blind", ctypes.c_int)]


def compiled(folder: Path, *arguments: str) -> Path:
    """The output of the C compiler with these arguments, in `folder`."""
    out = folder / "out.so"
    subprocess.run([COMPILER, "-O1", "-g", "-pthread", f"-I{ENGINE}", *arguments, "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """SIMULATION, compiled."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "simulation.c").write_text(SIMULATION, encoding="utf-8")
    library = ctypes.CDLL(str(compiled(folder, "-shared", "-fPIC", str(folder / "simulation.c"))))
    library.caller_new.restype = ctypes.c_void_p
    library.look.argtypes = [ctypes.POINTER(Crowd), ctypes.c_int64]
    return library


@pytest.fixture(scope="module")
def simulated(library):
    """A function that simulates calls of a new or a given caller. Returns the threads and ns of each call, and the caller."""
    double, pointer = ctypes.c_double, ctypes.c_void_p

    def simulate(calls=20_000, most=2, items=1000, item=1000.0, each=0.0, wake=0.0, gap=2e4, cpu_alone=1.0, cpu=1.0,
                 caller=None):
        caller = caller or library.caller_new(most)
        sizes, times = np.zeros(calls, np.int32), np.zeros(calls)
        library.simulate(pointer(caller), calls, *map(double, (items, item, each, wake, gap, cpu_alone, cpu)),
                         pointer(sizes.ctypes.data), pointer(times.ctypes.data))
        return sizes, times, caller
    return simulate


@needs_compiler
@pytest.mark.parametrize(("case", "best"), [
    ({"items": 60, "item": 50.0, "most": 16}, 1),                                        # 3 us of work
    ({"items": 1000, "item": 1000.0, "most": 2}, 2),                                     # 1 ms
    ({"items": 1000, "item": 1000.0, "most": 16}, 16),
    ({"items": 1000, "item": 60.0, "most": 2, "wake": 1000.0}, 2),                       # 60 us, helpers awake
    ({"items": 1000, "item": 60.0, "most": 2, "wake": 120e3}, 1),                        # 60 us, helpers asleep
    ({"items": 1000, "item": 1000.0, "most": 16, "each": 60e3}, 5),                      # each thread costs 60 us
    ({"items": 1000, "item": 1000.0, "most": 16, "cpu_alone": 0.5, "cpu": 0.5}, 1),      # a busy machine
    ({"items": 1000, "item": 1000.0, "most": 16, "cpu": 0.5}, 1),                        # a second thread makes it busy
    ({"items": 5, "item": 100e3, "most": 4}, 4),                                         # few items of much work
], ids=["small", "1 ms", "16 threads", "awake", "asleep", "5 of 16", "busy", "busy with helpers", "few"])
def test_calls_run_with_as_many_threads_as_pay(simulated, case, best):
    sizes = simulated(**case)[0]
    assert (sizes[200:] == best).mean() > 0.9, np.bincount(sizes)


@needs_compiler
def test_a_machine_that_becomes_busy_or_free_changes_the_number_of_threads(simulated):
    free, _, caller = simulated()
    busy, _, caller = simulated(caller=caller, cpu_alone=0.5, cpu=0.5)
    again, _, caller = simulated(caller=caller)
    assert [(sizes[1000:] == best).mean() > 0.9 for sizes, best in ((free, 2), (busy, 1), (again, 2))] == [True] * 3


@needs_compiler
@pytest.mark.parametrize("case", [
    {"items": 1000, "item": 30.0, "gap": 6e6},   # 30 us, then torch's threads wait for a core
    {"items": 4000, "item": 30.0, "gap": 6e6},
    {"items": 1000, "item": 30.0, "gap": 80e6},
    {"items": 4000, "item": 600.0, "gap": 6e6},  # the first guess is two threads
    {"items": 1000, "item": 1000.0, "gap": 0.0},
], ids=["features", "more features", "very busy", "pixels", "no pauses"])
def test_no_second_thread_is_tried_while_others_want_the_cores(simulated, case):
    sizes, times, _ = simulated(calls=3000, wake=4e6, cpu_alone=0.6, cpu=0.4, **case)
    evidence = 10e6  # ns
    assert (sizes[np.cumsum(times + case["gap"]) > evidence + times + case["gap"]] == 1).all()


@needs_compiler
@pytest.mark.parametrize("wake", [5e3, 30e3, 1e6, 4e6, 80e6])
@pytest.mark.parametrize("item", [30.0, 100.0, 1000.0])
def test_trials_that_fail_cost_two_percent_at_most(simulated, item, wake):
    """After the first ones, which know nothing yet. A trial ends with its first call if threads wait for a core in it."""
    sizes, times, _ = simulated(calls=200_000, item=item, each=1000 * item, wake=wake)
    alone = 1000 * item
    later = np.cumsum(times) > 0.1 * times.sum()
    lost = times[later].sum() - alone * later.sum()
    assert (sizes == 2).any() and lost < 0.02 * times[later].sum() + 9 * wake  # a trial that has just ended
    assert wake < 2e6 + alone or not (sizes[:-1] + sizes[1:] == 4).any()


@needs_compiler
def test_a_short_interruption_does_not_end_the_team(simulated):
    """Less than a quarter of the time waits for a core, as beside a program that needs one now and then."""
    sizes = simulated(cpu_alone=0.85, cpu=0.85)[0]
    assert (sizes[200:] == 2).mean() > 0.9


@needs_compiler
@pytest.mark.skipif(not SCHEDSTAT.exists() or SCHEDSTAT.read_text().split()[2] == "0", reason="needs Linux's counters")
def test_a_thread_compares_what_the_system_counted_since_its_last_look(library):
    crowd, then = Crowd(), 1 << 40
    library.look(crowd, then)
    seen, now = list(crowd.counters), [int(word) for word in SCHEDSTAT.read_text().split()]
    assert not crowd.blind and 0 < seen[0] <= now[0] and seen[1] <= now[1]
    share = seen[1] / sum(seen)  # a thread's first look compares its whole life
    assert crowd.waited / (crowd.ran + crowd.waited) == pytest.approx(share)

    crowd.ran, crowd.waited, crowd.counters[0], crowd.counters[1] = 0, 0, seen[0] - 1000, seen[1]
    library.look(crowd, then + 1000)
    assert crowd.ran == crowd.waited == 0  # too soon
    library.look(crowd, then + 10**7)
    assert crowd.ran >= 1000

    crowd.ran, crowd.waited, crowd.counters[0] = 0, 0, 1 << 60
    library.look(crowd, then + 10**8)
    assert crowd.ran == crowd.waited == 0  # the counters are those of a child process, which began anew
    assert crowd.counters[0] < 1 << 60


@needs_compiler
@pytest.mark.parametrize("flags", [["-fsanitize=thread"], ["-DNO_THREADS"]], ids=["thread sanitizer", "no threads"])
def test_every_chunk_is_done_once_without_a_race(tmp_path, flags):
    prints_ok(tmp_path, STRESS, ENGINE, flags)


def tasks() -> set[str]:
    """The threads of this process."""
    return {task.name for task in TASKS.iterdir()} if TASKS.exists() else set()


def played(toy, **settings):
    """Environments after one step, with all threads (chunk_size), by a thread that torch's runtime does not serve."""
    core = VecEnv(toy, 64, seed=1, chunk_size=4, **settings)
    batch = bind(core, buffers(core), 0, 64)
    caller = threading.Thread(target=lambda: (batch.reset(), batch.step()))
    caller.start()
    caller.join()
    while str(caller.native_id) in tasks():  # Python's join returns a little before the system's thread is gone
        time.sleep(0.001)
    return core


@counts_threads
@pytest.mark.parametrize("end", ["close", "the last reference"])
def test_threads_start_with_the_first_call_and_end_with_their_environments(toy, end):
    before = tasks()
    idle = VecEnv(toy, 64, num_threads=4)
    assert tasks() == before
    core = played(toy, num_threads=4)
    assert len(tasks() - before) == 3
    if end == "close":
        core.close()
    del core
    gc.collect()
    assert tasks() == before
    idle.close()


FORK = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's own threads end at a fork
import numpy as np
import envs_c
core = envs_c.VecEnv(envs_c.game("breakout"), 256, num_threads=3, chunk_size=16, seed=1)
observation, outputs = np.zeros((256, *core.observation_shape), core.observation_dtype), np.zeros((3, 256), np.float32)
batch = core.bind(0, 256, actions=np.ones(256, np.int32), observation=observation, reward=outputs[0], terminated=outputs[1],
                  truncated=outputs[2])
threads = lambda: len(os.listdir("/proc/self/task"))
alone = threads()
batch.reset()
assert threads() == alone + 2
child = os.fork()
assert threads() == (1 if child == 0 else alone + 2)
for _ in range(50):
    batch.step()
    assert threads() == (3 if child == 0 else alone + 2)
core.close()
assert threads() == (1 if child == 0 else alone)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@counts_threads
def test_a_child_process_starts_threads_of_its_own():
    done = subprocess.run([sys.executable, "-c", FORK], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@counts_threads
def test_threads_leave_signals_to_python(toy):
    before = tasks()
    core = played(toy, num_threads=2)
    thread, = tasks() - before
    status = dict(line.split(":", 1) for line in (TASKS / thread / "status").read_text().splitlines())
    blocked = int(status["SigBlk"], 16)
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD, signal.SIGUSR1)
    assert all(blocked >> (number - 1) & 1 for number in ours)
    core.close()


def test_one_thread_starts_none(toy):
    if not TASKS.exists():
        pytest.skip("needs Linux's list of threads")
    before = tasks()
    played(toy, num_threads=1)
    assert tasks() == before


@pytest.mark.parametrize("num_envs", [3, 64, 500])
@pytest.mark.parametrize("view", ["features", "pixels"])
def test_measured_choices_do_not_change_the_results(num_envs, view):
    def hashes(num_threads):
        env = envs_c.make("breakout", num_envs, view=view, num_threads=num_threads, seed=1)
        env.reset()
        actions = np.random.default_rng(0).integers(0, len(env.core.actions), (60, num_envs))
        return [env.step(row)[0].tobytes() for row in actions], env.get_state()

    assert hashes(1) == hashes(4)
