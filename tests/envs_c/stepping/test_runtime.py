"""Beside torch, calls of the whole team run on the threads of torch's OpenMP runtime (envs_c/engine/runtime.h)."""

import subprocess
import sys

import pytest
from c_programs import counts_threads

from envs_c.engine.runtime import choose, was_forked

PLAY = """
import os, threading
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

def threads():
    return len(os.listdir("/proc/self/task"))

def sum_in_threads():
    torch.set_num_threads(3)
    torch.ones(1 << 22).sum()

def player(num_threads):
    core = envs_c.VecEnv(envs_c.game("breakout"), 256, num_threads=num_threads, chunk_size=16, seed=1)
    observation, outputs = np.zeros((256, *core.observation_shape), core.observation_dtype), np.zeros((3, 256), np.float32)
    batch = core.bind(0, 256, actions=np.ones(256, np.int32), observation=observation, reward=outputs[0],
                      terminated=outputs[1], truncated=outputs[2])
    batch.reset()
    return batch, observation

def play(env, steps=50):
    for _ in range(steps):
        env[0].step()
    return env[1].tobytes()
"""

SCRIPTS = {
    "the team of torch plays": """
import torch, envs_c
sum_in_threads()
before, env = threads(), player(3)
assert play(env) == play(player(1))
assert threads() == before, (threads(), before)
""",
    "torch imported last": """
import envs_c, torch
sum_in_threads()
before, env = threads(), player(3)
assert play(env) == play(player(1))
assert threads() == before, (threads(), before)
""",
    "a team of another size has threads of its own": """
import torch, envs_c
sum_in_threads()
before = threads()
env = player(4)
play(env)
assert threads() == before + 3, (threads(), before)
""",
    "another thread than the main one has threads of its own": """
import torch, envs_c
sum_in_threads()
before, seen, env = threads(), [], player(3)
play(env)
thread = threading.Thread(target=lambda: (play(env), seen.append(threads())))
thread.start()
thread.join()
assert seen == [before + 3], (seen, before)  # the thread itself and two helpers
""",
    "a child process can use torch and the game": """
import torch, envs_c
sum_in_threads()
env = player(3)
expected = play(player(1), 100)
play(env)
child = os.fork()
assert threads() == 1 or child
sum_in_threads()
assert play(env) == expected
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "a child process that imports envs_c leaves the runtime alone": """
import torch
sum_in_threads()
child = os.fork()
if child == 0:
    import envs_c
    env = player(3)
    play(env)
    assert threads() == 3, threads()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
}


@counts_threads
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_beside_torch(script):
    done = subprocess.run([sys.executable, "-c", PLAY + script], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


LINE = "7f00-7f10 r-xp 00000000 00:1f 11                         {}"


@pytest.mark.parametrize(("files", "chosen"), [
    (["/usr/lib/libc.so.6"], None),
    (["/usr/lib/libgomp.so.1.0.0", "/usr/lib/libgomp.so.1.0.0"], "/usr/lib/libgomp.so.1.0.0"),
    (["/site/sklearn.libs/libgomp-aa.so", "/site/torch/lib/libgomp.so.1"], "/site/torch/lib/libgomp.so.1"),
    (["/site/sklearn.libs/libgomp-aa.so", "/site/torch.libs/libgomp-bb.so.1"], "/site/torch.libs/libgomp-bb.so.1"),
    (["/site/sklearn.libs/libgomp-aa.so", "/usr/lib/libgomp.so.1"], None),
    (["/site/torch/lib/libgomp.so.1", "/site/torch/lib/libgomp-cc.so"], None),
    (["/a b/libgomp.so.1"], "/a b/libgomp.so.1"),
], ids=["none", "one", "torch's folder", "torch.libs", "two others", "two of torch's", "a blank"])
def test_the_runtime_is_the_only_one_or_that_of_torch(files, chosen):
    maps = "\n".join([LINE.format(""), *map(LINE.format, files)])
    assert choose(maps, "/site/torch") == chosen


@pytest.mark.parametrize(("flags", "forked"), [(4194304, False), (4194368, True)])
def test_a_forked_process_is_recognised(flags, forked):
    assert was_forked(f"4305 (a (b) c) R 4295 4295 3345 0 -1 {flags} 113 0") is forked
