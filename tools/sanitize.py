"""Runs the games' tests under a sanitizer: `python tools/sanitize.py address|undefined|thread [pytest arguments]`.

The sources are copied to build/sanitize-NAME and built there; the modules of the source tree do not change. It runs the test
files that import neither torch nor a module that needs torch, then a million random steps of every game in each view
(tests/envs_c/states/test_million.py), then crafted states (tools/crafted_states.py). Only the last of these runs if the first
argument is `crafted`; the others are that tool's. `fuzz --surface roms --cases 100000` runs the fuzzer (tools/fuzz) instead.
GCC only.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
import doctor

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = {"address": "libasan.so", "undefined": "libubsan.so", "thread": "libtsan.so"}
OPTIONS = {
    # Python does not free everything before it exits; memory that is freed but kept would look like a leak to the fuzzer; what
    # does not fit is a MemoryError, as without the sanitizer
    "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=64:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # A child that starts threads after a fork is what some tests are about
    "TSAN_OPTIONS": f"die_after_fork=0:suppressions={ROOT / 'tools' / 'thread_sanitizer.txt'}",
    "PYTHONMALLOC": "malloc",  # overruns inside Python's own arenas would not be found
}
NOT_COPIED = ("*.so", "*.egg-info", "__pycache__")
NOT_COPIED_OF_ROOT = (".git", ".venv", "build", "runs", "dist")  # trainer/runs is code
OTHER_TESTS = re.compile(
    r"^\s*(import|from) (torch|trainer|bridge|benchmarks(?!\.cartridges)|setup_support|reference_pages)\b", re.MULTILINE)


def main(sanitizer: str, arguments: list[str]) -> int:
    """Copy, build, test; returns pytest's status."""
    if sanitizer not in LIBRARIES:
        sys.exit(f"insertcoin: SANITIZER must be one of {', '.join(LIBRARIES)}, not {sanitizer!r}")
    tree = ROOT / "build" / f"sanitize-{sanitizer}"
    copy_sources(tree)
    environment = os.environ | OPTIONS | {"SANITIZE": sanitizer}
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    if subprocess.run(build, cwd=tree, env=environment, check=False).returncode:
        return 1
    if sanitizer != "undefined":  # the other two must be loaded before all other libraries, and look there for C++ exceptions
        environment["LD_PRELOAD"] = f"{library(LIBRARIES[sanitizer])}:{library('libstdc++.so.6')}"
    if arguments[:1] == ["crafted"]:
        return run_tool("crafted_states", tree, environment, arguments[1:])
    if arguments[:1] == ["fuzz"]:
        return run_tool("fuzz", tree, environment, arguments[1:])
    tests = arguments or [str(file.relative_to(tree)) for file in game_tests(tree)]
    if not tests:
        sys.exit("insertcoin: no test of the games found under tests/")
    print(f"{sanitizer}: {' '.join(tests)}", flush=True)
    # A sanitizer writes its report to the real standard error and ends the process, so pytest must not capture it.
    # It delays freeing, so tests that measure memory are left out.
    test = [sys.executable, "-m", "pytest", "--capture=sys", "-p", "no:cacheprovider", "-k", "not memory", *tests]
    status = subprocess.run(test, cwd=tree, env=environment, check=False).returncode
    if arguments or status:
        return status
    million = [*test[:6], "-m", "slow", "--durations=0", "--durations-min=1", "tests/envs_c/states/test_million.py"]
    status = subprocess.run(million, cwd=tree, env=environment, check=False).returncode
    return status or run_tool("crafted_states", tree, environment, [])


def run_tool(name: str, tree: Path, environment: dict, arguments: list[str]) -> int:
    """Run a module of tools/ on the built modules; returns its status."""
    command = [sys.executable, "-m", f"tools.{name}", *arguments]
    return subprocess.run(command, cwd=tree, env=environment | {"PYTHONMALLOC": "default"}, check=False).returncode


def copy_sources(tree: Path) -> None:
    """Copy today's sources with their times into `tree`; keep the earlier build there."""
    if tree.exists():
        for entry in tree.iterdir():
            if entry.name != "build":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    everywhere, of_root = shutil.ignore_patterns(*NOT_COPIED), shutil.ignore_patterns(*NOT_COPIED_OF_ROOT)

    def ignored(folder: str, names: list[str]) -> set[str]:
        return everywhere(folder, names) | (of_root(folder, names) if Path(folder) == ROOT else set())

    shutil.copytree(ROOT, tree, ignore=ignored, dirs_exist_ok=True)


def library(name: str) -> str:
    """The path of a sanitizer's runtime library, from the compiler."""
    command = [*doctor.compiler(), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        sys.exit(f"insertcoin: {command[0]} has no {name}: install GCC's sanitizer libraries, or set CC=gcc")
    return path


def game_tests(tree: Path) -> list[Path]:
    """The test files that need neither torch nor a module above envs_c, and do not test the set-up."""
    files = sorted((tree / "tests").rglob("test_*.py"))
    return [file for file in files if not OTHER_TESTS.search(file.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: python tools/sanitize.py {'|'.join(LIBRARIES)} [pytest arguments]")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
