"""Compiles the games' modules with any C compiler, by the stable ABI, and compares them with the golden checksums."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
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


def compiled(row: str, games: list[str], compiler: list[str], headers: Path | None = None,
             linked: Sequence[str] = ("-fPIC", "-pthread"), suffix: str = ".abi3.so") -> Path:
    """A folder with the package envs_c, whose modules are compiled by the command `compiler`; only these games are in it.

    headers, linked, suffix: as in `build`; the headers are by default those of this Python, with the sizes of the target.
    """
    folder = FOLDER / row
    shutil.rmtree(folder, ignore_errors=True)
    others = {emit.source_of(name).parent.name for name in emit.built_in() if name not in games} - {"games"}
    alone = {f"{name}.pyx" for name in emit.built_in() if name not in games}
    shutil.copytree(ROOT / "envs_c", folder / "envs_c", ignore=shutil.ignore_patterns("*.so", "__pycache__", *others, *alone))
    if headers is None:
        headers = FOLDER / "include"
        if not headers.exists():
            emit.copy_headers(headers)
    build(sources(games), folder, [*compiler, *flags.GAME_FLAGS], headers, ["-Ienvs_c/engine", *linked], suffix)
    return folder


def build(found: list[Path], folder: Path, compiler: list[str], headers: Path, more: Sequence[str], suffix: str) -> None:
    """Compile these .pyx files into `folder`, by the stable ABI. Raises Unavailable with the first error.

    compiler: its command and flags.
    more: further folders of headers, libraries and flags.
    suffix: how a module's name ends, such as ".abi3.so".
    """
    def one(source: Path):
        module = folder / source.with_suffix(suffix)
        done = subprocess.run([*compiler, "-w", "-shared", "-DPy_LIMITED_API=0x030b0000", "-I", str(headers),
                               "-I", str(source.parent), "-I", str(source.parent.parent), str(emitted(source)), *more,
                               "-o", str(module)], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise Unavailable(f"{source.name} does not compile: {(errors or ['no reason given'])[0]}")

    with ThreadPoolExecutor(machine.cores()) as pool:
        list(pool.map(one, found))


def play(folder: Path, games: list[str], python=None, packages: Path | None = None) -> str:
    """The last line that golden.py prints for the package in `folder`. Raises Unavailable with all lines if one differs.

    python: the Python to run, of debian.py or windows.py, with its packages in `packages`; by default this one.
    """
    command = python.command() if python else [sys.executable]
    paths = f"{folder}:{packages}" if packages else str(folder)
    environment = python.environment(paths) if python else {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([*command, "-P", str(ROOT / "tools" / "isa" / "golden.py"), str(ROOT / "tests"), *games], cwd=folder,
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
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
    """Run pip install into a folder. Raises Unavailable if it fails; then there is no folder."""
    try:
        pip("install", "--target", str(folder), *words)
    except Unavailable:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def pip(verb: str, *words: str) -> None:
    """Run pip. Raises Unavailable if it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", verb, "-q", "--no-input", "--disable-pip-version-check", *words],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"pip {verb} {' '.join(words)} fails: {done.stderr.strip().splitlines()[-1]}")


def clang() -> list[str]:
    """The command of clang, from PyPI's ziglang, which compiles for any processor."""
    folder = FOLDER / "zig"
    if not (folder / "ziglang").exists():
        install(folder, "ziglang")
    return [str(folder / "ziglang" / "zig"), "cc", "-fno-sanitize=undefined"]
