"""Install PufferLib for the comparison: `python -m benchmarks.peers.puffer` with the interpreter that is to have it.

PufferLib's own set-up downloads raylib and Box2D, compiles all its games, and wants older versions of NumPy and Gymnasium. The
comparison needs neither windows nor the other games. So pip only unpacks the source archive, this copies the Python files, and
compiles three extensions with the flags of that set-up: Breakout, Pong and the advantages of its trainer. Functions of raylib,
which only a window calls, end the process here.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

VERSION = "3.0.0"
GAMES = ("breakout", "pong")
BESIDE = ("gym==0.26.2", "pyro-ppl==1.9.2", "heavyball==3.2.1", "rich-argparse==1.8.0", "psutil==7.2.2")  # it imports them


def run(*words, **settings) -> str:
    """The output of a command. Raises CalledProcessError if it fails."""
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **settings).stdout


def unpack(folder: Path) -> Path:
    """The unpacked source archive. Its set-up stops at once without the games (NO_OCEAN); pip then leaves the files there."""
    environment = os.environ | {"TMPDIR": str(folder), "NO_OCEAN": "1", "NO_TRAIN": "1", "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-clean",
                    f"pufferlib=={VERSION}"], env=environment, stderr=subprocess.DEVNULL, check=False)
    found = list(folder.glob("pip-install-*/pufferlib_*"))
    if len(found) != 1:
        raise SystemExit(f"pip has not unpacked pufferlib=={VERSION} in {folder}: is there a package index?")
    return found[0]


def compile_game(source: Path, package: Path, name: str, folder: Path):
    """Compile a game's binding, with functions in raylib's place."""
    import numpy
    flags = ["-O2", "-flto=auto", "-fPIC", "-fwrapv", "-w", "-DPLATFORM_DESKTOP",
             "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}",
             f"-I{source / 'raylib-5.5_linux_amd64' / 'include'}"]
    code = package / "ocean" / name / "binding.c"
    plain = folder / f"{name}.o"
    run("gcc", *flags, "-fno-lto", "-c", code, "-o", plain)
    header = (source / "raylib-5.5_linux_amd64" / "include" / "raylib.h").read_text(encoding="utf-8")
    wanted = [word for word in run("nm", "-u", plain).split() if re.search(rf"^RLAPI.*\b{re.escape(word)}\(", header, re.M)]
    stubs = folder / "stubs.c"
    stubs.write_text("#include <stdlib.h>\n" + "".join(f"void {word}(void) {{ abort(); }}\n" for word in wanted))
    run("gcc", *flags, "-shared", "-Wl,-Bsymbolic-functions", code, stubs, "-lm", "-o", code.parent / "binding.so")


def compile_advantages(source: Path, package: Path):
    """Compile the C++ part of PufferLib's trainer, as its set-up does without a CUDA compiler."""
    from torch.utils.cpp_extension import include_paths, library_paths
    run("g++", "-O3", "-std=c++20", "-fPIC", "-shared", "-w", "-DTORCH_EXTENSION_NAME=_C",
        f"-I{sysconfig.get_path('include')}", *(f"-I{path}" for path in include_paths()),
        source / "pufferlib" / "extensions" / "pufferlib.cpp", *(f"-L{path}" for path in library_paths()), "-lc10", "-ltorch",
        "-ltorch_cpu", "-ltorch_python", "-o", package / "_C.so")


def main():
    site = Path(sysconfig.get_path("platlib"))
    package = site / "pufferlib"
    if package.exists():
        print(f"{package} is there already")
        return
    run(sys.executable, "-m", "pip", "install", "-q", "--no-input", "--no-build-isolation", *BESIDE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = unpack(folder)
        made = folder / "pufferlib"
        shutil.copytree(source / "pufferlib", made)
        for game in GAMES:
            compile_game(source, made, game, folder)
        compile_advantages(source, made)
        shutil.copytree(source / "pufferlib.egg-info", site / f"pufferlib-{VERSION}.egg-info", dirs_exist_ok=True)
        shutil.move(made, package)


if __name__ == "__main__":
    main()
