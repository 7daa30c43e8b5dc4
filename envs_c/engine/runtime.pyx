"""Finds the OpenMP runtime of torch in this process, for the pool of threads (runtime.h says why).

Only GNU's runtime on Linux is taken, the one in torch's wheels. Elsewhere, the pool has threads of its own only.

A fork copies one thread, and libgomp waits forever for the others of its team in the child. So the team ends before a fork by
Python, and starts again with the next region. A process that was itself forked, and runs no other program since, never uses
the runtime: its parent may have left such a team behind.
"""

import contextlib
import ctypes
import os
import sys
import threading
from pathlib import Path

from envs_c.engine.busy cimport generation

FORKED = 0x40  # PF_FORKNOEXEC of Linux: forked from its parent, and no other program since
SOFT = 1       # omp_pause_soft: threads end, settings stay

ctypedef void (*parallel_fn)(void (*)(void*) noexcept nogil, void*, unsigned, unsigned) noexcept nogil
ctypedef int (*threads_fn)() noexcept nogil

_library = None  # keeps the runtime loaded
_looked = False  # torch loads its runtime when it is imported: one look is enough


def find():
    """Take the runtime if torch has loaded one, and return it as ctypes loads it, or None.

    It is looked for once, after torch was imported.
    """
    global _library, _looked
    if _looked or not hasattr(sys.modules.get("torch"), "set_num_threads") or not sys.platform.startswith("linux"):
        return _library
    _looked = True
    with contextlib.suppress(OSError, AttributeError):  # no /proc; a runtime without one of the functions
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
        path = choose(maps, os.path.dirname(sys.modules["torch"].__file__))
        if path is None or was_forked(Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")):
            return None
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD)
        _, threads, parallel = library.omp_pause_resource_all, library.omp_get_max_threads, library.GOMP_parallel
        runtime.main, runtime.generation = threading.main_thread().ident, generation
        runtime.threads = <threads_fn><size_t>ctypes.cast(threads, ctypes.c_void_p).value
        runtime.parallel = <parallel_fn><size_t>ctypes.cast(parallel, ctypes.c_void_p).value
        _library = library
    return _library


def choose(maps: str, folder: str) -> str | None:
    """The loaded file of libgomp: the only one, or else the one in torch's folder. None if that is not one file.

    maps: the text of /proc/self/maps.
    """
    fields = [line.split(maxsplit=5) for line in maps.splitlines()]
    paths = {each[5] for each in fields if len(each) > 5 and os.path.basename(each[5]).startswith("libgomp")}
    if len(paths) > 1:
        paths = {path for path in paths if path.startswith(folder)}  # also NAME.libs beside it
    return paths.pop() if len(paths) == 1 else None


def was_forked(stat: str) -> bool:
    """True if the process was forked and has run no other program since. stat: the text of /proc/self/stat."""
    return bool(int(stat.rpartition(")")[2].split()[6]) & FORKED)


def _before_fork():
    """End the team, if this thread has used it."""
    if runtime.used and runtime.generation == generation and threading.get_ident() == runtime.main:
        _library.omp_pause_resource_all(SOFT)
        runtime.used = 0


os.register_at_fork(before=_before_fork)
