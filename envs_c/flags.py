"""Flags for the C compiler and directives for Cython, for all builds of games.

Used by setup.py (the built-in games), which loads this file by its path before the package is built, and by outside.py
(games from other folders). Standard library only, no imports from this package.
"""

import os
import sys

# Games must return the same bits on every CPU and with every compiler: no fast-math, no fused multiply-add unless the
# source calls it.
GAME_FLAGS = ["-O3", "-fno-math-errno", "-ffp-contract=off"]
DEBUG_FLAGS = ["-O1", "-g"]

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
    return [f"-mcpu={march}" if sys.platform == "darwin" else f"-march={march}"] if march else []


def debug_flags() -> list[str]:
    """The additional flags under DEBUG=1."""
    return DEBUG_FLAGS if is_debug() else []
