"""Flags for the C compiler and directives for Cython, for all builds of games.

Used by setup.py (the built-in games), which loads this file by its path before the package is built, and by outside.py
(games from other folders). Standard library only, no imports from this package.
"""

import os
import platform
import sys

# Games must return the same bits on every CPU and with every compiler: no fast-math, no fused multiply-add unless the
# source calls it.
GAME_FLAGS = ["-O3", "-fno-math-errno", "-ffp-contract=off"]
DEBUG_FLAGS = ["-O1", "-g"]

# The instruction sets of wheels for x86-64, which isa.py names as Linux does. GCC knows -march=x86-64-v2 only since version 11.
V2 = ["-march=x86-64", "-mcx16", "-msahf", "-mpopcnt", "-msse3", "-mssse3", "-msse4.1", "-msse4.2"]
V3 = [*V2, "-mavx", "-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mfma", "-mlzcnt", "-mmovbe", "-mxsave"]
V4 = [*V3, "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"]
LEVELS = {"x86-64-v2": V2, "x86-64-v3": V3, "x86-64-v4": V4}

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,  # stays off in a debug build too: there a negative index is then an error
    "cdivision": True,
    "initializedcheck": False,
    "nonecheck": False,
    "freethreading_compatible": True,  # a Python without the GIL keeps it off: see engine/busy.pyx
}
DEBUG_DIRECTIVES = {"boundscheck": True, "initializedcheck": True, "nonecheck": True}


def is_debug() -> bool:
    """True if DEBUG=1 in the environment asks for checks in the Cython code."""
    return os.environ.get("DEBUG", "") == "1"


def directives() -> dict:
    """Cython's directives, with the checks of a debug build under DEBUG=1."""
    return DIRECTIVES | (DEBUG_DIRECTIVES if is_debug() else {})


def cpu_flags() -> list[str]:
    """The flag for the CPU: native, or MARCH of the environment; none if MARCH is empty."""
    march = os.environ.get("MARCH", "native")
    apple = (sys.platform, platform.machine()) == ("darwin", "arm64")  # clang takes -mcpu=native only for ARM
    return [f"-mcpu={march}" if apple else f"-march={march}"] if march else []


def for_clang_cl(given: list[str]) -> list[str]:
    """The same flags for clang-cl, which takes those of clang behind /clang: and the options of Microsoft's compiler."""
    return [f"/clang:{flag}" for flag in given]


def debug_flags() -> list[str]:
    """The additional flags under DEBUG=1."""
    return DEBUG_FLAGS if is_debug() else []
