"""Compiles a game to PTX, NVIDIA's assembly language: `python -m envs_c.bare.device pong FILE.ptx`.

clang, which comes with zig (the package ziglang), compiles the C that Cython emits for the game. No GPU is needed. The result
runs on every GPU from compute capability 7.5 on: its driver, or ptxas, compiles it for the GPU.
"""

import hashlib
import importlib.util
import math
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import envs_c
from envs_c import install, outside
from envs_c.bare import emit
from envs_c.errors import CompileFailed

HEADER = Path(__file__).parent / "device.h"
ARCH = "sm_75"
SMALL = 84  # rows and columns of the grey picture
FLAGS = ["-target", "nvptx64-cuda-none", f"-mcpu={ARCH}", "-O2", "-ffp-contract=off", "-w", "-ferror-limit=5",
         "-D__x86_64__", "-D__LP64__", "-S"]
# zig's own headers of the C library: Python's headers include them, and nothing of them is called.
HEADERS = ("x86_64-linux-musl", "generic-musl")
UNIT = """\
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#include "{name}.h"
#pragma clang attribute pop
#define DEVICE_PIXELS {pixels}
#define BARE_CELL_X {cell_x}
#define BARE_CELL_Y {cell_y}
#ifdef BARE_lives
#define BARE_COUNT_LIVES BARE_lives
#else
#define BARE_COUNT_LIVES NULL
#endif
#include "device.h"
"""


def ptx(game, *, pixels: bool = False) -> str:
    """The PTX of a game's kernels (device.h). It is kept in the cache of compiled games.

    game: a `Game`.
    pixels: with grey pictures as observations in place of features.
    Raises CompileFailed if zig is not installed or cannot compile the game, and ContractError as `emit`.
    """
    zig()
    kept = outside.cache_folder() / digest(game, pixels) / f"{game.name}.ptx"
    if not kept.is_file():
        outside.make_private(outside.cache_folder())
        with tempfile.TemporaryDirectory(dir=outside.cache_folder(), prefix=outside.SCRATCH) as scratch:
            text = compiled(game, pixels, Path(scratch))
            made = Path(scratch) / kept.name
            made.write_text(text, encoding="utf-8")
            kept.parent.mkdir(exist_ok=True)
            made.replace(kept)
    return kept.read_text(encoding="utf-8")


def digest(game, pixels: bool) -> str:
    """The name of a folder of the cache, by everything that is compiled, and by the compilers."""
    shared = [path.read_bytes() for path in sorted(outside.PACKAGE.rglob("*.pxd"))]
    facts = [sorted(outside.texts_of(emit.path_of(game)).items()), shared, HEADER.read_bytes(), emit.facts(game), UNIT, FLAGS,
             pixels, *(metadata.version(name) for name in ("cython", "ziglang"))]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:outside.HASH]


def zig() -> Path:
    """The folder of the package ziglang. Raises CompileFailed if it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None:
        raise CompileFailed(f"zig compiles games for GPUs, and its package ziglang is not installed: {install.hint('cuda')}")
    return Path(spec.origin).parent


def write_unit(game, pixels: bool, folder: Path) -> None:
    """Write unit.c, and all that it includes but device.h, to an empty folder."""
    emit.emit(game, folder)
    width, height = game.screen
    unit = UNIT.format(name=game.name, pixels=int(pixels), cell_x=width // math.gcd(width, SMALL),
                       cell_y=height // math.gcd(height, SMALL))
    (folder / "unit.c").write_text(unit, encoding="utf-8")


def compiled(game, pixels: bool, folder: Path) -> str:
    """The PTX, compiled in an empty folder."""
    write_unit(game, pixels, folder)
    headers = [option for part in HEADERS for option in ("-isystem", str(zig() / "lib" / "libc" / "include" / part))]
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *headers, "-I", "include", "-I", ".", "-I", str(HEADER.parent)]
    done = subprocess.run([*command, "unit.c", "-o", "unit.ptx"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileFailed(f"zig cannot compile {game.name} for a GPU:\n{done.stderr.strip()}")
    return (folder / "unit.ptx").read_text(encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in emit.built_in() or sys.argv[3:] not in ([], ["pixels"]):
        sys.exit(f"usage: python -m envs_c.bare.device GAME FILE [pixels]; GAME is one of {', '.join(emit.built_in())}")
    Path(sys.argv[2]).write_text(ptx(envs_c.game(sys.argv[1]), pixels=bool(sys.argv[3:])), encoding="utf-8")
