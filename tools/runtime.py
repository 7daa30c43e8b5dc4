"""Finds the OpenMP library that a wheel brings for machines without one. Standard library only; setup.py calls it."""

import functools
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import doctor


@functools.cache
def library(openmp: ModuleType) -> Path | None:
    """The OpenMP library for a wheel: the compiler's, or torch's if only that one runs on old systems.

    Both are GCC's libgomp; a new compiler's needs a newer glibc than the wheel's other modules. None on a Mac without libomp,
    and on Windows.

    openmp: the module envs_c/engine/openmp.py.
    Raises doctor.Missing if there is none.
    """
    if sys.platform == "win32":
        return None
    if sys.platform == "darwin":
        return next((path for prefix in doctor.libomp_prefixes() if (path := Path(prefix, "lib", openmp.NAME)).exists()), None)
    command = [*doctor.compiler(), f"-print-file-name={openmp.NAME}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = [Path(done.stdout.strip()), openmp.of_torch()]
    found = [path for path in found if path is not None and path.is_absolute()]
    if not found:
        raise doctor.Missing(f"{' '.join(command)} finds no library for the wheel: install GCC's libgomp")
    return next(filter(is_for_old_glibc, found), found[0])


def is_for_old_glibc(path: Path) -> bool:
    """True if a library needs no newer glibc than 2.17."""
    return all(int(minor) <= 17 for minor in re.findall(rb"GLIBC_2\.(\d+)", path.read_bytes()))
