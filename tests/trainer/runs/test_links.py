"""A folder from a stranger: links in it reach no file outside, and a run with links where files belong is refused."""

import json
import os
import secrets
from pathlib import Path

import pytest
from log_support import STEP, iterations
from verb_support import refused

from envs_c.arcade.site import make_site
from envs_c.errors import InvalidArgument
from envs_c.files import Appended, open_new, write_atomically
from trainer.config import Config
from trainer.config.games import GameName
from trainer.errors import RunError
from trainer.play import film
from trainer.runs.folder import refuse_links
from trainer.sweep.trial import OUTPUT, Training, new_training

FILES = ("config.json", "metrics.jsonl", "README.md", "curves.png", "report.html", "evaluation.json",
         "step_000000000300.safetensors")


@pytest.fixture
def outside(tmp_path):
    """A file of the user's that no run may change."""
    file = tmp_path / "outside"
    file.write_text("mine")
    yield file
    assert file.read_text() == "mine"


def link_temporaries(folder: Path, name: str, outside: Path) -> None:
    """Links for the temporary files of every process that had numbers in their names."""
    for number in (os.getpid(), *range(1, 100)):
        (folder / f".{name}.{number}.tmp").symlink_to(outside)


@pytest.mark.parametrize("name", FILES)
def test_a_temporary_file_is_no_link_of_a_stranger(tmp_path, outside, name):
    link_temporaries(tmp_path, name, outside)
    write_atomically(tmp_path / name, [b"a", memoryview(b"b")])
    assert (tmp_path / name).read_bytes() == b"ab"


def test_a_film_is_written_through_no_link(tmp_path, outside):
    import numpy as np
    (tmp_path / f".episode.{os.getpid()}.tmp.gif").symlink_to(outside)
    film._save(tmp_path / "episode.gif", [np.zeros((8, 8, 3), np.uint8)] * 2, 30.0)
    assert (tmp_path / "episode.gif").read_bytes().startswith(b"GIF8")


def test_two_containers_with_one_process_number_share_no_temporary_file(tmp_path, monkeypatch):
    """Each finds the other in the middle of its writing."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    seen = []

    def chunks():
        yield b"first"
        write_atomically(tmp_path / "x", [b"second"])
        seen.append(sorted(path.name for path in tmp_path.iterdir()))
        yield b" whole"
    write_atomically(tmp_path / "x", chunks())
    assert len(seen[0]) == 2 and (tmp_path / "x").read_bytes() == b"first whole"


def test_a_temporary_name_that_is_taken_is_an_error_and_is_not_followed(tmp_path, outside, monkeypatch):
    monkeypatch.setattr(secrets, "token_hex", lambda count: "00")
    (tmp_path / ".x.00.tmp").symlink_to(outside)
    with pytest.raises(FileExistsError) as error:
        write_atomically(tmp_path / "x", [b"a"])
    assert error.value.filename == str(tmp_path / "x")


def test_a_link_is_replaced_or_refused_and_never_followed(tmp_path, outside):
    for name in ("new", "appended"):
        (tmp_path / name).symlink_to(outside)
    with open_new(tmp_path / "new") as file:
        file.write(b"a")
    assert (tmp_path / "new").read_bytes() == b"a" and not (tmp_path / "new").is_symlink()
    with pytest.raises(OSError, match="appended"):
        Appended(tmp_path / "appended")


def test_the_output_of_a_trial_goes_through_no_link(tmp_path, outside):
    folder = tmp_path / "trial-0000"
    arguments = new_training(Config(GameName("breakout")), folder, "A trial.")
    (folder / OUTPUT).symlink_to(outside)
    training = Training(folder, ["--version", *arguments[:0]])
    assert training.ended(60)
    assert (folder / OUTPUT).read_text().startswith("insertcoin ")


@pytest.mark.parametrize("name", [*FILES, "output.txt", "preset.toml", "episode.gif", "best.safetensors", "wandb",
                                  "ratings.json", "trackers.json", "policy.onnx", "events.out.tfevents.1.host.2",
                                  ".metrics.jsonl.5.tmp"])
def test_a_run_with_a_link_where_a_file_belongs_is_refused(tmp_path, outside, name):
    run = tmp_path / "run"
    run.mkdir()
    refuse_links(run)
    (run / name).symlink_to(outside)
    with pytest.raises(RunError, match=rf"run/{name} is a link to .*outside, and the files in .*run must be no links: remove"):
        refuse_links(run)


def test_links_of_other_names_are_the_users_own(tmp_path, outside):
    (tmp_path / "notes.md").symlink_to(outside)
    refuse_links(tmp_path)


def test_every_door_to_a_run_refuses_links(there, outside, capsys):
    run = there / "runs" / "one"
    with pytest.raises(RunError, match="is a link to"):
        (there / "logged").mkdir()
        (there / "logged" / "metrics.jsonl").symlink_to(outside)
        iterations(there / "logged", 1, 1, resume_step=STEP)
    for name in ("curves.png", "evaluation.json", "report.html"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(outside)
    for words in ("--resume runs/one", "eval runs/one", "record runs/one", "export runs/one", "report runs/one",
                  "watch runs/one", "compare runs/one runs/two"):
        assert "is a link to" in refused(capsys, words), words


@pytest.mark.parametrize("verb", ["sweep", "bench"])
def test_a_sweeps_folder_with_links_is_refused(tmp_path, monkeypatch, outside, capsys, verb):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "into").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "trial-0000").symlink_to(tmp_path / "into")
    error = refused(capsys, f"{verb} cartpole --out out --storage sqlite:///here.db")
    assert "out/trial-0000 is a link to" in error and not list((tmp_path / "into").iterdir())


def test_an_arcade_with_links_is_refused(tmp_path, outside):
    page = make_site(tmp_path / "page", [], {})
    (page / "agents").symlink_to(tmp_path)
    with pytest.raises(InvalidArgument, match="without links"):
        make_site(page, [], {"pong": b"x"})
    (page / "agents").unlink()
    make_site(page, [], {"pong": b"x"})
    assert json.loads((page / "catalog.json").read_text()) == [] and (page / "agents" / "pong.safetensors").read_bytes() == b"x"
