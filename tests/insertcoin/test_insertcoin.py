"""The package `insertcoin`: its names, what an import of it loads, and `python -m insertcoin`."""

import sys

import pytest
from setup_support import ROOT, run

import envs_c
import insertcoin
import trainer


def python(code: str, **environment):
    """Run `code` in a process of its own."""
    return run(sys.executable, "-c", code, **environment)


def test_an_import_loads_no_other_package():
    done = python("import sys, typing; before = set(sys.modules); import insertcoin\n"
                  "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))")
    assert done.stdout == "['insertcoin']\n", done.stderr


def test_the_games_load_neither_torch_nor_the_trainer():
    done = python("import sys, insertcoin; insertcoin.make('pong', 2).reset()\n"
                  "print([name for name in ('torch', 'cupy', 'trainer', 'bridge') if name in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(("name", "home"), [("make", envs_c), ("games", envs_c), ("__version__", envs_c), ("load", trainer),
                                            ("train", trainer)])
def test_each_name_is_that_of_its_package(name, home):
    assert getattr(insertcoin, name) is getattr(home, name)
    assert name in insertcoin.__all__ and name in dir(insertcoin)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'mak'; it has __version__, games, make, load, train"):
        _ = insertcoin.mak


def test_the_three_uses_of_the_docstring(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    observation, _ = insertcoin.make("breakout", num_envs=64, seed=1).reset()
    assert observation.shape == (64, 118)
    folder = insertcoin.train("cartpole", total_steps=2048, num_envs=64, eval_episodes=0, gif=False, dashboard=False)
    assert insertcoin.load(folder).evaluate(episodes=2)["mean"] > 0


@pytest.mark.parametrize("words", ["--help", "eval", "games cartpole"])
def test_python_m_insertcoin_is_the_command(words):
    done = run(sys.executable, "-m", "insertcoin", *words.split())
    ours = run(sys.executable, "-m", "trainer", *words.split())
    assert done.returncode == ours.returncode
    assert ([line for line in (done.stdout + done.stderr).splitlines() if " steps/s" not in line] ==  # a measurement
            [line.replace("python -m trainer", "python -m insertcoin") for line in (ours.stdout + ours.stderr).splitlines()
             if " steps/s" not in line])


def test_a_clone_beside_the_working_folder_does_not_hide_the_package(tmp_path):
    """`git clone` makes a folder insertcoin/ without __init__.py, and Python takes such a folder for a package."""
    (tmp_path / "insertcoin").mkdir()
    done = run(sys.executable, "-c", "import insertcoin; print(len(insertcoin.games()))", cwd=tmp_path)
    assert done.stdout == f"{len(envs_c.catalog.built_in())}\n", done.stderr  # this process may have games of other tests


@pytest.mark.parametrize(("code", "name"), [("import insertcoin; insertcoin.train", "train"),
                                            ("from trainer import Session", "Session")])
def test_a_missing_package_of_the_trainer_is_named_with_the_command_that_installs_it(code, name):
    done = python(f"import sys; sys.modules['tomli_w'] = None\n{code}")
    assert done.stderr.splitlines()[-1] == (f"ModuleNotFoundError: trainer.{name} needs tomli_w, which is not installed: "
                                            f"pip install -e '{ROOT}[train]'")
    assert done.stderr.count("Traceback") == 1
