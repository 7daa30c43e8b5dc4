"""Loads the OpenMP runtime that the engine shares with torch. It imports no torch.

The engine is linked with `libgomp.so.1`. Two runtimes in a process would have two teams of threads, which wait for each other's
cores. So if torch is installed, the copy in its wheel is loaded before the engine: the system's linker then takes it for the
engine, and later for torch. Without torch the linker takes the copy in insertcoin's own wheel, or the system's.

In wheels of torch whose copy has another name (libgomp-a34b3233.so.1), its functions replace those of the copy that the engine
is linked with, which stays unused. On a Mac the engine is not linked: it finds the functions in the library loaded here.
"""

import contextlib
import ctypes
import functools
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

FORKED = 0x40  # PF_FORKNOEXEC of Linux: forked from its parent, and no other program since
NAME = "libomp.dylib" if sys.platform == "darwin" else "libgomp.so.1"
PREFIXES = ("/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")  # Homebrew's, on ARM and on Intel


def of_torch(paths: list[str] | None = None) -> Path | None:
    """The runtime in the wheel of torch. None if torch is not installed, or brings none. paths: by default sys.path."""
    spec = PathFinder.find_spec("torch", paths)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    places = folder / "lib", folder.with_name("torch.libs")
    found = [path for place in places for path in sorted(place.glob(f"{NAME.partition('.')[0]}[-.]*"))]
    return min(found, key=lambda path: path.name != NAME, default=None)


@functools.cache
def load() -> ctypes.CDLL | None:
    """Load the runtime, and return it. None if the linker is to choose it, on a Mac without any, and on Windows."""
    if sys.platform == "darwin":
        prefixes = [os.environ.get("LIBOMP_PREFIX", ""), *PREFIXES]
        places = [Path(__file__).with_name(NAME), *(Path(prefix, "lib", NAME) for prefix in prefixes if prefix)]
        path = of_torch() or next(filter(Path.exists, places), None)
        return path and ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    path = None if sys.platform == "win32" or by_name() else of_torch()
    return path and ctypes.CDLL(str(path), ctypes.RTLD_LOCAL if path.name == NAME else ctypes.RTLD_GLOBAL)


def by_name() -> ctypes.CDLL | None:
    """The library of the name that the engine is linked with, if this process has loaded one."""
    if sys.platform == "win32":  # games run with one thread
        return None
    with contextlib.suppress(OSError):
        return ctypes.CDLL(NAME, os.RTLD_NOLOAD)
    return None


def runtime() -> ctypes.CDLL | None:
    """The runtime of this process, for calls of its functions, after the engine was imported. None if there is none."""
    return load() or by_name()


def was_forked(stat: str) -> bool:
    """True if the process was forked and has run no other program since. stat: the text of /proc/self/stat."""
    return bool(int(stat.rpartition(")")[2].split()[6]) & FORKED)


def lost_team() -> bool:
    """True if a parent process may have had a team of the runtime, which does not exist here. OpenMP would wait for it."""
    if not sys.platform.startswith("linux"):  # the runtime of a Mac looks for this itself
        return False
    with contextlib.suppress(OSError):  # no /proc
        stat, maps = (Path("/proc/self", name).read_text(encoding="utf-8", errors="replace") for name in ("stat", "maps"))
        return was_forked(stat) and "libgomp" in maps
    return False


LOST = lost_team()  # of a process that imports this module after it was forked
