"""Runs the games' tests under a sanitizer: `python tools/sanitize.py address|undefined|thread [pytest arguments]`.

The sources are copied to build/sanitize-NAME and built there, so that the modules of the source tree stay as they are.
Games' tests are those whose files import neither torch nor a module that needs it; after them every game is played for a
million random steps in each view (tests/envs_c/test_million.py). GCC only. `thread` is for reading,
not for passing: GCC's OpenMP runtime is not instrumented, so its own barriers are reported too.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import preflight

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = {"address": "libasan.so", "undefined": "libubsan.so", "thread": "libtsan.so"}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0",  # Python leaves what it holds at its end to the system
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PYTHONMALLOC": "malloc",  # else overruns within Python's own arenas go unseen
}
NOT_COPIED = (".git", ".venv", "build", "runs", "dist", "*.so", "*.egg-info", "__pycache__")
OTHER_TESTS = re.compile(r"^\s*(import|from) (torch|trainer|bridge|benchmarks|setup_support)\b", re.MULTILINE)


def main(sanitizer: str, arguments: list[str]) -> int:
    """Copy, build, test; returns pytest's status."""
    if sanitizer not in LIBRARIES:
        sys.exit(f"insertcoin: unknown sanitizer {sanitizer!r}, there are: {', '.join(LIBRARIES)}")
    tree = ROOT / "build" / f"sanitize-{sanitizer}"
    copy_sources(tree)
    environment = os.environ | OPTIONS | {"SANITIZE": sanitizer}
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    if subprocess.run(build, cwd=tree, env=environment, check=False).returncode:
        return 1
    if sanitizer != "undefined":  # these two have to be loaded before everything else
        environment["LD_PRELOAD"] = library(LIBRARIES[sanitizer])
    tests = arguments or [str(file.relative_to(tree)) for file in game_tests(tree)]
    if not tests:
        sys.exit("insertcoin: no test of the games found under tests/")
    print(f"{sanitizer}: {' '.join(tests)}", flush=True)
    # A sanitizer writes its report to the real standard error and ends the process: pytest must not hold that back.
    # It also keeps freed memory aside, so tests that measure how much memory is in use are left out.
    test = [sys.executable, "-m", "pytest", "--capture=sys", "-p", "no:cacheprovider", "-k", "not memory", *tests]
    status = subprocess.run(test, cwd=tree, env=environment, check=False).returncode
    if arguments or status:
        return status
    million = [*test[:6], "-m", "slow", "--durations=0", "--durations-min=1", "tests/envs_c/test_million.py"]
    return subprocess.run(million, cwd=tree, env=environment, check=False).returncode


def copy_sources(tree: Path) -> None:
    """Put the sources as they are now into `tree`, with their times; what was built there before stays."""
    if tree.exists():
        for entry in tree.iterdir():
            if entry.name != "build":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_COPIED), dirs_exist_ok=True)


def library(name: str) -> str:
    """The path of a sanitizer's runtime library, as the compiler knows it."""
    command = [*preflight.compiler(), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        sys.exit(f"insertcoin: {command[0]} has no {name}: install GCC's sanitizer libraries, or set CC=gcc")
    return path


def game_tests(tree: Path) -> list[Path]:
    """The test files that need neither torch nor a module above envs_c, nor are about the set-up."""
    files = sorted((tree / "tests").rglob("test_*.py"))
    return [file for file in files if not OTHER_TESTS.search(file.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: python tools/sanitize.py {'|'.join(LIBRARIES)} [pytest arguments]")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
