"""What the verbs say where they cannot do it: no run, a foreign file, damage, a game that is gone, no display, no encoder."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch
from verb_support import refused, rewrite

from trainer.__main__ import main
from trainer.runs import checkpoint

GAME_VERBS = ("eval RUN --episodes 3", "record RUN --episodes 3", "play RUN --episodes 1 --speed 1000")


@pytest.mark.parametrize("words", [*GAME_VERBS, "compare RUN one", "--resume RUN"])
@pytest.mark.parametrize(("name", "sentence"), [
    ("nothing", "there is no run at nothing, and none under runs begins with 'nothing'"),
    ("runs", "runs holds no run"),
])
def test_a_run_that_is_not_there_is_told_with_those_that_are(capsys, there, words, name, sentence):
    told = refused(capsys, words.replace("RUN", name))
    assert sentence in told and "two and one" in told and "python -m trainer list" in told


@pytest.mark.parametrize("words", GAME_VERBS)
@pytest.mark.parametrize(("data", "sentence"), [
    (b"just text", "notes.txt is no safetensors file; pass a run's folder"),
    (b"PK\x03\x04", "is a pickle, as torch.save writes it, and not read"),
])
def test_a_foreign_file_is_refused(capsys, there, words, data, sentence):
    Path("notes.txt").write_bytes(data)
    assert sentence in refused(capsys, words.replace("RUN", "notes.txt"))


@pytest.mark.parametrize("words", [*GAME_VERBS, "--resume RUN"])
def test_a_damaged_checkpoint_is_told_with_one_that_is_whole(capsys, there, words):
    path = checkpoint.latest(there / "runs" / "one")
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    told = refused(capsys, words.replace("RUN", "one"))
    assert "is damaged: its contents do not match its checksum" in told and "is whole: pass it instead" in told


@pytest.mark.parametrize("words", [*GAME_VERBS, "--resume RUN"])
@pytest.mark.parametrize(("game", "sentence"), [
    ("/games/gone.pyx", "game file '/games/gone.pyx' is not there"), ("gone", "unknown game 'gone'"),
])
def test_a_run_whose_game_is_gone_is_told(capsys, there, words, game, sentence):
    rewrite(there / "runs" / "one", lambda config: config.update(game=game))
    assert sentence in refused(capsys, words.replace("RUN", "one"))
    assert main(["list"]) == 0  # which needs no game
    assert "gone" in capsys.readouterr().out


@pytest.mark.parametrize("words", GAME_VERBS)
def test_a_run_of_another_version_is_told(capsys, there, words):
    rewrite(there / "runs" / "one", lambda config: config["ppo"].update(novelty=1))
    assert "was written by another version of the trainer" in refused(capsys, words.replace("RUN", "one"))


def test_weights_that_do_not_fit_the_game_are_told(capsys, there):
    path = checkpoint.latest(there / "runs" / "one")
    tensors, meta = checkpoint.load(path)
    tensors["policy.heads.weight"] = torch.zeros(5, 8)
    checkpoint.save(path.parent, 9999, tensors, meta, score=None)
    assert "does not fit the present cartpole" in refused(capsys, "eval one --episodes 1")


@pytest.mark.parametrize(("words", "sentence"), [
    ("play one --speed 0", "speed is 0; it may be a number above 0"),
    ("play one --episodes 0", "episodes is 0"),
    ("play one --seed -2", "seed is -2"),
    ("play one --human --terminal", "human is played in the window"),
    ("play one --terminal", "--terminal draws into a terminal, and the output goes elsewhere"),
    ("record one --out film.avi", "out is 'film.avi'; it may be a file that ends in .gif or .mp4"),
    ("record one --out nowhere/a.gif", "the film's folder 'nowhere' is not there"),
    ("eval one --out nowhere/a.gif", "the film's folder 'nowhere' is not there"),
    ("compare", "compare takes two runs or more, and none is named"),
    ("compare one runs/one", "compare takes two runs or more, and only runs/one is named"),
    ("compare one two --out c.jpg", "out is 'c.jpg'; it may be a file that ends in .png"),
    ("compare one two --out nowhere/c.png", "the picture's folder 'nowhere' is not there"),
])
def test_what_an_option_may_be_is_said(capsys, there, words, sentence):
    assert sentence in refused(capsys, words)


def test_different_games_are_not_compared(capsys, there):
    rewrite(there / "runs" / "two", lambda config: config.update(game="pong"))
    told = refused(capsys, "compare one two")
    assert "scores of different games cannot be compared: one plays cartpole, two plays pong" in told


def test_a_run_without_scores_is_not_compared(capsys, there):
    (there / "runs" / "two" / "metrics.jsonl").unlink()
    assert "runs/two has no scores yet" in refused(capsys, "compare one two")


def test_where_there_is_no_display_that_is_said(capsys, there, monkeypatch):
    pytest.importorskip("pygame")
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pygame.display.get_driver", lambda: "offscreen")  # also where the tests have a display
    told = refused(capsys, "play one")
    assert "a window needs a display" in told and "--terminal" in told


def test_where_there_is_no_pygame_that_is_said(capsys, there, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    told = refused(capsys, "play one")
    assert "a window needs pygame: pip install 'insertcoin[play]', or pass --terminal" in told


@pytest.mark.parametrize("words", ["eval one --out a.mp4", "record one --out a.mp4"])
def test_where_there_is_no_encoder_that_is_said(capsys, there, monkeypatch, words):
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None if name == "imageio_ffmpeg" else real(name, *more))
    told = refused(capsys, words)
    assert "an MP4 needs the package imageio-ffmpeg: pip install imageio-ffmpeg, or write a .gif" in told
    assert not list(there.glob("a*"))


def test_a_film_that_cannot_be_written_leaves_nothing(capsys, there):
    Path("a-best.gif").mkdir()
    assert "cannot write the film a-best.gif" in refused(capsys, "record one --episodes 3 --out a.gif")
    assert [path.name for path in there.iterdir() if "a-" in path.name] == ["a-best.gif"]
