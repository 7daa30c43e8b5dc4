"""Threads and memory: stepping releases the GIL, and memory neither grows nor stays after the environments are gone."""

import gc
import os
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from support import vector

from envs_c import VecEnv
from envs_c.testing.play import actions_of, bind, buffers

pytestmark = pytest.mark.threads
counts_memory = pytest.mark.skipif(not Path("/proc/self/statm").exists() or "SANITIZE" in os.environ,
                                   reason="needs /proc/self/statm, and no sanitizer (it keeps freed memory)")


def memory() -> int:
    """Bytes of resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("num_threads", [1, 2])
def test_another_python_thread_runs_while_a_batch_steps(toy, num_threads):
    core = VecEnv(toy, 4096, frame_skip=1000, num_threads=num_threads, seed=1, options={"length": 20, "wind": 0})
    batch = bind(core, buffers(core), 0, 4096)
    batch.reset()
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            time.sleep(0.0005)  # releases the GIL
            ticks += 1

    interval, other = sys.getswitchinterval(), threading.Thread(target=tick)
    other.start()
    sys.setswitchinterval(1000)  # no thread is asked to release the GIL
    try:
        before = ticks
        for _ in range(3):
            batch.step()
        passed = ticks - before
    finally:
        sys.setswitchinterval(interval)
        done.set()
        other.join()
    assert passed >= 3


def test_two_python_threads_step_two_batches_at_once(each_kind):
    """Each thread steps its own batch; the results are those of one thread."""
    def hashes(parallel):
        core = VecEnv(each_kind, 200, num_threads=1, seed=1)
        arrays = buffers(core)
        batches = [bind(core, arrays, 0, 90), bind(core, arrays, 90, 200)]
        for batch in batches:
            batch.reset()
        arrays["actions"][:] = actions_of(each_kind, 1, 200)[0]
        work = [threading.Thread(target=lambda b=batch: [b.step() for _ in range(300)]) for batch in batches]
        for thread in work:
            thread.start()
            if not parallel:
                thread.join()
        for thread in work:
            thread.join()
        return arrays["observation"].tobytes(), core.get_state()

    assert hashes(True) == hashes(False)


@counts_memory
@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_memory_does_not_grow_in_100_000_steps(toy, autoreset):
    env = vector(toy, 2, autoreset=autoreset, seed=1, num_threads=1)
    env.reset()
    actions = actions_of(toy, 1000, 2)

    def play(steps):
        for k in range(steps):
            env.step(actions[k % 1000])

    play(5_000)
    before = memory()
    play(100_000)
    assert memory() - before < 1 << 20


@counts_memory
def test_closed_and_dropped_environments_free_their_memory(toy):
    size = 40_000  # environments, at least 5 MB

    def make_one(close):
        env = vector(toy, size, seed=1)
        env.reset()
        env.get_state()
        if close:
            env.close()

    make_one(True)
    before = memory()
    for k in range(20):
        make_one(close=k % 2)
    assert memory() - before < 4 * size * 128  # bytes of the states of 4 of these 20


@pytest.mark.parametrize("steps", [0, 5])
@pytest.mark.parametrize("settings", [{}, {"copy": False}, {"view": "both"}, {"autoreset": "same_step"}, {"frame_stack": 2}],
                         ids=str)
def test_dropped_environments_are_freed_without_the_garbage_collector(toy, settings, steps):
    gc.disable()
    try:
        env = vector(toy, 3, seed=1, **settings)
        env.reset()
        for _ in range(steps):
            env.step(np.zeros(3, np.int32))
        freed = weakref.ref(env)
        del env
        assert freed() is None
    finally:
        gc.enable()


def test_a_batch_keeps_its_buffers_and_environments_alive(toy):
    batch = bind(*(lambda core: (core, buffers(core)))(VecEnv(toy, 50, seed=1)), 0, 50)
    batch.reset()
    junk = [np.full(50, 7, np.int32) for _ in range(100)]
    for _ in range(20):
        batch.step()
    assert not batch.buffers[0].any() and len(junk) == 100
    assert batch.env.num_envs == 50
