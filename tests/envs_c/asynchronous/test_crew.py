"""The threads of asynchronous stepping: each item is done once, and the threads start late, end early and survive a fork."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from c_programs import TASKS, counts_threads, needs_compiler, prints_ok
from support import vector

from envs_c import asynchronous
from envs_c.asynchronous import ArcadeAsyncEnv

CREW = Path(asynchronous.__file__).parent
STRESS = Path(__file__).parents[2] / "support" / "crew_stress.h"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
pytestmark = pytest.mark.threads

FORK = """
import os
import numpy as np
import envs_c

def made():
    env = envs_c.make_async("breakout", 64, 16, num_threads=3, seed=1)
    env.async_reset()
    return env

def played(env, steps=30):  # all environments at once
    seen = {}
    for _ in range(steps):
        for _ in range(4):
            observation, *_, info = env.recv()
            seen.update(zip(info["env_id"].tolist(), (row.tobytes() for row in observation)))
        env.send(np.ones(64, int), np.arange(64))
    for _ in range(4):
        env.recv()
    return [seen[i] for i in range(64)]
"""


def ran(code: str) -> None:
    """Run a program in a process of its own, which must end by itself without an error."""
    done = subprocess.run([sys.executable, "-c", FORK + code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def tasks() -> set[str]:
    """The threads of this process. While one ends, Linux's list may lack others: once in 24,000 times, so this looks thrice."""
    return {task.name for _ in range(3) for task in TASKS.iterdir()}


@needs_compiler
@pytest.mark.parametrize("flags", [["-fsanitize=thread"], ["-DNO_THREADS"]], ids=["thread sanitizer", "no threads"])
def test_every_item_is_done_once_without_a_race_and_waits_for_no_slow_one(tmp_path, flags):
    prints_ok(tmp_path, STRESS, CREW, flags)


@counts_threads
@pytest.mark.parametrize("end", ["close", "the last reference"])
def test_threads_start_with_the_first_send_and_end_with_their_environments(toy, end):
    before = tasks()
    env = ArcadeAsyncEnv(vector(toy, 64, seed=1, num_threads=1), 8, num_threads=3)  # the engine starts no threads itself
    assert tasks() <= before  # those of other tests may end at any time
    env.reset()
    assert len(tasks() - before) == 3 and env.in_flight == 56
    if end == "close":
        env.close()
    del env
    gc.collect()
    stop = time.monotonic() + 30
    while not tasks() <= before and time.monotonic() < stop:
        time.sleep(0.01)  # the kernel may list a thread for a moment after it was joined
    assert tasks() <= before


@counts_threads
def test_threads_leave_signals_to_python(toy):
    before = tasks()
    env = ArcadeAsyncEnv(vector(toy, 2, seed=1), num_threads=1)
    env.reset()
    thread, = tasks() - before
    status = dict(line.split(":", 1) for line in (TASKS / thread / "status").read_text().splitlines())
    assert all(int(status["SigBlk"], 16) >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD))
    env.close()


@pytest.mark.parametrize("end", ["", "env.close()", "del env", "import sys; sys.exit(0)"])
def test_a_program_ends_while_environments_are_in_flight(end):
    ran(f"env = made(); env.recv()\n{end}\n")


@forks
def test_a_child_process_goes_on_with_threads_of_its_own():
    ran("""
env = made()
played(env)
if (child := os.fork()) == 0:
    env.async_reset(seed=2)
    os._exit(0 if played(env) == expected(2) else 1)
""".replace("expected(2)", "(lambda other: (other.async_reset(seed=2), played(other))[1])(made())") + """
assert os.waitpid(child, 0)[1] == 0
env.async_reset(seed=2)
played(env)
env.close()
""")


@forks
def test_environments_in_flight_at_a_fork_are_refused_in_the_child_and_go_on_in_the_parent():
    ran("""
env = made()
env.recv()
if (child := os.fork()) == 0:
    refused = 0
    for call in (env.recv, env.async_reset, lambda: env.send(np.ones(16, int))):
        try:
            call()
        except envs_c.Busy as error:
            refused += "were in flight when this process was forked" in str(error)
    env.close()
    os._exit(0 if refused == 3 else 1)
assert os.waitpid(child, 0)[1] == 0
for _ in range(50):
    env.send(np.ones(16, int))
    env.recv()
env.close()
""")


def test_another_python_thread_runs_while_recv_waits(toy):
    import threading
    env = ArcadeAsyncEnv(vector(toy, 4096, seed=1, frame_skip=1000, options={"length": 20, "wind": 0}), num_threads=1)
    env.reset()
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.0005):
            ticks.append(1)

    interval, other = sys.getswitchinterval(), threading.Thread(target=tick)
    other.start()
    sys.setswitchinterval(1000)  # no thread is asked to release the GIL
    try:
        before = len(ticks)
        for _ in range(3):
            env.step(np.zeros(4096, int))
        passed = len(ticks) - before
    finally:
        sys.setswitchinterval(interval)
        done.set()
        other.join()
        env.close()
    assert passed >= 3
