"""Compiles a game to PTX, NVIDIA's assembly language: `python -m envs_c.bare.device pong FILE.ptx`.

clang, which comes with zig (the package ziglang), compiles the C that Cython emits for the game. No GPU is needed. The result
runs on every GPU from compute capability 7.5 on: its driver, or ptxas, compiles it for the GPU.
"""

import hashlib
import importlib.util
import math
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import envs_c
from envs_c import game_cache, install, outside
from envs_c.bare import cartridge, emit, ptxas
from envs_c.errors import CompileFailed
from envs_c.files import replace

HEADER = Path(__file__).parent / "device.h"
INCLUDED = HEADER.with_name("device_cartridge.h")
ARCH = "sm_75"
SMALL = 84  # rows and columns of the grey picture
FLAGS = ["-target", "nvptx64-cuda-none", f"-mcpu={ARCH}", "-O2", "-ffp-contract=off", "-w", "-ferror-limit=5",
         "-D__x86_64__", "-D__LP64__", "-S"]
LIBRARY = re.compile(r"no libcall available for f?(\w+)")  # clang's error for a function of the C library that it knows
# In a PTX of clang: a function that is nowhere defined; a defined one with its body; and a call by name.
EXTERN = re.compile(r"^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)", re.MULTILINE)
FUNCTION = re.compile(r"^(?:\.visible |\.weak )*\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\([^)]*\)[^{;]*\{\n(.*?)^\}",
                      re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\bcall(?:\.uni)?\s*(?:\([^)]*\),\s*)?([\w$]+)\s*,")
# zig's own headers of the C library: Python's headers include them, and nothing of them is called.
HEADERS = ("x86_64-linux-musl", "generic-musl")
CALLED = '#include "{name}.h"\n'  # the console, a large program
INLINED = f"""\
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
{CALLED}#pragma clang attribute pop
"""
UNIT = """\
#define DEVICE_PIXELS {pixels}
#define DEVICE_SMALL {small}
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
    Raises CompileFailed if zig is not installed or cannot compile the game, or if the game calls what a GPU does not have;
    ContractError as `emit`.
    """
    zig()
    game = cartridge.without_cartridge() if cartridge.is_cartridge(game) else game  # one program for all cartridges
    kept = game_cache.folder() / digest(game, pixels) / f"{game.name}.ptx"
    if not kept.is_file():
        game_cache.make_private(game_cache.folder())
        with game_cache.scratch_in(game_cache.folder()) as scratch:
            text = compiled(game, pixels, scratch)
            made = scratch / kept.name
            made.write_text(text, encoding="utf-8")
            kept.parent.mkdir(exist_ok=True)
            replace(made, kept)
    return kept.read_text(encoding="utf-8")


def digest(game, pixels: bool) -> str:
    """The name of a folder of the cache, by everything that is compiled, and by the compilers."""
    shared = [path.read_bytes() for path in sorted(outside.PACKAGE.rglob("*.pxd"))]
    source = cartridge.SOURCE if cartridge.is_cartridge(game) else emit.path_of(game)
    facts = [sorted(outside.texts_of(source).items()), shared, HEADER.read_bytes(), INCLUDED.read_bytes(), emit.facts(game),
             CALLED, INLINED, UNIT, FLAGS, ptxas.REPLACEMENTS, pixels,
             *(metadata.version(name) for name in ("cython", "ziglang"))]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:game_cache.HASH]


def zig() -> Path:
    """The folder of the package ziglang. Raises CompileFailed if it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None:
        raise CompileFailed(f"zig compiles games for GPUs, and its package ziglang is not installed: {install.hint('cuda')}")
    return Path(spec.origin).parent


def write_unit(game, pixels: bool, folder: Path) -> None:
    """Write unit.c, and all that it includes but device.h, to an empty folder."""
    if cartridge.is_cartridge(game):
        game, included = cartridge.without_cartridge(), CALLED
        cartridge.emit_console(folder)
    else:
        included = INLINED
        emit.emit(game, folder)
    width, height = game.screen
    unit = (included + UNIT).format(name=game.name, pixels=int(pixels), small=SMALL, cell_x=width // math.gcd(width, SMALL),
                                    cell_y=height // math.gcd(height, SMALL))
    (folder / "unit.c").write_text(unit, encoding="utf-8")


def compiled(game, pixels: bool, folder: Path) -> str:
    """The PTX, compiled in an empty folder."""
    write_unit(game, pixels, folder)
    headers = [option for part in HEADERS for option in ("-isystem", str(zig() / "lib" / "libc" / "include" / part))]
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-fno-crash-diagnostics", *headers, "-I", "include", "-I", ".",
               "-I", str(HEADER.parent)]
    done = subprocess.run([*command, "unit.c", "-o", "unit.ptx"], cwd=folder, capture_output=True, text=True, check=False)
    missing = LIBRARY.findall(done.stderr)
    if done.returncode and not missing:
        raise CompileFailed(f"zig cannot compile {game.name} for a GPU:\n{done.stderr.strip()}")
    text = "" if missing else (folder / "unit.ptx").read_text(encoding="utf-8")
    if missing := missing or [name.replace("vprintf", "printf") for name in EXTERN.findall(text)]:  # clang's name for it
        raise CompileFailed(f"game {game.name!r} cannot run on a GPU, which has no C library: it calls {', '.join(missing)}")
    if endless := recursive(text):
        names = ", ".join(f"{emit.plain(name)}()" for name in endless)
        raise CompileFailed(f"game {game.name!r} cannot run on a GPU, whose threads have a stack of fixed size: {names} may "
                            "call itself; write it as a loop")
    return ptxas.without_faults(text)


def recursive(text: str) -> list[str]:
    """The functions of a PTX that may call themselves, also through others."""
    calls = {name: set(CALL.findall(body)) for name, body in FUNCTION.findall(text)}

    def reached(name: str) -> set[str]:
        found, waiting = set(), [name]
        while waiting:
            new = calls.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found
    return [name for name in calls if name in reached(name)]


def doubles(text: str) -> tuple[int, int]:
    """The number of float64 instructions of a PTX, and of all instructions."""
    return len(re.findall(r"^\t[a-z][\w.]*\.f64\b", text, re.MULTILINE)), len(re.findall(r"^\t[a-z@{]", text, re.MULTILINE))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in emit.built_in() or sys.argv[3:] not in ([], ["pixels"]):
        sys.exit(f"usage: python -m envs_c.bare.device GAME FILE [pixels]; GAME is one of {', '.join(emit.built_in())}")
    Path(sys.argv[2]).write_text(ptx(envs_c.game(sys.argv[1]), pixels=bool(sys.argv[3:])), encoding="utf-8")
