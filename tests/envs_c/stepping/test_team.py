"""How many threads step a call: all of them if that pays, one if the call is small or the cores are crowded.

The choice is C (envs_c/engine/team.h). It is tested with simulated times, and in a program under the thread sanitizer.
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import COMPILER, needs_compiler, prints_ok

import envs_c
from envs_c.engine import engine

ENGINE = Path(engine.__file__).parent
STRESS = Path(__file__).parents[2] / "support" / "team_stress.h"

SIMULATION = """
#include <stdlib.h>
#include "team.h"

typedef struct { Team team; Crowd crowd; double ran, waited, clock; } Caller;

/* Calls that take items * item ns alone, and that / threads + wake ns with the team. The caller works for `gap` ns between
   them. cpu_alone, cpu: the part of the time in which it has a core, alone and with the team.
   sizes, times: (calls,) the threads and ns of each call. */
void simulate(Caller *c, int calls, int threads, double items, double item, double wake, double gap, double cpu_alone,
              double cpu, int *sizes, double *times)
{
    for (int k = 0; k < calls; k++) {
        int whole = team_plays(&c->team, items, c->crowd.crowded);
        double ns = times[k] = items * item / (whole ? threads : 1) + (whole ? wake : 0);
        double ran = (ns + gap) * (whole ? cpu : cpu_alone);
        sizes[k] = whole ? threads : 1;
        c->ran += ran, c->waited += ns + gap - ran;
        crowd_compare(&c->crowd, (uint64_t)c->ran, (uint64_t)c->waited);
        team_note(&c->team, items, ns, whole, c->clock += ns + gap);
    }
}

void *caller_new(void) { return calloc(1, sizeof(Caller)); }

void look(Crowd *c, int64_t now) { crowd_look(c, now); }
"""
SCHEDSTAT = Path("/proc/thread-self/schedstat")


class Crowd(ctypes.Structure):
    """Crowd of team.h."""

    _fields_ = [("crowded", ctypes.c_int), ("blind", ctypes.c_int), ("looked", ctypes.c_int64), ("ran", ctypes.c_uint64),
                ("waited", ctypes.c_uint64), ("sums", ctypes.c_uint64 * 2)]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """SIMULATION, compiled."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "simulation.c").write_text(SIMULATION, encoding="utf-8")
    subprocess.run([COMPILER, "-O1", "-g", "-shared", "-fPIC", f"-I{ENGINE}", str(folder / "simulation.c"), "-o",
                    str(folder / "out.so")], check=True)
    library = ctypes.CDLL(str(folder / "out.so"))
    library.caller_new.restype = ctypes.c_void_p
    library.look.argtypes = [ctypes.POINTER(Crowd), ctypes.c_int64]
    return library


@pytest.fixture(scope="module")
def simulated(library):
    """A function that simulates calls of a new or a given caller. Returns the threads and ns of each call, and the caller."""
    double, pointer = ctypes.c_double, ctypes.c_void_p

    def simulate(calls=20_000, threads=2, items=1000, item=1000.0, wake=0.0, gap=2e4, cpu_alone=1.0, cpu=1.0, caller=None):
        caller = caller or library.caller_new()
        sizes, times = np.zeros(calls, np.int32), np.zeros(calls)
        library.simulate(pointer(caller), calls, threads, *map(double, (items, item, wake, gap, cpu_alone, cpu)),
                         pointer(sizes.ctypes.data), pointer(times.ctypes.data))
        return sizes, times, caller
    return simulate


@needs_compiler
@pytest.mark.parametrize(("case", "best"), [
    ({"items": 60, "item": 50.0, "threads": 16}, 1),                                 # 3 us of work
    ({"items": 1000, "item": 1000.0}, 2),                                            # 1 ms
    ({"items": 1000, "item": 1000.0, "threads": 16}, 16),
    ({"items": 1000, "item": 60.0, "wake": 1000.0}, 2),                              # 60 us, the team is awake
    ({"items": 1000, "item": 60.0, "wake": 120e3}, 1),                               # 60 us, the team is asleep
    ({"items": 1000, "item": 1000.0, "threads": 16, "cpu_alone": 0.5, "cpu": 0.5}, 1),  # a busy machine
    ({"items": 1000, "item": 1000.0, "wake": 4e6}, 1),                               # a thread of the team has no core
    ({"items": 5, "item": 100e3, "threads": 4}, 4),                                  # few items of much work
], ids=["small", "1 ms", "16 threads", "awake", "asleep", "busy", "late", "few"])
def test_calls_have_all_threads_if_that_pays(simulated, case, best):
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
    {"items": 4000, "item": 600.0, "gap": 6e6},
    {"items": 1000, "item": 1000.0, "gap": 0.0},
], ids=["features", "more features", "very busy", "pixels", "no pauses"])
def test_no_second_thread_is_tried_while_others_want_the_cores(simulated, case):
    sizes, times, _ = simulated(calls=3000, wake=4e6, cpu_alone=0.6, cpu=0.4, **case)
    evidence = 10e6  # ns
    assert (sizes[np.cumsum(times + case["gap"]) > evidence + times + case["gap"]] == 1).all()


@needs_compiler
@pytest.mark.parametrize("wake", [5e3, 30e3, 1e6, 4e6, 80e6])
@pytest.mark.parametrize("item", [30.0, 100.0, 1000.0])
def test_a_team_that_does_not_pay_costs_a_small_part_of_the_time(simulated, item, wake):
    """Two percent for the team, except that it never rests longer than a second; one percent for calls alone."""
    sizes, times, _ = simulated(calls=200_000, item=item, wake=1000 * item + wake)
    alone = 1000 * item
    lost = times.sum() - alone * len(times)
    longest = 1e9  # ns of rest
    assert (sizes == 2).any() and lost < (0.03 + wake / longest) * times.sum() + 2 * (wake + alone)


@needs_compiler
@pytest.mark.parametrize("threads", [2, 16, 64])
def test_a_team_that_pays_is_left_for_one_percent_of_the_time(simulated, threads):
    sizes, times, _ = simulated(threads=threads, calls=50_000)
    assert 0 < times[200:][sizes[200:] == 1].sum() < 0.011 * times[200:].sum()


@needs_compiler
def test_a_short_interruption_does_not_end_the_team(simulated):
    """Less than a quarter of the time waits for a core, as beside a program that needs one now and then."""
    sizes, _, caller = simulated(cpu_alone=0.85, cpu=0.85)
    assert (sizes[200:] == 2).mean() > 0.9
    simulated(caller=caller, calls=1, wake=4e6)  # a thread loses its core once
    assert (simulated(caller=caller, calls=200)[0] == 2).mean() > 0.9


@needs_compiler
@pytest.mark.parametrize("items", [512, 4096, 65536])
def test_a_large_team_plays_a_gpu_s_rollouts_though_its_threads_start_and_wake_slowly(simulated, items):
    """Its threads sleep while the GPU learns: the first call of each rollout wakes 15. They start in the first."""
    case = {"threads": 16, "items": items, "item": 85.0, "gap": 1e5}
    _, _, caller = simulated(**case, calls=5, wake=5e6)
    sizes = []
    for rollout in range(100):
        simulated(**case, calls=1, wake=20e6 if rollout == 60 else 6e5, caller=caller)  # once the system interrupts it
        sizes.append(simulated(**case, calls=127, wake=8e3, caller=caller)[0])
    assert (np.stack(sizes) == 16).mean() > 0.8


@needs_compiler
def test_a_team_that_saves_far_more_than_it_loses_plays_on(simulated):
    """A virtual machine takes a core away for 6 ms, five times a second: 16 threads save 30 times as much."""
    case, sizes = {"threads": 16, "items": 4096, "item": 85.0, "gap": 1e5}, []
    caller = simulated(**case, calls=200, wake=8e3)[2]
    for _ in range(50):
        simulated(**case, calls=1, wake=6e6, caller=caller)
        sizes.append(simulated(**case, calls=1500, wake=8e3, caller=caller)[0])
    assert (np.stack(sizes) == 16).mean() > 0.95


@needs_compiler
def test_a_team_loses_a_fifth_of_a_millisecond_before_it_ends(simulated):
    """Calls of 20 us: two losses of 150 us within a moment do not end the team, a few more do."""
    case = {"items": 1000, "item": 20.0}
    caller = simulated(**case, calls=5, wake=150e3)[2]  # the first four calls run alone; one loss is forgiven
    simulated(**case, calls=1, wake=150e3, caller=caller)
    assert (simulated(**case, calls=50, caller=caller)[0] == 2).mean() > 0.9
    simulated(**case, calls=5, wake=150e3, caller=caller)
    assert (simulated(**case, calls=50, caller=caller)[0] == 1).all()


@needs_compiler
def test_cheaper_steps_are_noticed(simulated):
    """Calls that became small run alone, though the team had paid before."""
    _, _, caller = simulated(item=100.0)
    sizes, _, _ = simulated(caller=caller, item=5.0, wake=2e3)
    assert (sizes[-5000:] == 1).all()


@needs_compiler
@pytest.mark.skipif(not SCHEDSTAT.exists() or SCHEDSTAT.read_text().split()[2] == "0", reason="needs Linux's counters")
def test_a_thread_compares_what_the_system_counted_since_its_last_look(library):
    crowd, then = Crowd(), 1 << 40
    library.look(crowd, then)
    now = [int(word) for word in SCHEDSTAT.read_text().split()]
    assert not crowd.blind and 0 < crowd.ran <= now[0] and crowd.waited <= now[1]  # a first look compares the thread's life
    assert crowd.crowded == (crowd.waited > 0.25 * (crowd.ran + crowd.waited))

    crowd.ran -= 20_000_000
    before = crowd.ran
    library.look(crowd, then + 1000)
    assert crowd.ran == before  # too soon
    library.look(crowd, then + 10**7)
    assert crowd.ran >= before + 20_000_000


@needs_compiler
def test_each_chunk_is_done_once_without_a_race(tmp_path):
    prints_ok(tmp_path, STRESS, ENGINE, ["-fopenmp", "-fsanitize=thread"])


@pytest.mark.parametrize("num_envs", [3, 64, 500])
@pytest.mark.parametrize("view", ["features", "pixels"])
def test_measured_choices_do_not_change_the_results(num_envs, view):
    def hashes(num_threads):
        env = envs_c.make("breakout", num_envs, view=view, num_threads=num_threads, seed=1)
        env.reset()
        actions = np.random.default_rng(0).integers(0, len(env.core.actions), (60, num_envs))
        return [env.step(row)[0].tobytes() for row in actions], env.get_state()

    assert hashes(1) == hashes(4)
