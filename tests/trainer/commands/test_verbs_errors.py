"""Errors of the verbs: no such run, foreign and damaged files, a missing game, no display, no encoder."""

import gc
import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch
from verb_support import refused, rewrite, run

from envs_c import install
from trainer.__main__ import main
from trainer.play import film
from trainer.runs import checkpoint

GAME_VERBS = ("eval RUN --episodes 3", "record RUN --episodes 3", "play RUN --episodes 1 --speed 1000")


@pytest.mark.parametrize("words", [*GAME_VERBS, "compare RUN one", "--resume RUN"])
@pytest.mark.parametrize(("name", "sentence"), [
    ("nothing", "there is no run at nothing, and none under runs begins with 'nothing'"),
    ("runs", "runs holds no run"),
])
def test_the_error_about_a_missing_run_names_others(capsys, there, words, name, sentence):
    error = refused(capsys, words.replace("RUN", name))
    assert sentence in error and "two and one" in error and "python -m trainer list" in error


@pytest.mark.parametrize("words", GAME_VERBS)
@pytest.mark.parametrize(("data", "sentence"), [
    (b"just text", "notes.txt is no safetensors file; pass a run's folder"),
    (b"PK\x03\x04", "is a pickle, as torch.save writes it, and not read"),
])
def test_a_foreign_file_is_refused(capsys, there, words, data, sentence):
    Path("notes.txt").write_bytes(data)
    assert sentence in refused(capsys, words.replace("RUN", "notes.txt"))


@pytest.mark.parametrize("words", [*GAME_VERBS, "--resume RUN"])
def test_the_error_about_a_damaged_checkpoint_names_another(capsys, there, words):
    path = checkpoint.latest(there / "runs" / "one")
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    error = refused(capsys, words.replace("RUN", "one"))
    assert "is damaged: its contents do not match its checksum" in error and "is intact: pass it instead" in error


@pytest.mark.parametrize("words", [*GAME_VERBS, "--resume RUN"])
@pytest.mark.parametrize(("game", "sentence"), [
    ("/games/gone.pyx", "game file '/games/gone.pyx' does not exist"), ("gone", "unknown game 'gone'"),
])
def test_a_run_whose_game_is_gone_is_refused(capsys, there, words, game, sentence):
    rewrite(there / "runs" / "one", lambda config: config.update(game=game))
    assert sentence in refused(capsys, words.replace("RUN", "one"))
    assert main(["list"]) == 0  # the list needs no game
    assert "gone" in capsys.readouterr().out


@pytest.mark.parametrize("words", ["eval one --episodes 1", "--resume one --total-steps 4096"])
def test_the_config_of_another_game_is_named_and_the_checkpoints_game_counts(capsys, there, monkeypatch, words):
    monkeypatch.setattr("trainer.training.train.train", lambda config: None)
    path = there / "runs" / "one" / "config.json"
    path.write_text(path.read_text().replace('"cartpole"', '"pong"'))
    assert main(words.split()) == 0
    line = "runs/one/config.json says that the game is pong, but step_000000004096.safetensors is of cartpole, which counts"
    assert line in capsys.readouterr().err


@pytest.mark.parametrize(("number", "line"), [(30, "cartpole has no action NOOP: --noop-max 30 has no effect\n"), (0, "")])
def test_no_ops_of_a_game_without_them_are_named(capsys, there, number, line):
    assert main(["eval", "one", "--episodes", "1", "--noop-max", str(number)]) == 0
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("words", GAME_VERBS)
def test_a_run_of_another_version_is_refused(capsys, there, words):
    rewrite(there / "runs" / "one", lambda config: config["ppo"].update(novelty=1))
    assert "was written by another version of the trainer" in refused(capsys, words.replace("RUN", "one"))


def test_weights_that_do_not_fit_the_game_are_refused(capsys, there):
    path = checkpoint.latest(there / "runs" / "one")
    tensors, meta, _ = checkpoint.load(path)
    tensors["policy.heads.weight"] = torch.zeros(5, 8)
    checkpoint.save(path.parent, 9999, tensors, meta, score=None)
    assert "does not fit the present cartpole" in refused(capsys, "eval one --episodes 1")


@pytest.mark.parametrize(("words", "sentence"), [
    ("play one --speed 0", "--speed must be a number from 0.001 to 1,000,000, not 0"),
    ("play one --episodes 0", "--episodes must be none, or an integer of at least 1, not 0"),
    ("play one --seed -2", "--seed must be none, or an integer from 0 to 9,223,372,036,854,775,807, not -2"),
    ("play one --human --terminal", "--terminal needs a terminal as output"),
    ("play one --terminal", "--terminal needs a terminal as output"),
    ("play", "GAME or RUN is missing"),
    ("play --no-greedy nobody", "there is no run at nobody"),
    ("play --no-terminal --no_human nobody", "there is no run at nobody"),
    ("play --trust_code nobody", "there is no run at nobody"),
    ("play --no-trust-code --terminal one", "--terminal needs a terminal as output"),
    ("play --terminal --seed 3", "GAME or RUN is missing"),
    ("play brekout", "there is no game and no run 'brekout'; did you mean breakout?"),
    ("play Cartpole", "there is no game and no run 'Cartpole'; did you mean cartpole?"),
    ("play nobody", "there is no run at nobody"),
    ("play gym:CartPole-v1", "gym:CartPole-v1 cannot be played with keys"),
    ("play cartpole --greedy", "--greedy must be left out for the game cartpole, which you play yourself"),
    ("play --device=cpu cartpole", "--device must be left out for the game cartpole"),
    ("play cartpole --terminal", "--terminal needs a terminal as output"),
    ("record one --out film.avi", "--out must be none, or a file that ends in .gif or .mp4, not 'film.avi'"),
    (f"record one --out {'a' * 246}.gif", "is too long"),
    ("record one --out nowhere/a.gif", "--out must be in a folder that exists, not 'nowhere'"),
    ("eval one --out nowhere/a.gif", "--out must be in a folder that exists, not 'nowhere'"),
    ("compare", "compare needs two runs or more, and none is named"),
    ("compare one runs/one", "compare needs two runs or more, and only runs/one is named"),
    ("compare one two --out c.jpg", "--out must be a file that ends in .png, not 'c.jpg'"),
    ("compare one two --out nowhere/c.png", "--out must be in a folder that exists, not 'nowhere': make it first"),
])
def test_an_error_states_the_requirement_of_the_option(capsys, there, words, sentence):
    assert sentence in refused(capsys, words)


def test_different_games_are_not_compared(capsys, there):
    rewrite(there / "runs" / "two", lambda config: config.update(game="pong"))
    error = refused(capsys, "compare one two")
    assert "scores of different games cannot be compared: one plays cartpole, two plays pong" in error


def test_a_run_without_scores_is_not_compared(capsys, there):
    (there / "runs" / "two" / "metrics.jsonl").unlink()
    assert "runs/two has no scores, since it has checkpoints but no metrics.jsonl" in refused(capsys, "compare one two")


def test_the_error_without_a_display_names_the_terminal(capsys, there, monkeypatch):
    pytest.importorskip("pygame")
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pygame.display.get_driver", lambda: "offscreen")  # for tests on a machine with a display
    error = refused(capsys, "play one")
    assert "a window needs a display" in error and "--terminal" in error


def test_the_error_without_pygame_names_the_package(capsys, there, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    error = refused(capsys, "play one")
    assert f"a window needs pygame: {install.hint('play')}, or use --terminal" in error


@pytest.mark.parametrize("words", ["eval one --out a.mp4", "record one --out a.mp4"])
def test_the_error_without_an_encoder_names_the_package(capsys, there, monkeypatch, words):
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None if name == "imageio_ffmpeg" else real(name, *more))
    error = refused(capsys, words)
    assert "--out must end in .gif, not .mp4, without the package imageio-ffmpeg: pip install imageio-ffmpeg" in error
    assert not list(there.glob("a*"))


def test_a_film_that_cannot_be_opened_is_reported_once(capsys, there, monkeypatch):
    ignored = []  # errors while an object is deleted, which Python prints with a traceback
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    name = "a" * 243 + "-best.gif"
    error = refused(capsys, f"record one --episodes 1 --out {name.replace('-best', '')}")
    assert f"cannot write the film {name}: File name too long" in error
    gc.collect()
    assert ignored == []


@pytest.fixture
def no_room(monkeypatch):
    """A disk that takes no film."""
    def refuse(path, chunks):
        raise OSError(28, "No space left on device", str(path))
    monkeypatch.setattr(film, "write_atomically", refuse)


def test_a_film_that_cannot_be_written_leaves_nothing(capsys, there, no_room):
    assert "cannot write the film a-best.gif" in refused(capsys, "record one --episodes 3 --out a.gif")
    assert not list(there.glob("*a-*"))


def test_a_film_that_cannot_be_written_costs_no_score(capsys, there, no_room):
    reason = "cannot write the film a.gif: No space left on device; make room, or film into another file (eval RUN --out FILE)"
    *lines, last = run(capsys, "eval one --episodes 3 --out a.gif").splitlines()
    assert [line.split()[0] for line in lines] == ["evaluation:", "actions", "sampled", "greedy"] and last == reason
    found = json.loads(run(capsys, "eval one --episodes 3 --out a.gif --json"))
    assert found["film"] == reason and f"{found['mean']:.4g}" in lines[2]
