"""A training whose folder is removed, moved or replaced ends with one line, and writes no checkpoint without its run."""

import shutil

import pytest
from trainer_support import config

import trainer
from trainer.errors import RunError
from trainer.log.run_log import RunLog
from trainer.training import train


def remove(folder):
    shutil.rmtree(folder)


def move(folder):
    folder.rename(folder.with_name("moved"))


def replace(folder):
    move(folder)
    folder.mkdir()


def empty(folder):
    for path in folder.iterdir():
        path.unlink()


def a_file_in_its_place(folder):
    move(folder)
    folder.touch()


@pytest.mark.parametrize("change", [remove, move, replace, empty, a_file_in_its_place])
@pytest.mark.parametrize("before", ["the metrics", "the checkpoint"])
def test_a_folder_that_is_gone_ends_the_training_at_the_next_write(tmp_path, monkeypatch, change, before):
    folder, owner, name = tmp_path / "run", *((train, "iterate") if before == "the metrics" else (RunLog, "iteration"))
    original, calls = getattr(owner, name), []

    def changed(*arguments):
        result = original(*arguments)
        calls.append(arguments)
        if len(calls) == 3:
            change(folder)
        return result
    monkeypatch.setattr(owner, name, changed)
    with pytest.raises(RunError, match=rf"^{folder} was removed, moved or replaced during the training.*$"):
        train.train(config(folder))
    assert len(calls) == 3
    assert not list(folder.glob("*"))


def test_in_python_the_line_about_a_folder_that_is_gone_is_whole(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(RunError, match=r"the training ends: resume it from its last checkpoint if the folder still exists"):
        trainer.train(config(folder), on_update=lambda session, metrics: shutil.rmtree(folder))


def test_a_run_that_another_process_began_meanwhile_in_the_folder_keeps_its_checkpoints(tmp_path, monkeypatch):
    """Both found the folder empty."""
    folder, build, saved = tmp_path / "run", train.build, []

    def slow(*arguments):
        monkeypatch.setattr(train, "build", build)
        train.train(config(folder, seed=2))
        saved.extend(sorted(folder.glob("step_*")))
        return build(*arguments)
    monkeypatch.setattr(train, "build", slow)
    with pytest.raises(RunError, match=rf"{folder} holds a run already"):
        train.train(config(folder, seed=1))
    assert len(saved) > 1 and sorted(folder.glob("step_*")) == saved
