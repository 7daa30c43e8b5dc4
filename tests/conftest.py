"""Fixtures that several files share: each game, the views and autoreset modes, a game from outside the package.

Only fixtures that need torch load it: the sanitizers run the games' tests without torch.
"""

import functools
import gc
import hashlib
import multiprocessing
import os
import shutil
import signal
import sys

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: a worker has one core, on which more threads only wait
os.environ.setdefault("ENVS_C_RECOMPILE", "0")  # the console's own tests of it compile at once, others would in the background

from support import TOY

import envs_c
from envs_c import outside
from envs_c.bare import emit
from trainer.waiting import share_cores

share_cores()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs, where tests of Ctrl-C would wait in vain
    signal.signal(signal.SIGINT, signal.default_int_handler)
multiprocessing.get_start_method()  # settles it: torchrl would set spawn, with which a process of a test loads its modules

TINY = ["--num-envs=32", "--horizon=64", "--minibatch=1024", "--total-steps=4096", "--encoder-size=8", "--lstm-size=8",
        "--num-threads=1", "--device=cpu", "--no-dashboard", "--no-gif", "--eval-episodes=5"]
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")  # gw0, gw1, ...; empty without pytest-xdist
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


gc.disable()  # until all tests are collected


def pytest_collection_finish(session):
    """The objects of thousands of tests stay to the end: leave them out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()  # the interpreter frees them at its end


def pytest_runtest_setup(item):
    """Give each worker of pytest-xdist a core of its own, so that they share no core; tests marked `threads` get all."""
    if WORKER and CORES:
        alone = item.get_closest_marker("threads") is None
        os.sched_setaffinity(0, {CORES[int(WORKER.removeprefix("gw")) % len(CORES)]} if alone else CORES)


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were skipped because CuPy is missing, and how to run them."""
    waiting = sum(isinstance(one.longrepr, tuple) and "CuPy" in one.longrepr[2]
                  for one in terminalreporter.stats.get("skipped", ()))
    if waiting:
        terminalreporter.write_line(f"tests that wait for CuPy: {waiting:,}; to run them: make cuda, then make test (no GPU is "
                                    "needed)", yellow=True)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A temporary folder that all workers of this session use, so that none builds what another has built."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if WORKER else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def emitted_once(shared_folder):
    """Cython translates a game to C without Python once for all tests and workers: seconds each time, for the same text."""
    original = emit.run_cython
    shared = functools.cache(lambda: b"".join(path.read_bytes() for path in sorted(emit.PACKAGE.rglob("*.pxd"))))

    def run_cython(source, target):
        facts = [str(source), sorted(outside.texts_of(emit.ROOT / source).items()), shared()]
        kept = shared_folder / "emitted" / hashlib.sha256(repr(facts).encode()).hexdigest()
        if not kept.exists():
            original(source, target)
            kept.parent.mkdir(exist_ok=True)
            own = kept.with_suffix(f".{os.getpid()}")
            shutil.copyfile(target, own)
            own.replace(kept)
        shutil.copyfile(kept, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit, "run_cython", run_cython)
        yield


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory):
    """A data folder of the tests' own: trainings remember there which code they ran."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def no_curves(monkeypatch):
    """Trainings in this process write an empty curves.png: to draw it takes longer than a small training.

    tests/trainer/log/test_log.py draws curves, and tests/trainer/training/test_train.py a training's.
    """
    if train := sys.modules.get("trainer.training.train"):
        monkeypatch.setattr(train, "draw_curves", lambda folder: (folder / "curves.png").touch())


@pytest.fixture(scope="session")
def toy(shared_folder):
    """The `Game` of tests/support/toy, compiled in a new cache folder and not registered: envs_c.games() does not list it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVS_C_CACHE", str(shared_folder / "toy"))
        return outside.load(TOY)


@pytest.fixture(params=[*envs_c.games(), "toy"])
def game(request):
    """Each built-in game, and a game from outside the package."""
    return request.getfixturevalue("toy") if request.param == "toy" else envs_c.game(request.param)


@pytest.fixture(params=["breakout", "cartpole", "go", "toy"])
def each_kind(request):
    """A game of each kind: an Atari game, one whose episodes end soon, one with masks and integers, one from outside.

    It is for what the engine promises, which runs all games by the same code. What a game promises itself, such as to keep
    nothing outside its state, are the rules of tests/envs_c/own_games/test_every_rule.py, which every game keeps.
    """
    return request.getfixturevalue("toy") if request.param == "toy" else envs_c.game(request.param)


@pytest.fixture(params=["features", "pixels"])
def view(request):
    """Both kinds of observation."""
    return request.param


@pytest.fixture(params=["next_step", "same_step", "disabled"])
def autoreset(request):
    """All of Gymnasium's autoreset modes."""
    return request.param


@pytest.fixture(scope="session")
def trained_runs(tmp_path_factory):
    """A folder with a run of two iterations of cartpole in runs/one, and one of another seed in runs/two."""
    from trainer.__main__ import main
    root = tmp_path_factory.mktemp("verbs")
    for seed, name in enumerate(("one", "two"), 1):
        assert main(["cartpole", *TINY, f"--seed={seed}", f"--run-dir={root / 'runs' / name}"]) == 0
    return root


@pytest.fixture
def there(trained_runs, tmp_path, monkeypatch):
    """A working folder with copies of these runs, and SDL's dummy display."""
    shutil.copytree(trained_runs / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return tmp_path


@pytest.fixture
def exact():
    """Makes float32 products exact on a GPU too (no TF32)."""
    import torch
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, exact):
    """The device of tensors: the CPU, and under `pytest -m gpu` a GPU."""
    return request.param


@pytest.fixture
def slow_device(monkeypatch):
    """A function that makes a SlowDevice (tests/support/devices/slow_device.py). Their threads end with the test."""
    from graph_memory import watch_kernels
    from slow_device import SlowDevice
    watch_kernels(monkeypatch)
    made = []

    def make(**settings) -> SlowDevice:
        made.append(SlowDevice(**settings))
        return made[-1]
    yield make
    for device in made:
        device.close()
