"""Compiles the games' modules with any C compiler, by the stable ABI, and compares them with the golden checksums."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from envs_c import flags, machine
from envs_c.bare import emit
from tools.isa.debian import ROOT, Python, Unavailable

FOLDER = ROOT / "build" / "isa"
PACKAGES = ("gymnasium", "platformdirs", f"numpy=={np.__version__}")


def sources(games: list[str]) -> list[Path]:
    """The .pyx files of the engine and of these games, relative to the repository."""
    found = (path.relative_to(ROOT) for path in sorted((ROOT / "envs_c").rglob("*.pyx")))
    return [path for path in found if "games" not in path.parts or path.stem in games]


def emitted(source: Path) -> Path:
    """The C of a module, emitted again if a file of the package is newer."""
    made = FOLDER / "c" / source.with_suffix(".c")
    if not emit.is_current(made):
        made.parent.mkdir(parents=True, exist_ok=True)
        emit.run_cython(source, made)
    return made


def compiled(row: str, games: list[str], compiler: list[str]) -> Path:
    """A folder with the package envs_c, whose modules are compiled by the command `compiler`; only these games are in it."""
    folder = FOLDER / row
    shutil.rmtree(folder, ignore_errors=True)
    others = {emit.source_of(name).parent.name for name in emit.built_in() if name not in games} - {"games"}
    alone = {f"{name}.pyx" for name in emit.built_in() if name not in games}
    shutil.copytree(ROOT / "envs_c", folder / "envs_c", ignore=shutil.ignore_patterns("*.so", "__pycache__", *others, *alone))
    headers = FOLDER / "include"
    if not headers.exists():
        emit.copy_headers(headers)

    def build(source: Path):
        module = folder / source.with_suffix(".abi3.so")
        done = subprocess.run([*compiler, *flags.GAME_FLAGS, "-w", "-shared", "-fPIC", "-pthread",
                               "-DPy_LIMITED_API=0x030b0000", "-I", str(headers), "-I", str(source.parent),
                               "-I", "envs_c/engine", str(emitted(source)), "-o", str(module)],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise Unavailable(f"{source.name} does not compile: {(errors or ['no reason given'])[0]}")

    with ThreadPoolExecutor(machine.cores()) as pool:
        list(pool.map(build, sources(games)))
    return folder


def play(folder: Path, games: list[str], python: Python | None = None, packages: Path | None = None) -> str:
    """The last line that golden.py prints for the package in `folder`. Raises Unavailable with all lines if one differs.

    python: the Python to run, with its packages in `packages`; by default this one.
    """
    command = python.command() if python else [sys.executable]
    paths = f"{folder}:{packages}" if packages else str(folder)
    environment = python.environment(paths) if python else {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([*command, "-P", str(ROOT / "tools" / "isa" / "golden.py"), str(ROOT / "tests"), *games], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{done.stdout}{done.stderr}".strip())
    return done.stdout.strip().splitlines()[-1]


def packages_for(python: Python) -> Path:
    """A folder with what the games import, for another Python; pip fills it once."""
    folder = FOLDER / f"packages-{python.version}-{python.architecture}"
    if not (folder / "numpy").exists():
        platform = {"amd64": "x86_64", "arm64": "aarch64"}[python.architecture]
        install(folder, *PACKAGES, "--python-version", python.version, "--only-binary=:all:",
                *(word for tag in ("_2_28", "_2_27", "_2_17", "2014") for word in ("--platform", f"manylinux{tag}_{platform}")))
    return folder


def install(folder: Path, *words: str) -> None:
    """Run pip install into a folder. Raises Unavailable if it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-input", "--disable-pip-version-check",
                           "--target", str(folder), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unavailable(f"pip cannot install {words[0]}: {done.stderr.strip().splitlines()[-1]}")


def clang() -> list[str]:
    """The command of clang, from PyPI's ziglang, which compiles for any processor."""
    folder = FOLDER / "zig"
    if not (folder / "ziglang").exists():
        install(folder, "ziglang")
    return [str(folder / "ziglang" / "zig"), "cc", "-fno-sanitize=undefined"]
