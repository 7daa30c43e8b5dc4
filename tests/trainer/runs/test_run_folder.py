"""A run's folder describes itself: machine, command and files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from log_support import iterations

from trainer.config import RunConfig
from trainer.errors import RunError
from trainer.runs import machine
from trainer.runs.folder import CONFIG, README, new_run_folder


@pytest.fixture
def repository(tmp_path):
    """A git repository with one commit."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("a")
    git(tmp_path, "add", "file")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first")
    return tmp_path


def git(folder, *words) -> str:
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def program(folder: Path, name: str, text: str) -> Path:
    """An executable shell script in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder


def test_a_session_has_its_machine_versions_and_command(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "trainer", "breakout"])
    iterations(tmp_path, 1, 1)
    facts = json.loads((tmp_path / CONFIG).read_text())["sessions"][0]["facts"]
    assert facts.keys() >= {"machine", "cpu", "cores", "gpu", "git", "python", "insertcoin", "torch", "numpy", "gymnasium",
                            "safetensors", "tensorboard", "rich", "tyro", "command", "folder"}
    assert facts["folder"] == str(Path.cwd())
    assert facts["command"] == "python -m trainer breakout"


def test_a_commit_is_named_with_changes_if_files_differ(repository):
    at = git(repository, "rev-parse", "HEAD")
    assert machine.commit(repository) == f"{at} in {git(repository, 'rev-parse', '--show-toplevel')}"
    (repository / "another").touch()  # not tracked by git
    assert "changes" not in machine.commit(repository)
    (repository / "file").write_text("b")
    assert machine.commit(repository).startswith(f"{at}, with changes, in ")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_commit_in_a_folder_whose_name_is_not_in_utf_8_is_named(repository):
    folder = repository.rename(os.fsdecode(os.fsencode(repository) + b"\xe9"))
    assert machine.commit(folder).endswith(f" in {folder.resolve()}")


@pytest.mark.parametrize("path", ["", "git"], ids=["outside a repository", "without git"])
def test_no_commit_is_none(tmp_path, monkeypatch, path):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if path:
        monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.commit(tmp_path) is None


@pytest.mark.parametrize(("answer", "facts"), [
    ("echo 'NVIDIA H200, 580.95'; echo 'NVIDIA H200, 580.95'", {"gpu": "NVIDIA H200, NVIDIA H200", "driver": "580.95"}),
    ("echo 'no devices were found'", {"gpu": "none"}),
    ("echo broken; exit 9", {"gpu": "none"}),
])
def test_gpus_and_their_driver_are_named(tmp_path, monkeypatch, answer, facts):
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "nvidia-smi", answer)))
    found = machine.gpu_facts()
    found.pop("cuda", None)
    assert found == facts


def test_a_program_that_hangs_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "nvidia-smi", "while :; do :; done")))
    monkeypatch.setattr(machine, "_TIMEOUT", 0.05)
    assert machine.gpu_facts()["gpu"] == "none"


def test_the_readme_names_the_files_and_the_commands(tmp_path):
    folder = tmp_path / "a run"
    iterations(folder, 1, 1)
    text = (folder / README).read_text()
    assert text.startswith("# A run of breakout\n")
    for name in ("config.json", "metrics.jsonl", "curves.png", "best.safetensors", "evaluation.json", "episode.gif"):
        assert f"`{name}`" in text
    for words in ("--resume", "eval", "record", "export"):
        assert f"python -m trainer {words} '{folder}'" in text


@pytest.mark.parametrize(("files", "sentence"), [
    (["step_000000000300.safetensors", "step_000000000200.safetensors", "best.safetensors"],
     "which holds step_000000000300.safetensors but no config.json; go on from it by --resume .*300.safetensors"),
    (["best.safetensors"], "holds best.safetensors but no config.json"),
    (["config.json", "step_000000000300.safetensors"], "whose config.json is damaged or of another program"),
    (["config.json"], "whose config.json is damaged or of another program"),
    (["notes.txt", "metrics.jsonl"], "must be an empty or a new folder, not .*, which holds metrics.jsonl"),
    ([".cache.tmp"], "which holds .cache.tmp"),
    (["preset.toml", "other.txt"], "which holds other.txt"),
], ids=lambda value: "+".join(value) if isinstance(value, list) else "")
def test_a_folder_with_files_that_are_not_of_a_new_run_is_refused(tmp_path, files, sentence):
    for name in files:
        (tmp_path / name).write_text("[1]")
    with pytest.raises(RunError, match=sentence):
        new_run_folder("breakout", RunConfig(run_dir=str(tmp_path)))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_run_dir_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="--run-dir must be a folder or the name of a new one, not '"):
        new_run_folder("breakout", RunConfig(run_dir=name))
    assert not list(tmp_path.iterdir())


def test_a_trial_of_a_sweep_takes_the_folder_that_its_sweep_made(tmp_path):
    for name in ("preset.toml", "output.txt"):
        (tmp_path / name).touch()
    assert new_run_folder("breakout", RunConfig(run_dir=str(tmp_path))) == tmp_path
