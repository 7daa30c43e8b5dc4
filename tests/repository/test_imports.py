"""The modules that `import envs_c` loads, and the one OpenMP runtime of a training. Each test starts a process."""

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
    assert not {"torch", "cupy", "tensordict", "bridge", "trainer", "rich", "tyro", "pygame"} & loaded
    assert {"envs_c", "numpy", "gymnasium"} <= loaded


def test_importing_the_games_leaves_the_process_as_it_was():
    """No signal handlers, no warning filters, no threads, no changed environment."""
    code = ("import json, os, signal, sys, threading, warnings, gymnasium, numpy\n"
            "def facts(): return [[str(signal.getsignal(s)) for s in signal.valid_signals()], dict(os.environ),"
            " [str(f) for f in warnings.filters], threading.active_count(), sys.path]\n"
            "before = facts()\nimport envs_c\nprint(json.dumps(before == facts()))")
    assert run(code) is True


needs_maps = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's list of mapped libraries")
LOADED = "print(json.dumps([line.split()[-1] for line in open('/proc/self/maps') if '/' in line]))"


def openmp_runtimes(code: str) -> set[str]:
    """The OpenMP libraries that `code` loads."""
    return {os.path.realpath(path) for path in run(f"import json; {code}; {LOADED}")
            if any(kind in Path(path).name for kind in ("gomp", "iomp", "libomp"))}


@needs_maps
def test_the_games_load_no_openmp():
    assert openmp_runtimes(f"import envs_c; {PLAY}") == set()


@needs_maps
@pytest.mark.skipif(not importlib.util.find_spec("torch") or "SANITIZE" in os.environ, reason="needs torch as it is")
@pytest.mark.parametrize("order", ["import torch, envs_c, trainer.kernels", "import envs_c, trainer.kernels.cpu.rows, torch"])
@pytest.mark.parametrize("work", [(PLAY, MULTIPLY), (MULTIPLY, PLAY)], ids=["play-first", "multiply-first"])
def test_torch_and_the_kernels_share_one_openmp_runtime(order, work):
    runtimes = openmp_runtimes(f"{order}; {work[0]}; {work[1]}; {work[0]}")
    assert len(runtimes) == 1, runtimes
