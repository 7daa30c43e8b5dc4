"""`python -m tools.isa [--games GAME,...] [ROW ...]`: the golden checksums on other instruction sets, compilers, processors.

Prints a line for each row. The status is 1 if a checksum differs or a row cannot be tried here.
"""

import argparse
import shutil
import sys
from collections.abc import Callable

from envs_c import flags, isa, machine
from envs_c.bare import emit
from tools.isa import bare, compile, debian, windows

DEBIAN = "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
WINE = "apt-get install wine64 wine"


def x86(level: str, games: list[str]) -> str:
    """The modules for one of the levels of x86-64, by gcc."""
    if level != "v1" and level not in isa.supported(machine.cpu_features()):
        raise debian.Unavailable(f"this CPU has no x86-64-{level}")
    march = ["-march=x86-64"] if level == "v1" else flags.LEVELS[f"x86-64-{level}"]
    return compile.play(compile.compiled(level, games, ["gcc", *march]), games)


def clang(games: list[str]) -> str:
    """The modules for this CPU, by clang."""
    return compile.play(compile.compiled("clang", games, [*compile.clang(), "-march=native"]), games)


def aarch64(games: list[str]) -> str:
    """The modules for ARM by a cross compiler; its Python under qemu."""
    need("aarch64-linux-gnu-gcc", "qemu-aarch64")
    python = debian.fetch("bookworm", "arm64", "3.11")
    return compile.play(compile.compiled("aarch64", games, ["aarch64-linux-gnu-gcc"]), games, python,
                        compile.packages_for(python))


def without_python(row: str, target: str, runner: list[str], games: list[str], remedy: str = DEBIAN) -> str:
    """The games without Python, by clang.

    runner: the command that runs a program for this processor and system.
    remedy: the command that installs it.
    """
    need(runner[-1], remedy=remedy)
    compiler = [*compile.clang(), "-static", "-target", target]
    found = [fault for name in games for fault in bare.faults(name, [*runner, str(bare.compiled(name, row, compiler))])]
    if found:
        raise debian.Unavailable("\n".join(found))
    return f"{len(games)} games without Python: their {2 * len(games)} golden checksums hold"


def under_wine(play: Callable[[list[str]], str], games: list[str]) -> str:
    """A row of windows.py."""
    need("wine", remedy=WINE)
    return play(games)


def need(*programs: str, remedy: str = DEBIAN) -> None:
    """Raises Unavailable if one of these is not on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise debian.Unavailable(f"{program} is missing: {remedy}")


ROWS = {
    **{level: lambda games, level=level: x86(level, games) for level in ("v1", "v2", "v3", "v4")},
    "clang": clang,
    "aarch64": aarch64,
    "i386": lambda games: without_python("i386", "x86-linux-musl", ["qemu-i386"], games),
    "riscv64": lambda games: without_python("riscv64", "riscv64-linux-musl", ["qemu-riscv64"], games),
    "windows": lambda games: without_python("windows", "x86_64-windows-gnu", windows.WINE, games, WINE),
    "windows-python": lambda games: under_wine(windows.play_games, games),
    "windows-kernels": lambda games: under_wine(windows.play_kernels, games),
}


def main(rows: list[str], games: list[str]) -> int:
    """Try the rows, print a line each; returns the status."""
    status = 0
    for row in rows:
        try:
            print(f"{row}: {ROWS[row](games)}", flush=True)
        except debian.Unavailable as error:
            print(f"{row}: FAILED: {error}", flush=True)
            status = 1
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.isa", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"some of {', '.join(ROWS)} (default: all)")
    parser.add_argument("--games", default=",".join(emit.built_in()), help="only these, such as pong,go")
    chosen = parser.parse_args()
    for kind, words, known in (("ROW", chosen.rows, ROWS), ("--games", chosen.games.split(","), emit.built_in())):
        for word in words:
            if word not in known:
                parser.error(f"{kind} must be one of {', '.join(known)}, not {word}")
    sys.exit(main(chosen.rows or list(ROWS), chosen.games.split(",")))
