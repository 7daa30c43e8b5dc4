"""A run whose game's file is elsewhere now, as after a copy to another machine: the command line names the new place."""

import json
import shutil
from pathlib import Path

import own_environments
import pytest
from support import TOY
from trust_support import CODE
from verb_support import refused, run

import trainer
from trainer import errors
from trainer.commands import watch
from trainer.config import games
from trainer.config.games import whole

GAMES = {"game": ("game.pyx", "{}/game.pyx"), "environment": ("env.py", "gym:{}/env.py:Small")}
ENVIRONMENT = "from gymnasium.envs.classic_control import CartPoleEnv\n\n\nclass Small(CartPoleEnv):\n    pass\n"


@pytest.fixture(params=GAMES)
def moved(request, here, monkeypatch, capsys):
    """The file's name, and its game's name with a place for the folder: a run has it in `before`, and it is in `now`."""
    monkeypatch.setattr(games, "_moved", {})
    file, name = GAMES[request.param]
    Path("before").mkdir()
    if request.param == "game":
        shutil.copy(TOY, Path("before", file))
    else:
        Path("before", file).write_text(ENVIRONMENT)
    run(capsys, f"{name.format('before')} {CODE} --run-dir runs/one --stop-at 2048")
    Path("before").rename("now")
    return file, name


def test_a_verb_and_a_resume_take_the_file_from_where_it_is_named(moved, capsys):
    _, name = moved
    there = whole(name.format("now"))
    run(capsys, f"eval runs/one --episodes 2 --game {there}")
    assert json.loads(Path("runs/one/config.json").read_text())["config"]["game"] == whole(name.format("before"))
    run(capsys, f"{name.format('now')} --resume runs/one")
    assert json.loads(Path("runs/one/config.json").read_text())["config"]["game"] == there
    games._moved.clear()  # the run keeps the new place
    run(capsys, "eval runs/one --episodes 2")


def test_python_takes_the_file_from_where_it_is_named(moved, capsys):
    _, name = moved
    there = name.format("now")
    with pytest.raises(errors.RunError, match=r"train\('.*FOLDER/.*', resume='runs/one'\)"):
        trainer.train(resume="runs/one")
    with pytest.raises(errors.RunError, match="place of its file with game, or"):
        trainer.load("runs/one")
    with pytest.raises(errors.SettingError, match=r"game must be .* which the run has, not "):
        trainer.load("runs/one", game="breakout")
    assert trainer.load("runs/one", game=there).config.game == whole(there)
    games._moved.clear()
    trainer.train(there, resume="runs/one")
    with pytest.raises(errors.ConfigError, match=r"is a run of .*now.*, not of breakout"):
        trainer.train("breakout", resume="runs/one")
    assert json.loads(Path("runs/one/config.json").read_text())["config"]["game"] == whole(there)
    games._moved.clear()
    with trainer.Session(resume="runs/one") as session:
        assert session.config.game == whole(there)


def test_the_errors_say_how_it_is_named(moved, capsys):
    file, name = moved
    assert f"FOLDER/{file}" in refused(capsys, "--resume runs/one")
    assert "--game" in refused(capsys, "eval runs/one --episodes 2")
    shutil.copy(Path("now", file), Path("now", f"other_{file}"))
    for other in (f"now/other_{file}", f"now/missing_{file}"):  # of another name, and one that does not exist
        refused(capsys, f"eval runs/one --episodes 2 --game {name.format('now').replace(f'now/{file}', other)}")


def test_a_file_that_is_still_there_is_not_taken_from_elsewhere(moved, capsys):
    _, name = moved
    shutil.copytree("now", "before")
    assert "which the run has, not" in refused(capsys, f"eval runs/one --episodes 2 --game {name.format('now')}")
    assert "is a run of" in refused(capsys, f"{name.format('now')} --resume runs/one")


def test_a_file_that_is_back_at_its_place_is_taken_from_there(moved):
    _, name = moved
    before, now = whole(name.format("before")), whole(name.format("now"))
    assert trainer.load("runs/one", game=now).config.game == now
    assert trainer.load("runs/one").config.game == now
    shutil.copytree("now", "before")
    assert trainer.load("runs/one").config.game == before
    assert trainer.load("runs/one", game=before).config.game == before


def test_a_file_can_move_twice(moved):
    _, name = moved
    now, then = whole(name.format("now")), whole(name.format("then"))
    assert trainer.load("runs/one", game=now).config.game == now
    Path("now").rename("then")
    assert trainer.load("runs/one", game=then).config.game == then
    assert trainer.load("runs/one").config.game == then


def test_watch_takes_the_file_from_where_it_is_named(moved, monkeypatch, capsys):
    _, name = moved
    followed = []
    monkeypatch.setattr(watch, "make_site", lambda folder, games, *arguments, **options: None)
    monkeypatch.setattr(watch, "_playable", lambda game: followed.append(game))
    monkeypatch.setattr(watch, "serve", lambda running, fragment: None)
    run(capsys, f"watch runs/one --port 0 --game {name.format('now')}")
    assert followed == [whole(name.format("now"))]


def test_a_wrapper_that_is_gone_is_named_and_not_the_game(here, monkeypatch, capsys):
    run(capsys, "gym:CartPole-v1 --wrap own_environments:short --run-dir runs/one --stop-at 2048")
    monkeypatch.delattr(own_environments, "short")
    error = refused(capsys, "eval runs/one --episodes 2 --wrap own_environments:short")
    assert error.startswith("error: --wrap 'own_environments:short'") and "has no short" in error and "restore" not in error
