"""tools/environment.py: when .venv is made anew, and that one set-up of a checkout runs at a time."""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from setup_support import ROOT, run

FILES = ("Makefile", "tools/doctor.py", "tools/environment.py", "tools/install.py", "pyproject.toml", "constraints.txt",
         "requirements-build.txt", "requirements.txt", "requirements-dev.txt")
PIP = """import os, sys, time
if "install" in sys.argv:
    with open(os.environ["LOG"], "a") as log:
        log.write("begin\\n"); log.flush()
        time.sleep(0.5)
        log.write("end\\n")
"""


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of our set-up with a slow stand-in for pip, a build that does nothing, and a .venv."""
    folder = tmp_path / "checkout"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "setup.py").touch()
    venv.create(folder / ".venv", symlinks=True)
    stand_in(folder)
    return folder


def stand_in(folder: Path) -> None:
    """Put the stand-in for pip and its program into .venv."""
    (site,) = (folder / ".venv").glob("lib/python*/site-packages")
    (site / "pip.py").write_text(PIP, encoding="utf-8")
    (folder / ".venv" / "bin" / "pip").write_text(f"#!{folder}/.venv/bin/python\n", encoding="utf-8")
    (folder / ".venv" / "bin" / "pip").chmod(0o755)


def make(folder: Path):
    """`make venv`: the lines that it prints. A .venv that is made has no pip, so that it is made quickly."""
    made = "import venv; create = venv.create; venv.create = lambda path, **options: create(path, clear=True, symlinks=True)"
    (folder / "tools" / "sitecustomize.py").write_text(made, encoding="utf-8")
    done = run("make", "venv", cwd=folder, PYTHONPATH=str(folder / "tools"), PATH=f"{Path(sys.executable).parent}:{os.defpath}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_environment_that_works_is_kept(checkout):
    (checkout / ".venv" / "pins").touch()
    assert make(checkout) == [] and (checkout / ".venv" / "pins").exists()


@pytest.mark.parametrize("gone", ["lib", "bin/pip", "bin/python", "lib pyvenv.cfg", "bin/pip pyvenv.cfg"])
def test_an_environment_that_was_half_removed_is_made_anew_and_installed_anew(checkout, gone):
    (checkout / ".venv" / "pins").touch()
    for name in gone.split():
        path = checkout / ".venv" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (line,) = make(checkout)
    assert line.startswith("set-up: making .venv anew: the one that is there ")
    assert not (checkout / ".venv" / "pins").exists()  # pip runs again
    stand_in(checkout)
    assert make(checkout) == []


def test_make_clean_removes_the_mark_of_a_whole_environment_first(checkout):
    words = run("make", "-n", "clean", cwd=checkout).stdout.split()
    assert words.index(".venv/bin/pip") < words.index(".venv")


@pytest.mark.parametrize("command", ["mv", "cp -R"])
def test_the_environment_of_a_checkout_that_was_moved_or_copied_is_made_anew(checkout, command):
    moved = checkout.with_name("its new name")
    assert run(*command.split(), checkout, moved).returncode == 0
    assert make(moved) == [f"set-up: making .venv anew: this checkout was moved or copied, the programs that are there name "
                           f"{checkout / '.venv'}"]
    stand_in(moved)
    assert make(moved) == []


def test_a_checkout_that_is_reached_by_another_path_keeps_its_environment(checkout):
    link = checkout.with_name("link")
    link.symlink_to(checkout)
    (checkout / ".venv" / "bin" / "pip").write_text(f"#!{link}/.venv/bin/python3\n", encoding="utf-8")
    assert make(checkout) == []


# One at a time.


def start(checkout: Path) -> subprocess.Popen:
    """Start a set-up."""
    environment = {**os.environ, "LOG": str(checkout / "log")}
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen([checkout / ".venv" / "bin" / "python", "tools/install.py"], cwd=checkout, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_two_set_ups_do_not_run_pip_at_once_and_the_second_finds_what_the_first_installed(checkout):
    both = [start(checkout), start(checkout)]
    outputs = [one.communicate()[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], outputs
    assert (checkout / "log").read_text(encoding="utf-8").split() == ["begin", "end"] * 2


def test_a_set_up_says_that_it_waits(checkout):
    (checkout / "build").mkdir()
    with (checkout / "build" / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = start(checkout)
        assert waiting.stdout.readline() == "set-up: waiting for another set-up of this folder\n"
        assert not (checkout / "log").exists()
    waiting.communicate()
    assert waiting.returncode == 0 and (checkout / "log").exists()
