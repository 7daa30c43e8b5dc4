"""The package: its dependencies and pins, how games are compiled, and the targets of the Makefile."""

import ast
import os
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from setup_support import ROOT, TOOLS, load, run
from setuptools import PEP420PackageFinder

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
TRAINING = "requirements.txt"
TARGETS = ("help", "setup", "dev", "cuda", "breakout", "test", "learn", "lint", "types", "pages", "docs", "arcade", "bench",
           "mutants", "bench-compare", "asm", "sanitize", "crafted", "fuzz", "wheel", "isa", "peers", "clean")


def test_games_compile_without_anything_that_makes_their_bits_depend_on_the_machine(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(TOOLS)
    setup = load(ROOT / "setup.py")
    games = [extension for extension in setup.extensions() if extension.name.startswith("envs_c.")]
    assert games
    for extension in games:
        assert "-ffp-contract=off" in extension.extra_compile_args
        assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(extension.extra_compile_args)


RANGED = {"nvidia-cuda-nvrtc"}  # torch brings its own, which a pinned one would replace


def pins(name: str) -> dict[str, str]:
    """The pinned versions of a requirements file, by name."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]
    versions = {}
    for requirement in requirements:
        if requirement.name in RANGED:
            continue
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", f"{requirement} is not pinned"
        versions[canonicalize_name(requirement.name)] = specifier.version
    return versions


def test_torch_is_pinned_to_the_version_that_brings_no_cuda():
    assert pins(TRAINING)["torch"] == "2.13.0"


@pytest.mark.parametrize("extra", ["", "train", "play", "export", "sweep", "arcade", "dev", "docs", "cuda"])
def test_every_dependency_is_pinned_within_its_range(extra):
    asked = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    files = {"": TRAINING, "train": TRAINING, "cuda": "requirements-cuda.txt"}
    file = files.get(extra, "requirements-dev.txt")
    installed = pins(file) | pins("requirements-build.txt") | pins("requirements-zig.txt")
    for requirement in map(Requirement, asked):
        if requirement.name in RANGED:
            lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
            assert requirement in [Requirement(line) for line in lines if line.startswith(requirement.name)]
            continue
        assert requirement.specifier.contains(installed[canonicalize_name(requirement.name)]), requirement


def test_every_package_that_is_pinned_for_development_is_one_of_an_extra():
    asked = {canonicalize_name(Requirement(line).name) for lines in PROJECT["optional-dependencies"].values() for line in lines}
    assert pins("requirements-dev.txt").keys() - asked == set()


def test_no_package_is_pinned_twice():
    files = ["constraints.txt", *(file.name for file in ROOT.glob("requirements*.txt") if "peers" not in file.name)]
    named = [name for file in files for name in pins(file)]
    assert len(named) == len(set(named)) and len(files) == 7


def test_a_training_installs_the_packages_of_the_extra_train_and_no_more():
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["train"]]
    assert set(pins(TRAINING)) == {canonicalize_name(Requirement(line).name) for line in asked}
    assert set(pins("requirements-build.txt")) == {"setuptools", "cython"}


def test_the_games_alone_ask_for_three_small_packages_only():
    assert [Requirement(line).name for line in PROJECT["dependencies"]] == ["numpy", "gymnasium", "platformdirs"]


def test_the_version_stands_in_one_place():
    result = run(sys.executable, "-W", "ignore", "setup.py", "-q", "--version")
    (line,) = [line for line in (ROOT / "envs_c" / "__init__.py").read_text().splitlines() if "__version__ =" in line]
    assert result.stdout.split() == [ast.literal_eval(line.split("=")[1].strip())]
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT


def test_the_search_for_packages_enters_only_their_folders(monkeypatch):
    seen, scan = set(), os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: seen.add(Path(path).relative_to(ROOT).parts[:1]) or scan(path))
    settings = SETTINGS["tool"]["setuptools"]["packages"]["find"]
    packages = PEP420PackageFinder.find(str(ROOT), exclude=settings["exclude"], include=settings["include"])
    roots = {"insertcoin", "envs_c", "bridge", "trainer"}
    entered = {part for parts in seen for part in parts} - {"__pycache__"}  # of setup.py, where something imported it
    assert entered == {name.partition(".")[0] for name in packages} == roots


def test_make_alone_lists_every_target_with_a_line():
    lines = run("make").stdout.splitlines()
    assert [line.split()[1] for line in lines] == list(TARGETS)
    assert all(len(line.split()) > 4 for line in lines)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_can_be_made(target):
    assert run("make", "-n", target).returncode == 0


CACHE = "../home/Library/Caches" if sys.platform == "darwin" else "../home/.cache"
MADE = [".venv/pyvenv.cfg", "build/wheels/a.whl", "dist/a.whl", "insertcoin.egg-info/PKG-INFO", ".pytest_cache/a",
        ".ruff_cache/a", ".mypy_cache/a", ".import_linter_cache/a", "trace.json.gz", "envs_c/pong.so", "envs_c/games/pong.c",
        "trainer/__pycache__/a.pyc", "tests/__pycache__/a.pyc", f"{CACHE}/envs_c/a/b.so"]
KEPT = ["runs/x/config.json", "runs/x/policy.so", "runs/x/__pycache__/a.pyc", "envs_c/pong.pyx", "envs_c/games/pong.pxd",
        "trainer/ppo.py", "docs/a.c", f"{CACHE}/other/a.so"]


def test_make_clean_removes_what_the_commands_made_and_keeps_the_runs(tmp_path):
    tree = tmp_path / "tree"
    for name in [*MADE, *KEPT]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    (tree / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"), encoding="utf-8")
    home = {"HOME": tmp_path / "home", "XDG_CACHE_HOME": ""}
    words = shlex.split(run("make", "-n", "clean", cwd=tree, **home).stdout)
    far = [word for word in words if word.startswith(("/", "~", "..")) and not Path(word).is_relative_to(tmp_path / "home")]
    assert "rm" in words and far == []  # before anything is removed
    assert run("make", "clean", cwd=tree, **home).returncode == 0
    left = [os.path.relpath(path, tree) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) == sorted([*KEPT, "Makefile"])
