"""Games from other folders: loaded from a .pyx they work like built-in games; errors name their own file and line."""

import multiprocessing
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pytest
from support import TOY

import envs_c
from envs_c import catalog, game_cache, outside
from envs_c.__main__ import main as envs_main
from trainer.__main__ import main
from trainer.config.games import GameName


@pytest.fixture(scope="module")
def cache(fast_compiler):
    """The cache folder, with no game registered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "_registered", {})
        yield fast_compiler


@pytest.fixture
def loaded(cache):
    return envs_c.load(TOY)


def test_a_loaded_game_is_found_by_its_name(loaded):
    assert "toy" in envs_c.games()
    assert envs_c.game("toy") is loaded
    observation, info = envs_c.make("toy", 3, seed=1).reset()
    assert observation.shape == (3, *loaded.feature_shape)
    assert info["action_mask"].shape == (3, len(loaded.actions))


def test_a_path_works_like_a_name(loaded):
    one, other = (envs_c.make(str(name), 2, seed=1).reset()[0] for name in (TOY, "toy"))
    assert (one == other).all()


def test_gymnasium_makes_a_loaded_game(loaded):
    name = f"envs_c:Arcade/{loaded.title}-v0"
    assert gymnasium.make_vec(name, num_envs=2).reset(seed=1)[0].shape == (2, *loaded.feature_shape)
    assert gymnasium.make(name).reset(seed=1)[0].shape == loaded.feature_shape


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_gymnasiums_processes_find_a_loaded_game_however_they_start(loaded, context):
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip("Windows only spawns")
    name = f"envs_c:Arcade/{loaded.title}-v0"
    env = gymnasium.make_vec(name, num_envs=2, vectorization_mode="async", vector_kwargs={"context": context})
    assert env.reset(seed=1)[0].shape == (2, *loaded.feature_shape)
    env.close()


def test_loading_again_compiles_nothing_and_a_change_does(loaded, tmp_path, monkeypatch):
    calls = []
    compiled = outside.compile_module
    monkeypatch.setattr(outside, "compile_module", lambda *given: calls.append(given) or compiled(*given))
    envs_c.load(TOY)
    assert calls == []
    other = tmp_path / "toy.pyx"
    other.write_text(TOY.read_text() + "\n# another\n")
    assert envs_c.load(other) is not loaded
    assert len(calls) == 1


@pytest.mark.parametrize(("name", "text", "use"), [
    ("extra_rules.pxd", "cdef enum: SPEED = {}\n", "from extra_rules cimport SPEED"),
    ("extra_rules.h", "#define SPEED {}\n", 'cdef extern from "extra_rules.h":\n    const int SPEED')])
def test_a_change_of_a_file_beside_the_game_compiles_it_again(cache, tmp_path, name, text, use):
    (tmp_path / name).write_text(text.format(1))
    source = tmp_path / "extra.pyx"
    source.write_text(TOY.read_text().replace('name="toy", title="Toy"', 'name="extra", title="Extra"')
                      + f"\n{use}\nspeed = SPEED\n")

    def speed():
        return sys.modules[f"envs_c_outside_extra_{outside.built(source).parent.name}"].speed
    envs_c.load(source)
    assert speed() == 1
    (tmp_path / name).write_text(text.format(2))
    envs_c.load(source)
    assert speed() == 2


def test_no_files_are_left_beside_the_source_nor_of_a_build_in_the_cache(loaded, cache):
    assert [path.name for path in TOY.parent.iterdir() if path.suffix in (".c", ".so")] == []
    assert [path for path in cache.iterdir() if path.name.startswith("build-")] == []


def test_an_agent_is_trained_on_a_path_and_resumed(loaded, tmp_path):
    run = str(tmp_path / "run")
    small = ["--num-envs", "8", "--horizon", "8", "--minibatch", "64", "--total-steps", "256", "--encoder-size", "8",
             "--lstm-size", "8", "--num-threads", "1", "--eval-episodes", "2", "--device", "cpu", "--run-dir", run]
    assert main([str(TOY), *small, "--stop-at", "128"]) == 0
    assert main(["--resume", run]) == 0
    assert main(["eval", run, "--episodes", "3"]) == 0


def test_settings_beside_the_game_are_its_preset(cache, tmp_path):
    from trainer.config.preset import preset
    game = tmp_path / "toy.pyx"
    game.write_text(TOY.read_text())
    (tmp_path / "toy.toml").write_text("[ppo]\ngamma = 0.5\n")
    assert preset(GameName(game)).ppo.gamma == 0.5


@pytest.mark.parametrize(("text", "kind", "parts"), [
    ("cdef int x = nonsense\n", envs_c.CompileFailed, ["{path}", "mine.pyx:1:13", "undeclared name not builtin: nonsense"]),
    ("def f(:\n", envs_c.CompileFailed, ["mine.pyx:1", "Expected"]),
    ('cdef extern from "nosuchheader.h":\n    int f()\n', envs_c.CompileFailed,
     ["the C compiler cannot compile {path}:\n{path}: fatal error: nosuchheader.h: No such file"]),
    ("cdef extern int f(int)\ndef g():\n    return f(1)\n", envs_c.ContractError, ["{path}: ImportError: ", "symbol"]),
    ("\nimport nosuchmodule\n", envs_c.ContractError, ["{path}, line 2: ModuleNotFoundError: No module named 'nosuchmodule'"]),
    ("GAME = 1\n\nraise ValueError('no')\n", envs_c.ContractError, ["{path}, line 3: ValueError: no"]),
    ("from envs_c.game import Game\nGAME = Game(\n    name='x', sumary='')\n", envs_c.ContractError,
     ["{path}, line 2: ", "TypeError: __init__() got an unexpected keyword argument 'sumary'"]),
    ("GAM = 1\n", envs_c.ContractError, ["{path}", "defines no GAME", "GAME = Game("]),
])
def test_errors_name_the_file_and_the_line(cache, tmp_path, capfd, text, kind, parts):
    path = tmp_path / "mine.pyx"
    path.write_text(text)
    with pytest.raises(kind) as caught:
        envs_c.load(path)
    assert capfd.readouterr() == ("", "")  # of the compiler's process too
    assert all(part.format(path=path) in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize(("name", "value", "part"), [
    ("ENVS_C_FLAGS", "-nosuchflag", "unrecognized command-line option"),
    ("CC", "nosuchcompiler", "nosuchcompiler: No such file")])
def test_what_the_c_compiler_refuses_is_in_its_own_words(cache, tmp_path, monkeypatch, capfd, name, value, part):
    path = tmp_path / "mine.pyx"
    path.write_text(TOY.read_text())
    monkeypatch.setenv(name, value)
    with pytest.raises(envs_c.CompileFailed) as caught:
        envs_c.load(path)
    assert str(caught.value).startswith(f"the C compiler cannot compile {path}:\n") and part in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("here", "cache"), [(".", "cache"), (".", "{}/cache"), ("cache", "{}/cache"), ("below", "../cache")])
def test_errors_name_the_users_file_wherever_the_working_folder_is(fast_compiler, tmp_path, monkeypatch, here, cache):
    (tmp_path / here).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    monkeypatch.setenv("ENVS_C_CACHE", cache.format(tmp_path))
    path = tmp_path / "mine.pyx"
    path.write_text("cdef int x = nonsense\n")
    with pytest.raises(envs_c.CompileFailed) as caught:
        envs_c.load(path)
    assert f"{path}:1:13" in str(caught.value) and "build-" not in str(caught.value)


def test_errors_of_the_c_compiler_name_the_users_file_if_folders_have_spaces(fast_compiler, tmp_path, monkeypatch):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "my cache"))
    path = tmp_path / "my games" / "mine.pyx"
    path.parent.mkdir()
    path.write_text('cdef extern from "nosuchheader.h":\n    int f()\n')
    with pytest.raises(envs_c.CompileFailed) as caught:
        envs_c.load(path)
    assert str(caught.value).startswith(f"the C compiler cannot compile {path}:\n{path}: fatal error: nosuchheader.h: ")


def test_a_game_of_an_installed_package_that_cannot_be_imported_is_named(monkeypatch):
    point = EntryPoint("lost", "no_such_module:GAME", catalog.GROUP)
    monkeypatch.setattr(catalog, "installed", lambda: {"lost": point})
    with pytest.raises(envs_c.ContractError) as caught:
        envs_c.make("lost")
    assert str(caught.value).startswith("game 'lost' of an installed package cannot be imported from no_such_module:GAME: "
                                        "ModuleNotFoundError: No module named 'no_such_module'; install that package again")


def test_a_game_of_an_installed_package_has_the_name_of_its_entry_point(monkeypatch):
    point = EntryPoint("other", "envs_c.games.snake:GAME", catalog.GROUP)
    monkeypatch.setattr(catalog, "installed", lambda: {"other": point})
    with pytest.raises(envs_c.ContractError) as caught:
        envs_c.make("other")
    assert str(caught.value) == ("game 'other' of an installed package must have its entry point's name, not 'snake': in "
                                 "that package's setup.py, write the line snake = envs_c.games.snake:GAME")


@pytest.mark.parametrize(("name", "part"), [("missing.pyx", "does not exist"), ("game.py", "end in .pyx"),
                                            ("my-game.pyx", "identifier")])
def test_a_path_without_a_game_is_refused(tmp_path, name, part):
    if name == "game.py":
        (tmp_path / name).touch()
    with pytest.raises(envs_c.InvalidArgument, match=part):
        envs_c.load(tmp_path / name)


def test_the_names_of_built_in_games_cannot_be_taken(cache, tmp_path):
    path = tmp_path / "thief.pyx"
    path.write_text(TOY.read_text().replace('name="toy"', 'name="breakout"'))
    assert 'name="breakout"' in path.read_text()
    with pytest.raises(envs_c.InvalidArgument, match="'breakout' has the name of a built-in game"):
        envs_c.load(path)
    assert np.shape(envs_c.make("breakout").reset()[0]) == (1, 118)


def test_the_title_of_another_game_cannot_be_taken(cache, tmp_path):
    path = tmp_path / "thief.pyx"
    path.write_text(TOY.read_text().replace('name="toy", title="Toy"', 'name="thief", title="CartPole"'))
    with pytest.raises(envs_c.InvalidArgument, match="'thief' has the title 'CartPole', which the game 'cartpole' has already"):
        envs_c.load(path)
    assert "thief" not in envs_c.games()


def test_the_command_line_prints_the_error_of_a_game_that_does_not_compile(tmp_path):
    path = tmp_path / "mine.pyx"
    path.write_text("cdef int x = nonsense\n")
    done = subprocess.run([sys.executable, "-m", "trainer", str(path)], capture_output=True, text=True, check=False,
                          env={**os.environ, "ENVS_C_CACHE": str(tmp_path)})
    assert done.returncode == 2
    assert "mine.pyx:1:13" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", [None, ""])
def test_the_cache_is_the_users_unless_the_environment_names_another(monkeypatch, tmp_path, value):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ENVS_C_CACHE", raising=False)
    if value is not None:
        monkeypatch.setenv("ENVS_C_CACHE", value)
    expected = tmp_path / "envs_c" if sys.platform == "linux" else game_cache.folder()
    assert game_cache.folder() == expected and game_cache.folder().name == "envs_c"
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "mine"))
    assert game_cache.folder() == tmp_path / "mine"


def test_the_cache_is_listed_and_cleared_and_other_files_stay(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path))
    for folder in ("0123456789abcdef0123", "build-1", "notes"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_bytes(bytes(1_000_000))
    assert envs_main(["cache"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 3.0 MB\n"
    assert envs_main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 2.0 MB removed\n"
    assert [folder.name for folder in tmp_path.iterdir()] == ["notes"]
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "nowhere"))
    assert envs_main(["cache", "--clear"]) == 0


@pytest.mark.parametrize(("part", "damage"), [("cache", 0o777), ("cache", 0o770), ("folder", 0o770), ("module", 0o770),
                                              ("cache", "owner"), ("folder", "link"), ("module", "link")])
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
def test_compiled_games_that_others_could_have_written_are_not_loaded(loaded, monkeypatch, tmp_path, part, damage):
    cache = tmp_path / "cache"
    shutil.copytree(game_cache.folder(), cache)
    monkeypatch.setenv("ENVS_C_CACHE", str(cache))
    module = outside.built(TOY)
    place = {"cache": cache, "folder": module.parent, "module": module}[part]
    if damage == "link":
        place.rename(tmp_path / "moved")
        place.symlink_to(tmp_path / "moved")
    elif damage == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        place.chmod(damage)
    with pytest.raises(envs_c.InvalidArgument, match=r"only you may write to it, but .*: remove it") as caught:
        outside.built(TOY)
    assert str(place) in str(caught.value) and "\n" not in str(caught.value)


def test_others_cannot_write_to_a_new_cache_even_if_the_umask_allows_it(loaded, monkeypatch, tmp_path):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "new" / "cache"))
    before = os.umask(0)
    try:
        module = outside.built(TOY)
    finally:
        os.umask(before)
    assert not any(path.stat().st_mode & 0o022 for path in (module, module.parent, module.parent.parent))


def test_a_source_that_changes_while_it_is_compiled_is_the_one_of_its_hash(cache, tmp_path, monkeypatch):
    source = tmp_path / "swapped.pyx"
    source.write_text("word = 'first'\n")
    compiled = outside.compile_module

    def swap(*given):
        source.write_text("word = 'second'\n")
        return compiled(*given)
    monkeypatch.setattr(outside, "compile_module", swap)
    assert b"second" not in outside.built(source).read_bytes()


def test_a_cache_that_cannot_be_made_is_an_error_of_one_line(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "file" / "cache"))
    assert envs_main(["features", str(TOY)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and "cannot be made" in error
