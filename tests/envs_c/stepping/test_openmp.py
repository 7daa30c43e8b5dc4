"""The team of OpenMP's threads that steps the environments: torch's, one for each calling thread, none after a fork."""

import subprocess
import sys

import pytest
from c_programs import counts_threads

from envs_c.engine import openmp

PLAY = """
import os, signal, threading, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's own threads are none of the team
import numpy as np

def threads():
    return len(os.listdir("/proc/self/task"))

def sum_in_threads(count=3):
    torch.set_num_threads(count)
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
    "threads start with the first call that needs them, and all environments share them": """
import envs_c
alone = threads()
play(player(1))
assert threads() == alone
env = player(4)
assert threads() == alone + 3
other = player(4)
assert play(env) == play(other) == play(player(1)) and threads() == alone + 3
env[0].env.close()
assert threads() == alone + 3
""",
    "another thread has a team of its own, which ends with it": """
import envs_c
env = player(3)
play(env)
before, seen = threads(), []
thread = threading.Thread(target=lambda: (play(env), seen.append(threads())))
thread.start()
thread.join()
assert seen == [before + 3], (seen, before)  # the thread itself and two others
end = time.monotonic() + 20
while threads() > before:
    assert time.monotonic() < end
    time.sleep(0.001)
""",
    "two threads step two batches of one engine with teams": """
import envs_c
core = envs_c.VecEnv(envs_c.game("breakout"), 256, num_threads=2, chunk_size=16, seed=1)
observation, outputs = np.zeros((256, *core.observation_shape), core.observation_dtype), np.zeros((3, 256), np.float32)
batches = [core.bind(lo, lo + 128, actions=np.ones(128, np.int32), observation=observation[lo:lo + 128],
                     reward=outputs[0, lo:lo + 128], terminated=outputs[1, lo:lo + 128], truncated=outputs[2, lo:lo + 128])
           for lo in (0, 128)]
work = [threading.Thread(target=lambda each=each: (each.reset(), [each.step() for _ in range(50)])) for each in batches]
[each.start() for each in work]
[each.join() for each in work]
assert observation.tobytes() == play(player(1))
""",
    "a child process steps alone, its parent with the team": """
import envs_c
env = player(3)
before = threads()
child = os.fork()
expected = play(player(1))
assert play(env) == expected
assert threads() == (1 if child == 0 else before)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "signals interrupt the main thread": """
import envs_c
play(player(4))
caught = []
signal.signal(signal.SIGUSR1, lambda *_: caught.append(1 / 0))
for k in range(20):
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    begin = time.monotonic()
    try:
        time.sleep(20)
    except ZeroDivisionError:
        pass
    assert time.monotonic() < begin + 10
""",
}
BESIDE_TORCH = {
    "the team of torch plays": """
import torch, envs_c
sum_in_threads()
before, env = threads(), player(3)
assert play(env) == play(player(1))
assert threads() == before, (threads(), before)
""",
    "torch imported last": """
import envs_c, torch
env = player(3)
torch.set_num_threads(3)  # it also starts threads that are none of OpenMP's
before = threads()
sum_in_threads()
assert play(env) == play(player(1))
assert threads() == before, (threads(), before)
""",
    "by default the team is not larger than that of torch": """
import os
os.sched_getaffinity = lambda process: range(8)
import torch, envs_c
sum_in_threads()
before, env = threads(), player(0)
play(env)
assert env[0].env.num_threads == 8 and threads() == before, (threads(), before)
sum_in_threads(1)
play(env)
assert threads() == before + 5  # one thread is no team
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
    "a child process that imports envs_c leaves the team of its parent alone": """
import torch
sum_in_threads()
child = os.fork()
if child == 0:
    import envs_c
    env = player(3)
    play(env)
    assert threads() == 1, threads()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "a child process that imports envs_c first has a team": """
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
@pytest.mark.parametrize("script", [*SCRIPTS, *BESIDE_TORCH])
def test_the_team(script):
    if script in BESIDE_TORCH:
        pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", PLAY + (SCRIPTS | BESIDE_TORCH)[script]], timeout=60, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("files", "chosen"), [
    ([], None),
    (["torch/lib/libtorch.so"], None),
    (["torch/lib/libgomp.so.1"], "torch/lib/libgomp.so.1"),
    (["torch/lib/libgomp-a34b3233.so.1", "torch/lib/libgomp.so.1"], "torch/lib/libgomp.so.1"),
    (["torch/lib/libgomp-a34b3233.so.1"], "torch/lib/libgomp-a34b3233.so.1"),
    (["torch.libs/libgomp-24e2ab19.so.1.0.0"], "torch.libs/libgomp-24e2ab19.so.1.0.0"),
    (["scikit_learn.libs/libgomp-a34b3233.so.1"], None),
], ids=["empty", "no runtime", "its name", "two", "a hash", "torch.libs", "another package"])
def test_the_runtime_of_torch_is_found_by_its_files(tmp_path, monkeypatch, files, chosen):
    monkeypatch.setattr(openmp, "NAME", "libgomp.so.1")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert openmp.of_torch([str(tmp_path)]) == (chosen and tmp_path / chosen)
    assert openmp.of_torch([str(tmp_path / "torch")]) is None


@pytest.mark.parametrize(("flags", "forked"), [(4194304, False), (4194368, True)])
def test_a_forked_process_is_recognised(flags, forked):
    assert openmp.was_forked(f"4305 (a (b) c) R 4295 4295 3345 0 -1 {flags} 113 0") is forked
