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


needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch") or "SANITIZE" in os.environ,
                                 reason="needs torch as it is")


@needs_maps
@needs_torch
@pytest.mark.parametrize("order", ["import torch, envs_c, trainer.kernels", "import envs_c, trainer.kernels.lstm.cpu, torch"])
@pytest.mark.parametrize("work", [(PLAY, MULTIPLY), (MULTIPLY, PLAY)], ids=["play-first", "multiply-first"])
def test_torch_the_games_and_the_kernels_share_one_openmp_runtime(order, work):
    runtimes = openmp_runtimes(f"{order}; {work[0]}; {work[1]}; {work[0]}")
    assert len(runtimes) == 1, runtimes


@needs_maps
@needs_torch
def test_the_games_alone_load_the_runtime_of_torch_and_no_torch():
    (runtime,) = openmp_runtimes(f"import envs_c; {PLAY}")
    assert Path(runtime).is_relative_to(Path(importlib.util.find_spec("torch").origin).parent)


@needs_maps
def test_without_torch_the_games_load_one_openmp_runtime():
    """torch is left out of the search for modules. The runtime is the system's, or that of the installed wheel."""
    hidden = ("import importlib.machinery as m; find = m.PathFinder.find_spec; "
              "m.PathFinder.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)")
    runtimes = openmp_runtimes(f"{hidden}; import envs_c; {PLAY}")
    assert len(runtimes) == 1 and "/torch" not in runtimes.pop()


@needs_maps
@needs_torch
def test_a_runtime_that_the_process_has_loaded_is_kept():
    """Another module may be linked with the system's libgomp.so.1. The engine takes it too, and so does torch later."""
    system = "import ctypes; ctypes.CDLL('libgomp.so.1')"
    runtimes = openmp_runtimes(f"{system}; import envs_c; {PLAY}; import torch; {MULTIPLY}")
    assert len(runtimes) == 1, runtimes
