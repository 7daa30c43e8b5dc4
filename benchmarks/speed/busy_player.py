"""One process of benchmarks/speed/busy.py: it plays as its standard input says, and prints the steps per second.

    python -c TEXT_OF_THIS_FILE NUM_THREADS ALWAYS BESIDE

NUM_THREADS: as for VecEnv. ALWAYS: 1 if all of them step in each call, 0 if as many as pay. BESIDE: "alone"; "torch first" or
"torch last" for the order of the imports; "two runtimes" for torch and a second OpenMP runtime, the system's, which runs an
empty region for each step.
It imports no other module of the benchmarks: it also runs beside another copy of envs_c.
"""

import ctypes
import importlib
import json
import sys
import sysconfig
import time

import numpy as np

num_threads, always, beside = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
order = {"alone": ["envs_c"], "torch last": ["envs_c", "torch"]}.get(beside, ["torch", "envs_c"])
modules = {name: importlib.import_module(name) for name in order}
envs_c, torch = modules["envs_c"], modules.get("torch")


def second_runtime():
    """A function that runs an empty region of as many threads as torch has, on the system's runtime of OpenMP."""
    library = ctypes.CDLL(f"/usr/lib/{sysconfig.get_config_var('MULTIARCH') or ''}/libgomp.so.1")  # not torch's: by its path
    nothing, threads = ctypes.cast(library.omp_get_level, ctypes.c_void_p), ctypes.c_uint(torch.get_num_threads())
    return lambda: library.GOMP_parallel(nothing, None, threads, ctypes.c_uint(0))


def player(num_envs: int, view: str):
    """A function that steps random Breakouts, then does what this process is beside: a product of matrices, and a region."""
    chunk_size = -(-num_envs // (8 * num_threads)) if always else 0
    env = envs_c.VecEnv(envs_c.game("breakout"), num_envs, view=view, num_threads=num_threads, chunk_size=chunk_size, seed=1)
    observation = np.zeros((num_envs, *env.observation_shape), env.observation_dtype)
    outputs, actions = np.zeros((3, num_envs), np.float32), np.zeros(num_envs, np.int32)
    batch = env.bind(0, num_envs, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2])
    rolls = np.random.default_rng(0).integers(0, len(env.actions), (64, num_envs)).astype(np.int32)
    matrix = torch and torch.ones(256, 256)
    batch.reset()

    def play(k: int):
        actions[:] = rolls[k % 64]
        batch.step()
        if matrix is not None:
            torch.mm(matrix, matrix)
        if region is not None:
            region()

    return play


def speed(play, seconds: float) -> float:
    """Calls per second."""
    begin, calls = time.perf_counter(), 0
    while (now := time.perf_counter()) < begin + seconds or not calls:
        play(calls)
        calls += 1
    return calls / (now - begin)


region = second_runtime() if beside == "two runtimes" else None
players = {}
print("ready", flush=True)
for line in sys.stdin:
    num_envs, view, seconds = json.loads(line)
    if (num_envs, view) not in players:
        players[num_envs, view] = player(num_envs, view)
    speed(players[num_envs, view], seconds / 3)  # to warm up
    print(num_envs * speed(players[num_envs, view], 2 / 3 * seconds), flush=True)
