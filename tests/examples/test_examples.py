"""The examples run: each with a small budget, and its result is checked. Those of a missing library are skipped."""

import importlib
import math
import re
from pathlib import Path

import pytest

FOLDERS = ("training", "stepping")
EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARIES = {"sb3_ppo": "stable_baselines3", "maskable_ppo": "sb3_contrib", "torchrl_ppo": "torchrl", "record_video": "moviepy",
             "dlpack_jax": "jax", "cleanrl_ppo": "torch", "dataloader": "torch", "dlpack_torch": "torch"}


def run(name: str, *arguments):
    """The result of an example's `main`."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason=f"the example {name} needs {LIBRARIES[name]}")
    folder = next(folder for folder in FOLDERS if (EXAMPLES / folder / f"{name}.py").exists())
    return importlib.import_module(f"examples.{folder}.{name}").main(*arguments)


@pytest.fixture(autouse=True)
def one_thread():
    """torch with one thread, as in the examples' own programs; then as before."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["cleanrl_ppo", "torchrl_ppo"])
def test_ppo_learns(name):
    scores = run(name, 8 * 64 * 64)
    assert sum(scores[-50:]) > 2 * sum(scores[:50])


def test_sb3_ppo_trains():
    assert run("sb3_ppo", 8192) > 15


def test_maskable_ppo_plays_only_legal_moves(capsys):
    assert 0 <= run("maskable_ppo", 2048) <= 1
    assert "of 100 games" in capsys.readouterr().out


@pytest.mark.threads
def test_the_asynchronous_loop_plays():
    assert len(run("async_loop", 300)) > 20


def test_record_video_writes_two_films(tmp_path):
    films = run("record_video", str(tmp_path), 20)
    assert len(films) == 2 and all(film.stat().st_size > 1000 for film in films)


@pytest.mark.parametrize("workers", [0, 2])
def test_the_data_loader_gets_the_transitions_of_all_workers(workers):
    assert run("dataloader", 20, workers) == 20 * 64 * max(workers, 1)


@pytest.mark.parametrize("name", ["dlpack_torch", "dlpack_jax"])
def test_shared_observations_drive_a_policy(name):
    assert math.isfinite(total := run(name, 100)) and total > 0


def test_every_example_is_listed_and_run():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    scripts = [path.relative_to(EXAMPLES) for folder in (".", *FOLDERS) for path in sorted((EXAMPLES / folder).glob("*.py"))]
    assert [str(path) for path in scripts if f"({path})" not in page] == []
    assert [path.stem for path in scripts if len(path.parts) > 1 and not re.search(rf"\b{path.stem}\b", tests)] == []
