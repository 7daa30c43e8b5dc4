"""Chooses among the variants of the compiled games and of the console, when they are imported.

A wheel for x86-64 Linux holds them for three instruction sets: x86-64-v2, which needs nothing newer than a CPU of 2009, v3
(AVX2) and v4 (AVX-512). The modules of v3 and v4 lie in folders of their names beside those of v2. The highest that the CPU
supports is used, or the one that INSERTCOIN_ISA=v2, v3 or v4 in the environment names. All variants return the same bits.
Other installations have one variant. trainer.kernels uses the same functions.
"""

import functools
import os
from pathlib import Path

from envs_c.machine import cpu_features

PACKAGE = Path(__file__).parent
VARIABLE = "INSERTCOIN_ISA"
# What each level adds, as Linux names it; "abm" has LZCNT, "pni" is SSE3.
LEVELS = {
    "v2": {"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"},
    "v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def supported(features: frozenset[str]) -> list[str]:
    """The levels that a CPU with these features supports; v2 if the system does not tell its features."""
    levels, needed = [], set()
    for level, added in LEVELS.items():
        needed |= added
        if needed <= features:
            levels.append(level)
    return levels if features else ["v2"]


def choose(wanted: str, variants: bool, features: frozenset[str]) -> str:
    """The level to use, or "" for an installation of one variant.

    wanted: the value of INSERTCOIN_ISA, "" if it is unset.
    variants: True if the installation has all levels.
    Raises ImportError if there is no such level here, or the CPU does not support it.
    """
    if not variants:
        if wanted:
            raise _wrong(f"{VARIABLE} must be unset, not {wanted}: this installation has one variant; those of wheels for "
                         "x86-64 Linux have v2, v3 and v4")
        return ""
    levels = supported(features)
    if not levels:
        raise _wrong("this CPU must have the instructions of x86-64-v2, such as SSE4.2, for this wheel: install from the "
                     "sources with `pip install -e .`")
    if wanted and wanted not in levels:
        raise _wrong(f"{VARIABLE} must be {' or '.join(levels)} on this CPU, not {wanted}: unset it to use {levels[-1]}")
    return wanted or levels[-1]


@functools.cache
def chosen() -> str:
    """The level in use, "" if this installation has one variant. Raises ImportError as `choose` does."""
    return choose(os.environ.get(VARIABLE, ""), (PACKAGE / "games" / "x86-64-v3").is_dir(), cpu_features())


def search(path: list[str]) -> list[str]:
    """The `__path__` of a package with variants: the folder of the chosen one in front, if it has a folder.

    A package inside of one, which was found in that folder, also has the files beside it that exist once.
    """
    here, level = Path(path[0]), f"x86-64-{chosen()}"
    if here.parent.name == level:
        return [*path, str(here.parents[1] / here.name)]
    return [str(here / level), *path] if (here / level).is_dir() else list(path)


def text() -> str:
    """One line about the variant in use."""
    if chosen():
        reason = f"{VARIABLE} names it" if os.environ.get(VARIABLE) else "the best for this CPU"
        return f"compiled for x86-64-{chosen()} ({reason}; the others are in this installation too)"
    if not (PACKAGE.parent / "pyproject.toml").is_file():  # only a checkout is compiled in place
        return "compiled for all CPUs of this kind"
    return "compiled from source for one CPU (MARCH; by default the one it was compiled on)"


def _wrong(message: str) -> ImportError:
    return ImportError(message, name=__package__)
