"""OpenMP's threads spin while the cores are free and sleep soon while they are busy (trainer/waiting.py)."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainer import waiting

ROOT = Path(__file__).parents[2]
FREE, BUSY, BETWEEN, ASLEEP = (99, 1), (60, 40), (93, 7), (0, 0)  # ms that the process ran, and waited for a core
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it reads Linux's counters")


def python(code: str, **environment: str) -> str:
    """The output of a program in a process of its own, without OpenMP's variables of this one."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=ROOT,
                          env=kept | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("looks", "expected"), [
    ([FREE], "-"),                                              # free cores: spin
    ([BUSY, BUSY], "zz"),
    ([FREE, FREE, BUSY], "--z"),
    ([BETWEEN, BETWEEN, FREE], "zz-"),                          # neither: as before
    ([FREE, BETWEEN, BETWEEN], "---"),
    ([ASLEEP, ASLEEP, FREE, ASLEEP], "zz--"),                   # a process that sleeps shows nothing
    ([FREE, BUSY, FREE, FREE, BUSY, *4 * [FREE], BUSY, *8 * [FREE]], "-zz-zzzz-zzzzzzzz-"),  # each failure doubles the patience
    ([FREE, BUSY, *7 * [FREE], BUSY, FREE], "-zz------z-"),     # a long time of free cores makes it short again
])
def test_threads_sleep_soon_while_the_cores_are_busy(looks, expected):
    decision = waiting.Decision()
    assert "".join("z" if decision.look(*look) else "-" for look in looks) == expected


@LINUX
def test_the_counters_of_all_threads_are_read():
    counters, _ = waiting.times({})
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    after, since = waiting.times(counters)
    assert since.ran >= 40_000_000 and since.waited >= 0  # ns
    assert str(os.getpid()) in after


def test_threads_that_began_or_ended_between_two_looks_count_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(waiting, "TASKS", tmp_path)
    for task, text in {"1": "100 7 1", "2": "50 0 1", "4": "not a number"}.items():
        (tmp_path / task).mkdir()
        (tmp_path / task / "schedstat").write_text(text)
    (tmp_path / "5").mkdir()  # it ends while it is read
    before = {"1": waiting.Times(90, 5), "3": waiting.Times(10, 10)}
    assert waiting.times(before) == ({"1": (100, 7), "2": (50, 0)}, (10, 2))


TEAMS = """
import os, sys, time
import torch
from envs_c.engine import openmp
from trainer.waiting import SleepingTeam

def switches():  # how often any thread went to sleep
    return sum(int(line.split()[1]) for task in os.listdir("/proc/self/task")
               for line in open(f"/proc/self/task/{task}/status") if line.startswith("voluntary"))

def sleeps(regions=60, gap=0.0005):
    data, before = torch.ones(1 << 17), switches()
    for _ in range(regions):
        data.add_(1)
        end = time.perf_counter() + gap
        while time.perf_counter() < end:
            pass
    return switches() - before

torch.set_num_threads(2)
if len(os.sched_getaffinity(0)) < 2:  # two threads are more than the cores: they sleep soon anyway
    sys.exit("one core")
sleeps()
team = SleepingTeam(openmp.runtime())
for step in "hold", "hold", "drop", "drop", "hold":
    getattr(team, step)()
    time.sleep(0.2)
    print(step, sleeps(), len(os.listdir("/proc/self/task")))
"""


@LINUX
def test_a_sleeping_team_makes_waiting_threads_sleep_soon_until_it_is_dropped():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    rows = [line.split() for line in python(TEAMS).splitlines()]
    counts = {name: [int(count) for step, count, _ in rows if step == name] for name in ("hold", "drop")}
    threads = [int(count) for *_, count in rows]
    assert min(counts["hold"]) >= 50 > 30 > min(counts["drop"]), rows
    assert threads[0] == threads[1] == threads[4] > threads[2] == threads[3], rows


WATCHED = "import threading; {first}; from trainer import preset; print([each.name for each in threading.enumerate()])"


@LINUX
@pytest.mark.parametrize(("first", "environment", "watches"), [
    ("pass", {}, True), ("import torch", {}, True), ("pass", {"GOMP_SPINCOUNT": "77"}, False),
    ("import torch", {"OMP_WAIT_POLICY": "passive"}, False)])
def test_the_python_api_watches_the_cores_in_any_order_of_imports_unless_the_user_has_chosen(first, environment, watches):
    assert ("insertcoin-waiting" in python(WATCHED.format(first=first), **environment)) == watches
