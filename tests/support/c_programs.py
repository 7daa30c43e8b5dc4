"""C programs of tests: compiled, run, and the threads that they and this process have."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = next(filter(shutil.which, ("gcc", "cc", "clang")), None)
TASKS = Path("/proc/self/task")
needs_compiler = pytest.mark.skipif(COMPILER is None or "SANITIZE" in os.environ, reason="needs a C compiler, no sanitizer")
counts_threads = pytest.mark.skipif(not TASKS.exists() or "SANITIZE" in os.environ, reason="needs Linux's list of threads")


def prints_ok(folder: Path, source: Path, include: Path, flags: list[str]) -> None:
    """Assert that the C program `source` compiles with these flags and prints ok. Skips if the flags work for no program."""
    trivial = folder / "trivial.c"
    trivial.write_text("int main(void) { return 0; }\n")
    if subprocess.run([COMPILER, str(trivial), *flags, "-o", str(folder / "trivial")], check=False).returncode:
        pytest.skip(f"the compiler does not know {' '.join(flags)}")
    program = folder / "stress"
    subprocess.run([COMPILER, "-x", "c", "-O1", "-g", "-pthread", f"-I{include}", str(source), *flags, "-o", str(program)],
                   check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=300, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not work with this kernel")
    assert (done.stdout, done.stderr, done.returncode) == ("ok\n", "", 0)
