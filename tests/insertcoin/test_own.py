"""Files of the user's with the name of one of our packages hide nothing: in the working folder, and in PYTHONPATH."""

import ast
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from setup_support import ROOT, run

NO_ITERATIONS = "error: --iterations must be an integer of at least 1, not 0\n"
PACKAGES = ("trainer", "envs_c", "bridge")
SCRIPT = Path(sysconfig.get_path("scripts")) / "insertcoin"
PROGRAMS = [pytest.param([sys.executable, "-m", "insertcoin"], id="python -m insertcoin"),
            pytest.param([str(SCRIPT)], id="insertcoin",
                         marks=pytest.mark.skipif(not SCRIPT.exists(), reason="needs an installation"))]


@pytest.fixture
def mine(tmp_path, request) -> Path:
    """A folder with a module of the user's for each of our packages; with the parameter "{}/__init__.py" a package each."""
    for name in PACKAGES:
        file = tmp_path / getattr(request, "param", "{}.py").format(name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"print('the wrong {name}')\n")
    return tmp_path


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mine", ["{}.py", "{}/__init__.py"], indirect=True)
def test_the_command_uses_our_packages(mine, program):
    done = run(*program, "profile", "cartpole", "--iterations", "0", cwd=mine, PYTHONPATH=".")
    assert (done.stdout, done.stderr) == ("", NO_ITERATIONS)


def test_a_bench_starts_its_trainings_with_our_packages(mine):
    done = run(sys.executable, "-m", "insertcoin", "bench", "cartpole", "--seeds", "1", "--jobs", "1", "--sticky", "0",
               "--out", "out", "--total-steps", "2048", "--num-envs", "64", "--eval-episodes", "1", cwd=mine, PYTHONPATH=".")
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [file.read_text() for file in (mine / "out").rglob("output.txt")]
    assert logs and not any("wrong" in text for text in (done.stdout, done.stderr, *logs))


def test_python_m_trainer_uses_our_games_and_bridge(mine):
    (mine / "trainer.py").unlink()
    done = run(sys.executable, "-m", "trainer", "profile", "cartpole", "--iterations", "0", cwd=mine, PYTHONPATH=ROOT)
    assert (done.stdout, done.stderr) == ("", NO_ITERATIONS)


@pytest.mark.parametrize("order", ["import insertcoin; insertcoin.make; import trainer",
                                   "import trainer, insertcoin; insertcoin.games()"])
def test_a_script_keeps_its_own_trainer_while_it_only_plays(tmp_path, order):
    (tmp_path / "trainer.py").write_text("mine = True\n")
    (tmp_path / "script.py").write_text(f"{order}; print(trainer.mine)\n")
    assert run(sys.executable, "script.py", cwd=tmp_path, PYTHONPATH=ROOT).stdout == "True\n"


def test_a_script_that_trains_gets_our_packages(mine):
    (mine / "script.py").write_text("import insertcoin; insertcoin.train\nimport bridge, envs_c, trainer\n"
                                    "print([len(module.__all__) > 5 for module in (bridge, envs_c, trainer)])\n")
    done = run(sys.executable, "script.py", cwd=mine, PYTHONPATH=ROOT)
    assert done.stdout == "[True, True, True]\n", done.stderr


@pytest.mark.parametrize("name", ["load", "train"])
def test_a_file_that_was_imported_before_is_named_in_one_line(mine, name):
    (mine / "script.py").write_text(f"import trainer, insertcoin\ninsertcoin.{name}\n")
    done = run(sys.executable, "script.py", cwd=mine, PYTHONPATH=ROOT)
    error = done.stderr.splitlines()[-1]
    assert error.startswith("ImportError: insertcoin needs its own package trainer, but the name is taken by ")
    assert str(mine / "trainer") in error and error.endswith("rename that file")


def test_threads_that_use_the_first_name_at_once_all_get_it(mine):
    code = ("import threading, insertcoin\nfound = []\n"
            "use = lambda: found.append(insertcoin.make)\n"
            "threads = [threading.Thread(target=use) for _ in range(8)]\n"
            "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
            "import sys; print(len(found), len(set(found)), [type(one).__name__ for one in sys.meta_path].count('_Beside'))")
    (mine / "script.py").write_text(code)
    done = run(sys.executable, "script.py", cwd=mine, PYTHONPATH=ROOT)
    assert done.stdout == "8 1 0\n", done.stderr


def test_the_two_entry_points_are_readable_by_an_old_python():
    for name in ("insertcoin/__main__.py", "insertcoin/own.py", "trainer/__main__.py"):
        ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 7))


def test_the_error_is_an_error_line_of_the_command(tmp_path):
    """A module that Python imports at its start, such as one of sitecustomize, may have taken the name."""
    (tmp_path / "sitecustomize.py").write_text("import bridge\n")
    (tmp_path / "bridge.py").write_text("")
    done = run(sys.executable, "-m", "insertcoin", "games", cwd=tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == 2
    assert done.stderr == ("error: insertcoin needs its own package bridge, but the name is taken by "
                           f"{tmp_path / 'bridge.py'}, which was imported before: rename that file\n")


@pytest.mark.parametrize("code", ["import insertcoin; insertcoin.make('pong')", "import envs_c"])
def test_an_import_from_a_folder_that_is_not_compiled_says_what_to_do(tmp_path, code):
    """As in a clone after `pip install .`, where Python takes the clone's packages and not the installed ones."""
    for name in ("insertcoin", "envs_c"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "*.pyd", "agents", "__pycache__"))
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    last = done.stderr.splitlines()[-1]
    assert last == (f"ModuleNotFoundError: envs_c is that of the folder {tmp_path}, whose modules are not compiled for Python "
                    f"{sys.version_info[0]}.{sys.version_info[1]}: start Python in another folder if insertcoin is installed, "
                    "or run `pip install -e .` there")
