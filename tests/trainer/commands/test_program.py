"""The program itself: its name, verbs of other packages, verbs without the trainer's packages, and missing packages."""

import contextlib
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from verb_support import refused

import trainer.commands
from envs_c import install
from trainer.__main__ import main
from trainer.commands import VERBS
from trainer.process import program_command, program_name

ROOT = Path(__file__).parents[3]
HEAVY = ("torch", "tyro", "rich", "tensorboard", "matplotlib", "safetensors")
WITHOUT_TRAINER = f"import sys\nfor name in {HEAVY}: sys.modules[name] = None\n"
RUN = "from trainer.__main__ import main\nsys.exit(main())\n"


def python(code: str, *argv: str, cwd=ROOT) -> subprocess.CompletedProcess:
    """Run a script with these arguments, sys.argv[0] among them, in a process of its own."""
    code = f"import sys; sys.argv = {[str(one) for one in argv]}\n{code}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("argv", ["--help", "breakout --help", "eval --help", "export --help", "breakout --num-envs 0"])
def test_help_and_errors_load_no_torch(argv):
    done = python("from trainer.__main__ import main\ntry: main()\nexcept SystemExit: pass\nsys.exit('torch' in sys.modules)",
                  "trainer", *argv.split())
    assert done.returncode == 0, done.stderr


def test_importing_the_package_loads_nothing_else():
    done = python("before = set(sys.modules)\nimport trainer\nsys.exit(set(sys.modules) - before != {'trainer'})")
    assert done.returncode == 0


@pytest.mark.parametrize(("script", "name"), [("/x/bin/insertcoin", "insertcoin"),
                                              ("/x/insertcoin/__main__.py", "python -m insertcoin"),
                                              ("/x/trainer/__main__.py", "python -m trainer")])
@pytest.mark.parametrize("words", ["", "eval", "games", "profile"])
def test_usage_lines_show_the_name_that_the_user_typed(script, name, words):
    done = python(RUN, script, *words.split(), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: {name} {words}")


def test_messages_and_commands_have_the_name_that_the_user_typed(capsys, monkeypatch):
    assert (program_name(), program_command()) == ("python -m trainer", [sys.executable, "-m", "trainer"])
    monkeypatch.setattr(sys, "argv", ["/x/bin/insertcoin"])
    assert (program_name(), program_command()) == ("insertcoin", [sys.executable, "/x/bin/insertcoin"])
    assert "GAME is missing: write insertcoin sweep GAME" in refused(capsys, "sweep")
    monkeypatch.setattr(sys, "argv", ["/x/insertcoin/__main__.py"])
    assert (program_name(), program_command()) == ("python -m insertcoin", [sys.executable, "-m", "insertcoin"])


def test_the_console_script_finds_modules_of_the_working_folder_after_all_others(tmp_path):
    (tmp_path / "trainer.py").write_text("raise RuntimeError('the wrong trainer')")
    (tmp_path / "mine.py").write_text("class Small: pass")
    code = RUN.replace("sys.exit(main())", "main(['--help']); import mine; print(sys.path[-1])")
    done = python("sys.path.remove('')\n" + code, "/x/bin/insertcoin", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path)


def test_the_working_folder_hides_no_package_of_an_editable_install(tmp_path):
    for name in ("trainer", "envs_c", "bridge"):
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('the wrong {name}')")
    editable = ("from importlib.machinery import PathFinder\n"  # setuptools' finder stands behind sys.path's too
                f"sys.path = [path for path in sys.path if path not in ('', {str(ROOT)!r})]\n"
                "class Editable:\n"
                "    def find_spec(name, path=None, target=None):\n"
                f"        return PathFinder.find_spec(name, [{str(ROOT)!r}]) if path is None else None\n"
                "sys.meta_path.append(Editable)\n")
    done = python(editable + RUN, "/x/bin/insertcoin", "profile", "cartpole", "--iterations", "0", cwd=tmp_path)
    assert done.stderr == "error: --iterations must be an integer of at least 1, not 0\n"
    assert done.returncode == 2


@pytest.mark.parametrize("words", ["trainer --help", "trainer breakout --help", "trainer games cartpole", "envs_c cartpole"])
def test_a_broken_pipe_ends_the_program_quietly(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", *words.split()], cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", ["trainer --help", "envs_c cartpole"])
def test_output_that_cannot_be_written_is_an_error_of_one_line(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", *words.split()], cwd=ROOT, stdout=full, stderr=subprocess.PIPE,
                              check=False)
    assert (done.returncode, done.stderr) == (2, b"error: No space left on device (the output of this command)\n")


@pytest.mark.parametrize("argv", [["a\nb"], ["breakout", "--a\nb=1"], ["games", "cartpole", "--a\nb"],
                                  ["eval", "\x1b[31m\r\u2028"], ["list", "--root=\ud800\n"]], ids=ascii)
def test_an_error_with_control_characters_is_one_line_of_printable_ones(capsys, monkeypatch, tmp_path, argv):
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):  # the parser of `games` ends the program itself
        assert main(argv) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error[-1] == "\n" and error[:-1].isprintable()


def test_ctrl_c_while_the_packages_load_prints_nothing():
    load = "class Load:\n    def find_spec(name, *_):\n        if name == 'numpy': raise KeyboardInterrupt\n"
    done = python(f"{load}sys.meta_path.insert(0, Load)\n{RUN}", "trainer", "cartpole")
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(("words", "code", "output"), [
    ("games breakout", 0, "lives=5: balls an episode, 1 to 5"),
    ("check nothing", 2, "unknown game 'nothing'"),
    pytest.param("check pong", 0, "ok    ", marks=pytest.mark.slow),
])
def test_games_and_check_need_no_package_of_the_trainer(words, code, output):
    done = python(WITHOUT_TRAINER + RUN, "/x/bin/insertcoin", *words.split())
    assert done.returncode == code, done.stderr
    assert output in done.stdout + done.stderr


def test_new_names_the_next_commands(tmp_path):
    done = python(WITHOUT_TRAINER + RUN, "/x/bin/insertcoin", "new", "dodge", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dodge" / "dodge.pyx").is_file()
    assert [line.strip() for line in done.stdout.splitlines()[1:]] == [
        "insertcoin check dodge/dodge.pyx", "python -m pytest dodge", "insertcoin dodge/dodge.pyx"]


def test_the_games_are_listed_with_actions_options_and_speed():
    done = subprocess.run([sys.executable, "-m", "envs_c", "breakout"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(words in done.stdout for words in ("Arcade/Breakout-v0", "NOOP FIRE RIGHT LEFT", "118 float32", "M steps/s",
                                                  "lives=5: balls an episode, 1 to 5"))
    wrong = subprocess.run([sys.executable, "-m", "envs_c", "brakout"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr and "breakout" in wrong.stderr


@pytest.mark.parametrize("package", ["tyro", "torch", "numpy"])
def test_a_package_that_is_not_installed_is_named_in_one_line(package):
    done = python(f"import runpy; sys.modules[{package!r}] = None; runpy.run_module('trainer', run_name='__main__')",
                  "trainer", "cartpole")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: the trainer needs {package}, which {sys.executable} does not have: ")
    assert install.hint("train") in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_python_without_packages_gives_one_line():
    done = subprocess.run([sys.executable, "-S", "-m", "trainer", "breakout"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    assert install.hint("train") in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_python_gives_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert main(["breakout"]) == 2
    assert capsys.readouterr().err.startswith("error: the trainer needs Python 3.11 or newer, which ")


class Package(importlib.metadata.Distribution):
    """An installed package with entry points."""

    def __init__(self, lines):
        self.lines = "\n".join(["[insertcoin.verbs]", *lines])

    def read_text(self, filename):
        return {"METADATA": "Name: insertcoin-more\nVersion: 1", "entry_points.txt": self.lines}.get(filename)

    def locate_file(self, path):
        raise FileNotFoundError(path)


@pytest.fixture
def installed(monkeypatch):
    """Installs a package with these verbs, each a line of entry_points.txt."""
    def install(*lines):
        points = Package(lines).entry_points
        monkeypatch.setattr(trainer.commands, "entry_points", lambda group: points.select(group=group))
    return install


def test_another_package_adds_a_verb(capsys, monkeypatch, installed):
    calls = []
    monkeypatch.setattr("verb_support.tournament", lambda argv: calls.append(argv) or 3, raising=False)
    installed("tournament = verb_support:tournament")
    assert main(["tournament", "last", "--rounds", "5"]) == 3
    assert calls == [["last", "--rounds", "5"]]
    assert main(["--help"]) == 0
    assert "python -m trainer tournament [options]" in capsys.readouterr().out


def test_another_package_does_not_replace_a_verb(installed):
    installed("eval = verb_support:nothing")
    assert trainer.commands.all_verbs() == VERBS


@pytest.mark.parametrize("target", ["verb_support:nothing", "no_such_module:main"])
def test_a_verb_that_cannot_be_loaded_names_its_package(capsys, installed, target):
    installed(f"tournament = {target}")
    error = refused(capsys, "tournament")
    assert f"the verb tournament cannot be loaded from {target}" in error and "insertcoin-more" in error
