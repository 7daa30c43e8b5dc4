"""The modules that `import envs_c` loads, and the OpenMP runtime that it shares with torch. Each test starts a process."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAY = ("env = envs_c.make('cartpole', 512, num_threads=2); env.reset(); "
        "[env.step(env.action_space.sample()) for _ in range(9)]")
MULTIPLY = "torch.set_num_threads(2); torch.randn(300, 300) @ torch.randn(300, 300)"


def run(code: str):
    """What `code` prints as JSON, run in a fresh interpreter."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_importing_the_games_loads_neither_torch_nor_cupy_nor_higher_packages():
    loaded = set(run(f"import json, sys, envs_c; {PLAY}; print(json.dumps([m.split('.')[0] for m in sys.modules]))"))
    assert not {"torch", "cupy", "tensordict", "bridge", "trainer", "rich", "tyro"} & loaded
    assert {"envs_c", "numpy", "gymnasium"} <= loaded


def test_importing_the_games_leaves_the_process_as_it_was():
    """No signal handlers, no warning filters, no threads, no changed environment."""
    code = ("import json, os, signal, sys, threading, warnings, gymnasium, numpy\n"
            "def facts(): return [[str(signal.getsignal(s)) for s in signal.valid_signals()], dict(os.environ),"
            " [str(f) for f in warnings.filters], threading.active_count(), sys.path]\n"
            "before = facts()\nimport envs_c\nprint(json.dumps(before == facts()))")
    assert run(code) is True


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's list of mapped libraries")
@pytest.mark.skipif(not importlib.util.find_spec("torch") or "SANITIZE" in os.environ, reason="needs torch as it is")
@pytest.mark.parametrize("order", ["import torch, envs_c", "import envs_c, torch"])
@pytest.mark.parametrize("work", [(PLAY, MULTIPLY), (MULTIPLY, PLAY)], ids=["play-first", "multiply-first"])
def test_torch_and_the_games_share_one_openmp_runtime(order, work):
    code = (f"import json; {order}; {work[0]}; {work[1]}; {work[0]}\n"
            "print(json.dumps([line.split()[-1] for line in open('/proc/self/maps') if '/' in line]))")
    kinds = ("gomp", "iomp", "libomp")
    runtimes = {os.path.realpath(path) for path in run(code) if any(kind in path for kind in kinds)}
    assert len(runtimes) == 1, runtimes
