"""Fixtures that several files share: the games one by one, the views and autoreset modes, and a game from outside.

torch is loaded where it is used alone: the sanitizers run the games' tests without it.
"""

from trainer.process import limit_openmp_spin  # isort: skip

limit_openmp_spin()  # before envs_c and torch load OpenMP

import shutil

import pytest
from support import TOY

import envs_c
from envs_c import outside

TINY = ["--num-envs=32", "--horizon=64", "--minibatch=1024", "--total-steps=4096", "--encoder-size=8", "--lstm-size=8",
        "--num-threads=1", "--device=cpu", "--no-dashboard", "--no-gif", "--eval-episodes=5"]


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The `Game` of tests/support/toy, compiled in a new cache folder and not registered: envs_c.games() does not list it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVS_C_CACHE", str(tmp_path_factory.mktemp("toy")))
        return outside.load(TOY)


@pytest.fixture(params=[*envs_c.games(), "toy"])
def game(request):
    """Every game, and the one from outside."""
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
    """A working folder with a copy of these runs, and a display that shows nothing."""
    shutil.copytree(trained_runs / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return tmp_path


@pytest.fixture
def exact():
    """float32 products in float32, on a GPU, too."""
    import torch
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, exact):
    """Where tensors are: on the CPU, and under `pytest -m gpu` on a GPU."""
    return request.param


@pytest.fixture
def twin():
    """Makes devices that are slow, out of order, or fail on purpose; see slow_device.py. Ends their threads."""
    from slow_device import SlowDevice
    made = []

    def make(**settings) -> SlowDevice:
        made.append(SlowDevice(**settings))
        return made[-1]
    yield make
    for device in made:
        device.close()
