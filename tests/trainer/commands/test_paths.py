"""Every option with a path: a text that is no path, and a folder without permission, are one line that says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.__main__ import main
from trainer.errors import ConfigError, FileError
from trainer.play.film import check_name
from trainer.runs import folder as run_folder

ROOT = Path(__file__).parents[3]
TAKING = ["cartpole --run-dir PATH", "cartpole --preset PATH", "--resume PATH", "eval PATH", "eval x --out PATH.gif",
          "play PATH", "record PATH", "record x --out PATH.mp4", "export PATH", "export x --out PATH --format safetensors",
          "compare PATH x", "compare x y --out PATH.png", "list --root PATH", "profile cartpole --out PATH.json",
          "sweep cartpole --space PATH", "sweep cartpole --out PATH", "sweep x --report --out PATH",
          "sweep x --report --storage journal:PATH", "PATH.pyx"]


@pytest.mark.parametrize("path", ["a\0b", "~nosuchuser/x", "x" * 300, "a/" * 3000 + "b", "\udcff"],
                         ids=["NUL", "unknown user", "long name", "long path", "not UTF-8"])
@pytest.mark.parametrize("words", TAKING)
def test_a_text_that_is_no_path_is_one_line(tmp_path, monkeypatch, capsys, words, path):
    monkeypatch.chdir(tmp_path)
    assert main([word.replace("PATH", path) for word in words.split()]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ") and error.count("\n") == 1 and error.rstrip("\n").isprintable() and len(error) < 700
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("words", "sentence"), [
    ("compare x y --out closed/x.png", "--out must be in a folder that you may write to, not 'closed': name another"),
    ("export x --out closed/x --format safetensors", "--out must be in a folder that you may write to, not 'closed'"),
    ("profile cartpole --out closed/x.json", "--out must be in a folder that you may write to, not 'closed'"),
    ("list --root closed", "--root must be a folder that you may read, not 'closed': name another"),
])
def test_a_folder_without_permission_is_refused_at_once(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "closed").mkdir()
    monkeypatch.setattr(os, "access", lambda *given: False)  # root may do all, whatever the mode of the folder
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: " + sentence) and error.count("\n") == 1


@pytest.mark.parametrize(("words", "name"), [
    ("eval one --out a.gif", "a.gif"), ("record one --out a.gif", "a-best.gif"), ("record one --out a.mp4", "a-worst.mp4"),
    ("record one", "runs/one/episode-median.gif"), ("compare one two --out a.png", "a.png"), ("compare one two", "compare.png"),
    ("report one --out a.html", "a.html"), ("profile cartpole --out a.json", "a.json"),
    ("profile cartpole", "trace.json.gz"), ("export one --out a --format safetensors", "a.safetensors")])
def test_a_folder_in_the_place_of_a_file_is_refused_at_once(there, capsys, words, name):
    (there / name).mkdir()
    assert main(words.split()) == 2
    out, error = capsys.readouterr()
    assert (out, error) == ("", f"error: --out must be a file, not the folder {name!r}: name a file in it, or another\n")


@pytest.mark.parametrize(("words", "name"), [("eval one --out a.gif", "a.gif"), ("compare one two", "compare.png"),
                                             ("report one --out a.html", "a.html"),
                                             ("export one --out a --format safetensors", "a.safetensors")])
def test_a_link_in_the_place_of_a_file_is_refused_at_once_and_stays(there, capsys, words, name):
    (there / name).symlink_to("elsewhere")
    assert main(words.split()) == 2
    out, error = capsys.readouterr()
    assert (out, error) == ("", f"error: --out must be a file, not the link {name!r}, which would be replaced: name the file "
                                "to which it points, or another\n")
    assert (there / name).is_symlink()


def test_a_folder_may_have_the_name_to_which_an_export_adds_its_ending(there, capsys):
    (there / "a").mkdir()
    assert main(["export", "one", "--out", "a", "--format", "safetensors"]) == 0
    assert (there / "a.safetensors").is_file() and not list((there / "a").iterdir())


@pytest.mark.parametrize("words", ["eval NAME", "play NAME", "record NAME", "export NAME --format safetensors", "report NAME",
                                   "compare NAME NAME", "watch NAME", "--resume NAME"])
@pytest.mark.parametrize("name", ["closed", "closed/run", "closed/run/best.safetensors"])
def test_a_run_that_may_not_be_read_says_what_to_do(tmp_path, monkeypatch, capsys, words, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "closed").mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "closed" not in str(path) and allowed(path, mode))
    assert main([word.replace("NAME", name) for word in words.split()]) == 2
    assert capsys.readouterr().err == ("error: RUN must be in a folder that you may read, not 'closed': let your user read it, "
                                       "or choose another run\n")


@pytest.mark.parametrize(("words", "folder"), [("new mine", "."), ("new mine --dir closed", "closed"),
                                               ("new mine --dir=closed/inner", "closed")])
def test_a_new_game_in_a_folder_without_permission_says_what_to_do(tmp_path, monkeypatch, capsys, words, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "closed").mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and allowed(path, mode))
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"error: --dir must be a folder that you may write to, not {folder!r}: name another\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["closed"]


def test_a_film_in_a_folder_without_permission_is_refused_before_it_is_played(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *given: False)
    with pytest.raises(ConfigError, match="out must be in a folder that you may write to"):
        check_name(tmp_path / "x.gif")


def test_a_run_in_a_folder_without_permission_says_what_to_do(tmp_path, monkeypatch):
    def refuse(path, chunks):
        raise PermissionError(13, "Permission denied", f"{path}.tmp")
    monkeypatch.setattr(run_folder, "write_atomically", refuse)
    with pytest.raises(FileError, match=r"^cannot write .*: Permission denied; a training writes into its run's folder"), \
            run_folder.open_folder(tmp_path, {}, {}, 0):
        pass


def test_the_name_of_a_folder_that_is_no_text_is_printed_in_escapes(tmp_path):
    (tmp_path / "\udcff").mkdir()
    done = subprocess.run([sys.executable, "-m", "trainer", "list", "--root", tmp_path], cwd=ROOT, capture_output=True,
                          env=os.environ | {"PYTHONIOENCODING": "utf-8"}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\udcff holds no run" in done.stdout
