"""A disk that is full at the end of a training: one line names the file and how to go on, and no score is lost."""

import pytest
from trainer_support import ROLLOUT, config

from trainer.errors import FileError
from trainer.log import curves
from trainer.play import evaluate
from trainer.results import report
from trainer.runs import checkpoint, folder
from trainer.self_play import league
from trainer.training import train

FILES = {"curves.png": curves, "report.html": report, "evaluation.json": evaluate}  # and the modules that write them


def refuse(monkeypatch, module, refused):
    """Let the disk be full for the file of this name, which `module` writes."""
    write = module.write_atomically

    def write_atomically(path, chunks):
        if path.name == refused:
            raise OSError(28, "No space left on device", str(path))
        write(path, chunks)
    monkeypatch.setattr(module, "write_atomically", write_atomically)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_end_that_does_not_fit_is_named_and_a_resumed_run_writes_it(tmp_path, monkeypatch, capsys, name):
    monkeypatch.setattr(train, "draw_curves", curves.draw_curves)
    advice = "make room, let your user write there, and go on from the last checkpoint with --resume$"
    with monkeypatch.context() as full, pytest.raises(FileError, match=f"^cannot write .*/{name}: No space left .*; {advice}"):
        refuse(full, FILES[name], name)
        train.train(config(tmp_path / "run", eval_episodes=2, iterations=2))
    assert checkpoint.latest(tmp_path / "run") == checkpoint.path_of(tmp_path / "run", 2 * ROLLOUT)
    assert not (tmp_path / "run" / name).exists()
    assert ("\nsampled " in capsys.readouterr().out) == (name == "evaluation.json")
    train.train(config(tmp_path / "run", eval_episodes=2, iterations=2, resume=str(tmp_path / "run")))
    assert all((tmp_path / "run" / each).is_file() for each in FILES)


def test_a_folder_without_room_for_its_config_says_to_make_room(tmp_path, monkeypatch):
    refuse(monkeypatch, folder, "config.json")
    with pytest.raises(FileError, match=r"^cannot write .*/config.json: No space left on device; .* make room"):
        train.train(config(tmp_path / "run"))


def test_ratings_that_do_not_fit_are_named(tmp_path, monkeypatch):
    refuse(monkeypatch, league, "ratings.json")
    with pytest.raises(FileError, match=r"^cannot write .*/ratings.json: No space left on device; make room, .* --resume$"):
        league.League.write(type("Rated", (), {"table": list})(), tmp_path)
