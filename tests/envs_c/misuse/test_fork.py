"""After a fork the child process steps to the same results, and waits for nobody."""

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.threads, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")]

STEPS = """
import hashlib, os, sys, threading
import numpy as np
import envs_c

def play(env, steps=20):
    digest, rng = hashlib.sha256(), np.random.RandomState(1)
    for _ in range(steps):
        observation, reward, *_ = env.step(rng.randint(0, len(env.core.actions), env.num_envs))
        digest.update(observation.tobytes() + reward.tobytes())
    return digest.hexdigest()

def in_child(work):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, work().encode())
        os._exit(0)
    os.close(write)
    return os.fdopen(read).read()

def made(seed=1):
    env = envs_c.make("breakout", 4096, num_threads=4, seed=seed)
    env.reset()
    return env
"""

CASES = {
    "the parent stepped with threads": "env = made(); play(env)",
    "the environments are made in the child": "play(made()); env = None",
    "only torch used threads": "import torch; torch.set_num_threads(2); torch.ones(2000, 2000) @ torch.ones(2000, 2000); "
                               "torch.ones(1 << 22).exp().sum(); env = made()",
}


@pytest.mark.parametrize("case", CASES)
def test_a_child_process_steps_to_the_same_results(case):
    if "torch" in case:
        pytest.importorskip("torch")
    code = (f"{STEPS}\n{CASES[case]}\nwork = lambda: play(env or made())\nchild = in_child(work)\n"
            "again = in_child(lambda: in_child(work))\nassert child == again == work(), (child, again)\n")
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_fork_during_a_step_leaves_no_flag_held_in_the_child():
    code = STEPS + """
env = envs_c.make("breakout", 4096, num_threads=1, seed=1, frame_skip=200)
env.reset()
stop = threading.Event()
def step():
    while not stop.is_set():
        env.step(np.zeros(4096, int))
thread = threading.Thread(target=step)
thread.start()
busy = False
while not busy:
    try:
        env.core.over()
    except envs_c.Busy:
        busy = True
answer = in_child(lambda: (env.reset(seed=1), env.core.get_state(), env.close(), "done")[-1])
stop.set()
thread.join()
assert answer == "done", answer
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lock", ["outside._loading", "console._changing", "recompiled._one_at_a_time"])
def test_a_lock_that_a_thread_held_at_a_fork_is_free_in_the_child(lock):
    code = STEPS + f"""
from envs_c import outside
from envs_c.console import console, recompiled
held, stop = threading.Event(), threading.Event()
def hold():
    with {lock}.held():
        held.set()
        stop.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
answer = in_child(lambda: str({lock}.held().acquire(timeout=5)))
stop.set()
thread.join()
assert answer == "True", answer
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
