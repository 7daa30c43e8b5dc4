"""`python -m envs_c new`: the new game compiles, plays, keeps the contract, can be published, and an agent learns it."""

import errno
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import envs_c
from envs_c import catalog, outside, testing
from envs_c.__main__ import main
from envs_c.files import write_atomically
from envs_c.new import new
from trainer.__main__ import main as train
from trainer.config.games import checked_game
from trainer.errors import ConfigError

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, fast_compiler):
    """The folder of a new game."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "_registered", {})
        yield new("star_fall", tmp_path_factory.mktemp("games"))


def python(*arguments, cwd, **environment):
    """Run Python in the folder `cwd` with the packages of this tree; returns its output and errors."""
    done = subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(ROOT), **environment})
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_folder_holds_a_game_its_settings_a_test_and_a_setup(folder):
    names = {"setup.py", "star_fall.pyx", "star_fall.toml", "test_star_fall.py"}
    assert {path.name for path in folder.iterdir()} == names
    assert not [path for path in folder.iterdir() if "$" in path.read_text(encoding="utf-8")]


def test_its_own_tests_pass(folder):
    assert "2 passed" in python("-m", "pytest", "-q", "-p", "no:cacheprovider", folder, cwd=folder)


def test_python_functions_in_the_file_are_no_fault(folder, tmp_path, monkeypatch):
    monkeypatch.delenv("ENVS_C_FLAGS")  # the compiler's check of indexes came to Cython's code in optimized builds only
    path = tmp_path / "star_fall.pyx"
    text = (folder / "star_fall.pyx").read_text(encoding="utf-8")
    path.write_text(text.replace("GAME = Game(", "def helper(n):\n    return n + 1\n\n\nGAME = Game("), encoding="utf-8")
    testing.check(path)


def test_it_works_like_a_built_in_game(folder):
    game = envs_c.load(folder / "star_fall.pyx")
    assert game.name == "star_fall" in envs_c.games()
    assert envs_c.make("star_fall", 4, lives=2).reset(seed=1)[0].shape == (4, 5)
    assert main(["features", "star_fall"]) == 0


def test_debug_builds_it_with_bounds_checks(folder, monkeypatch):
    monkeypatch.setenv("DEBUG", "1")
    flags, directives = outside.build_choices()
    assert "-O1" in flags and directives["boundscheck"] and directives["nonecheck"]
    assert envs_c.load(folder / "star_fall.pyx").name == "star_fall"


def test_the_trainer_trains_on_its_path_with_its_settings(folder, tmp_path, monkeypatch):
    from trainer.config.games import GameName
    from trainer.config.preset import preset
    assert preset(GameName(folder / "star_fall.pyx")).env.num_envs == 256
    assert train([str(folder / "star_fall.pyx"), "--total-steps", "16384", "--encoder-size", "8", "--lstm-size", "8",
                  "--eval-episodes", "2", "--device", "cpu", "--run-dir", str(tmp_path / "run")]) == 0


def test_it_can_be_published_and_is_found_by_its_name_after_installation(folder, tmp_path):
    site = tmp_path / "site"
    python("-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--target", site, folder, cwd=tmp_path)
    code = ("import envs_c, gymnasium; assert 'star_fall' in envs_c.games(); print(envs_c.make('star_fall').reset()[0].shape,"
            "gymnasium.make('star_fall:Arcade/StarFall-v0').reset()[0].shape)")
    assert python("-c", code, cwd=tmp_path, PYTHONPATH=os.pathsep.join([str(ROOT), str(site)])) == "(1, 5) (5,)\n"


@pytest.mark.parametrize("place", ["games", "my games"])
def test_it_prints_commands_that_work(tmp_path, capsys, place):
    assert main(["new", "meteors", "--dir", str(tmp_path / place)]) == 0
    first, *commands = capsys.readouterr().out.splitlines()
    assert str(tmp_path / place / "meteors") in first
    assert [line.split()[2] for line in commands] == ["envs_c", "pytest", "trainer"]
    assert all(Path(shlex.split(line)[-1]).exists() for line in commands)


def test_the_name_of_its_folder_is_answered_with_its_file_and_another_file_with_the_right_ending(tmp_path, monkeypatch, capsys):
    new("meteors", tmp_path)
    monkeypatch.chdir(tmp_path)
    hint = f"did you mean {Path('meteors', 'meteors.pyx')}?"
    for wrong, right in (("meteors", hint), ("meteors/", hint), ("meteors/setup.py", "a game's path must end in .pyx."),
                         ("tetri", "did you mean tetris?"), ("a" * 9000, ""), ("a\0", "")):
        with pytest.raises(envs_c.UnknownGame, match=rf"^unknown game .*: {re.escape(right)}.*The games are "):
            envs_c.game(wrong)
    with pytest.raises(ConfigError, match=rf"^unknown game 'meteors'; {re.escape(hint)} GAME must be "):
        checked_game("meteors")
    assert train(["play", "meteors"]) == 2
    assert capsys.readouterr().err == f"error: there is no game and no run 'meteors'; {hint}\n"


def test_the_name_or_the_file_of_a_cartridge_is_answered_with_the_name_that_the_console_knows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.bin").write_bytes(bytes(4096))
    for name, hint in (("qbert", "the console plays a cartridge of this name, atari:qbert."),
                       ("mine.bin", "the console plays this file as atari:mine.bin.")):
        with pytest.raises(envs_c.UnknownGame, match=rf"^unknown game '{name}': {hint} The games are "):
            envs_c.game(name)
        with pytest.raises(ConfigError, match=rf"^unknown game '{name}'; {hint} GAME must be "):
            checked_game(name)
        assert train(["play", name]) == 2
        assert capsys.readouterr().err == f"error: there is no game and no run '{name}'; {hint}\n"
    Path("run.bin").mkdir()  # a folder is a run's
    assert train(["play", "run.bin"]) == 2 and capsys.readouterr().err.startswith("error: run.bin holds no run")


def test_without_room_for_its_files_no_folder_stays_and_the_same_command_works_later(tmp_path, monkeypatch, capsys):
    def full(path, parts):
        if path.suffix == ".toml":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_atomically(path, parts)

    with monkeypatch.context() as patch:
        patch.setattr("envs_c.new.write_atomically", full)
        assert main(["new", "meteors", "--dir", str(tmp_path)]) == 2
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["new", "meteors", "--dir", str(tmp_path)]) == 0


@pytest.mark.parametrize(("name", "part"), [
    ("My-Game", "lower-case letters"), ("", "lower-case letters"), ("../up", "lower-case letters"), ("breakout", "is taken"),
    ("trainer", "is taken"), ("there", "exists already"),
    ("cart_pole", "gives the title 'CartPole', which another game has"), ("class", "'class' is a keyword of Python"),
    ("json", "'json' is a module of Python's library"), ("numpy", "'numpy' is an installed package"),
    ("insertcoin", "'insertcoin' is an installed package"),
])
def test_a_wrong_name_is_refused_and_nothing_is_written(tmp_path, capsys, name, part):
    (tmp_path / "there").mkdir()
    assert main(["new", name, "--dir", str(tmp_path)]) == 2
    assert part in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert not list((tmp_path / "there").iterdir())
