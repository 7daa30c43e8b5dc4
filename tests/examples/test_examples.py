"""The examples run: each with a small budget, and its result is checked. Those of a missing library are skipped."""

import importlib
import json
import math
import re
from pathlib import Path

import pytest

FOLDERS = ("training", "training/hooks", "stepping")
HOOKS = "examples.training.hooks"
# Settings that name the code of an example, with the game, and a number that the log then has.
NAMED = {"encoder": ("tmaze", {"encoder": f"{HOOKS}.encoder:TwoBranches"}, "loss_policy"),
         "memory": ("tmaze", {"memory": f"{HOOKS}.memory:Gru"}, "loss_policy"),
         "heads": ("g2048", {"heads": f"{HOOKS}.heads:Separate"}, "loss_policy"),
         "loss, smooth": ("tmaze", {"loss": f"{HOOKS}.loss:smooth"}, "loss_smoothness"),
         "loss, another algorithm": ("g2048", {"loss": f"{HOOKS}.loss:simple_policy_optimization"}, "loss_policy"),
         "transforms": ("cartpole", {"reward_transform": f"{HOOKS}.transforms:square_root",
                                     "observation_transform": f"{HOOKS}.transforms:with_squares"}, "loss_value"),
         "tracker": ("cartpole", {"track": f"{HOOKS}.tracker:Csv"}, "loss_policy")}
EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARIES = {"offline_dataset": "minari",
             "sb3_ppo": "stable_baselines3", "maskable_ppo": "sb3_contrib", "torchrl_ppo": "torchrl", "record_video": "moviepy",
             "dlpack_jax": "jax", "cleanrl_ppo": "torch", "dataloader": "torch", "dlpack_torch": "torch"}


def run(name: str, *arguments, **settings):
    """The result of an example's `main`."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason=f"the example {name} needs {LIBRARIES[name]}")
    folder = next(folder for folder in FOLDERS if (EXAMPLES / folder / f"{name}.py").exists())
    return importlib.import_module(f"examples.{folder}.{name}").main(*arguments, **settings)


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


def test_an_agent_learns_from_a_dataset_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    agent, imitation = run("offline_dataset", 16)
    assert agent > 400 and imitation > 400
    assert "arcade/cartpole/leaning-v0: 16 episodes" in capsys.readouterr().out


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


def test_record_video_without_a_folder_leaves_the_current_one_empty(tmp_path, monkeypatch, capsys):
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    films = run("record_video", steps=20)
    assert list(here.iterdir()) == [] and all(temporary in film.parents for film in films)
    assert capsys.readouterr().out.splitlines() == [str(film) for film in films]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_data_loader_gets_the_transitions_of_all_workers(workers):
    assert run("dataloader", 20, workers) == 20 * 64 * max(workers, 1)


@pytest.mark.parametrize("name", ["dlpack_torch", "dlpack_jax"])
def test_shared_observations_drive_a_policy(name):
    assert math.isfinite(total := run(name, 100)) and total > 0


SMALL = {"num_envs": 16, "horizon": 32, "minibatch": 128, "num_threads": 1, "encoder_size": 16, "lstm_size": 12,
         "device": "cpu", "dashboard": False, "eval_episodes": 0, "gif": False}


@pytest.mark.parametrize("name", NAMED)
def test_code_of_one_s_own_trains_resumes_bit_for_bit_and_plays(tmp_path, name):
    trainer = pytest.importorskip("trainer")
    game, named, metric = NAMED[name]
    settings = {"track": "none", **SMALL, "total_steps": 2048, **named}
    whole = trainer.train(game, run_dir=tmp_path / "whole", **settings)
    part = trainer.train(game, run_dir=tmp_path / "part", stop_at=512, **settings)
    trainer.train(resume=part)
    (mine, played), (wanted, _) = trainer.load(part), trainer.load(whole)
    assert all(tensor.equal(wanted.state_dict()[key]) for key, tensor in mine.state_dict().items())
    lines = [json.loads(line) for line in (whole / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(math.isfinite(line[metric]) for line in lines) and len(lines) == 4
    assert trainer.evaluate(part, 2)["episodes"] == 2 and played.game == game
    if name == "tracker":
        rows = (whole / "metrics.csv").read_text(encoding="utf-8").splitlines()
        assert rows[0] == "step,score_mean,loss_policy,loss_value,entropy" and rows[-1].startswith("2048,")


def test_own_loop_and_callbacks_train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("own_loop", **SMALL, total_steps=1024) > 5
    assert list(tmp_path.iterdir()) == []
    assert run("callbacks", 10.0, **SMALL, total_steps=10_240, run_dir="run") > 5
    metrics = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert metrics[-1]["best_score"] >= metrics[-1]["score_mean"] >= 10 and metrics[-1]["step"] < 10_240


def test_fine_tune_goes_on_from_the_short_corridor(tmp_path, capsys):
    assert 0 <= run("fine_tune", tmp_path, **SMALL, total_steps=1024) <= 1
    assert f"weights of {tmp_path}/short/step_000000001024.safetensors\n" in capsys.readouterr().out


@pytest.fixture
def notebook():
    """The notebook of the examples."""
    nbformat = pytest.importorskip("nbformat")
    read = nbformat.read(EXAMPLES / "training" / "first_steps.ipynb", as_version=4)
    nbformat.validate(read)
    return read


def test_the_notebook_has_no_outputs(notebook):
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)


@pytest.mark.slow  # it starts a kernel of Jupyter
def test_the_notebook_runs_and_leaves_no_file(notebook, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    for cell in notebook.cells:
        cell.source = cell.source.replace("200_000", "8_192").replace("episodes=50", "episodes=5")
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(here)}}).execute()
    results = [cell.outputs[-1]["data"]["text/plain"] for cell in notebook.cells if "checkpoint" in cell.source]
    assert len(results) == 1 and float(results[0].strip("(").split(",")[0]) > 0
    assert list(here.iterdir()) == [] and not list(temporary.glob("first_steps_*"))


@pytest.mark.parametrize(("page", "package"), [("new_game/README.md", "pytest"), ("training/first_steps.ipynb", "ipykernel")])
def test_the_set_up_that_a_page_names_installs_what_its_commands_need(page, package):
    target = re.search(r"`make (\w+)`", (EXAMPLES / page).read_text(encoding="utf-8"))[1]
    pins = (EXAMPLES.parent / {"setup": "requirements.txt", "dev": "requirements-dev.txt"}[target]).read_text(encoding="utf-8")
    assert re.search(rf"^{package}==", pins, re.MULTILINE)


def test_every_example_is_listed_and_run():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    scripts = [path.relative_to(EXAMPLES) for folder in (".", *FOLDERS) for path in sorted((EXAMPLES / folder).glob("*.py"))]
    assert [str(path) for path in scripts if f"({path})" not in page] == []
    assert [path.stem for path in scripts if len(path.parts) > 1 and not re.search(rf"\b{path.stem}\b", tests)] == []
