"""Makes .venv, installs the pinned dependencies and builds the extensions: what `make setup` runs.

Each of the three steps leaves a stamp that says what it was made from, and is skipped while that holds. The stamps hold
hashes of contents, not times, so neither a fresh checkout of the same commit nor a touched file builds anything.
"""

import fcntl
import hashlib
import os
import platform
import re
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable
from pathlib import Path

import preflight

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ("requirements.txt", "constraints.txt")
SOURCES = ("*.pyx", "*.pxd", "*.h")  # of the extensions, under:
ROOTS = ("envs_c", "trainer")

PIP_LOG = VENV / "pip.log"
OFFLINE = re.compile(
    "NewConnectionError|NameResolutionError|name resolution|Network is unreachable|Connection refused|ProxyError"
    "|ConnectTimeout|ReadTimeout|Read timed out|Max retries exceeded|RemoteDisconnected|ConnectionResetError"
)


# The three steps: `*_due` says why a step has to be taken, or nothing; the other function takes it.


def venv_due() -> str:
    """Why .venv has to be made anew; empty while it works and belongs to the Python that runs this."""
    question = "import sys; print(sys.version, sys.base_prefix)"
    try:
        answer = subprocess.run([PYTHON, "-c", question], capture_output=True, text=True, check=False).stdout
    except OSError:  # there is none, or the Python that it was made from is gone
        return "making .venv"
    return "" if answer.strip() == f"{sys.version} {sys.base_prefix}" else "making .venv anew for another Python"


def make_venv() -> None:
    """Make .venv from the Python that runs this, in place of any that is there."""
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False)
    if made.returncode:
        reason = (made.stdout + made.stderr).strip() or "no reason given"
        raise preflight.Missing(f"cannot make .venv with {sys.executable}: {reason.splitlines()[-1]}")


def dependencies_due() -> str:
    """Why pip has to run; empty while .venv holds what the requirements name."""
    return "" if _stamp("dependencies") == _requirements() else "installing the pinned dependencies"


def install_dependencies() -> None:
    """Install the requirements into .venv, with pip as its user has configured it; everything it says goes to a log."""
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-r", ROOT / REQUIREMENTS[0]]
    with PIP_LOG.open("w+", encoding="utf-8") as log:
        failed = subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        log.seek(0)
        output = log.read()
    if failed:
        raise preflight.Missing(f"{explain_pip(output)} (the whole log: {PIP_LOG.relative_to(ROOT)})")
    _write_stamp("dependencies", _requirements())


def explain_pip(output: str) -> str:
    """The one line to show for a pip that failed: what was wrong, and what to do."""
    if OFFLINE.search(output):
        return "no network: pip cannot reach its package index: connect, or correct pip's configuration, and run again"
    # The first of several errors is the cause, but for pip's list of the versions that it passed over.
    errors = [line for line in output.splitlines() if re.match("ERROR: (?!Ignored the following)", line)]
    said = errors or output.strip().splitlines()[-1:] or ["nothing"]
    return f"pip failed, it says: {textwrap.shorten(said[0].removeprefix('ERROR: '), 200)}"


def extensions_due() -> str:
    """Why the extensions have to be built; empty while they are those of these sources, flags, CPU and Python."""
    return "" if _stamp("extensions") == _build_facts() else "building the extensions"


def build_extensions() -> None:
    """Build the extensions in place; what Cython and the compiler say is shown."""
    command = [PYTHON, "setup.py", "-q", "build_ext", "--inplace"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit(1)  # the reason stands above
    _write_stamp("extensions", _build_facts())


STEPS: tuple[tuple[Callable[[], str], Callable[[], None]], ...] = (
    (venv_due, make_venv),
    (dependencies_due, install_dependencies),
    (extensions_due, build_extensions),
)


def prepare() -> bool:
    """Take the steps that are due, in order, and return whether any was. Raises Missing when one cannot be taken."""
    worked = False
    for due, take in STEPS:
        reason = due()
        if not reason:
            continue
        if not worked:  # before the first download, not after it
            for check in preflight.CHECKS.values():
                check()
        print(f"set-up: {reason}", flush=True)
        take()
        worked = True
    return worked


def _requirements() -> str:
    return _hash([sys.version, *((ROOT / name).read_text(encoding="utf-8") for name in REQUIREMENTS)])


def _build_facts() -> str:
    """A hash of all that the built extensions depend on, and of the modules as they lie there."""
    sources = [ROOT / "setup.py", ROOT / "tools" / "preflight.py"]
    sources += sorted(file for root in ROOTS for pattern in SOURCES for file in (ROOT / root).rglob(pattern))
    modules = [
        source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
        for source in sources
        if source.suffix == ".pyx"
    ]
    facts = [_requirements(), preflight.cpu(), platform.platform()]
    facts += [f"{name}={os.environ.get(name)}" for name in preflight.BUILD_VARIABLES]
    facts += [f"{file.relative_to(ROOT)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in sources]
    # A module that somebody else built in the meantime has another time, one that was deleted has none.
    facts += [f"{file.relative_to(ROOT)} {file.stat().st_mtime_ns if file.exists() else None}" for file in modules]
    return _hash(facts)


def _hash(facts: list[str]) -> str:
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _stamp(name: str) -> str:
    file = VENV / f"{name}.stamp"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _write_stamp(name: str, facts: str) -> None:
    (VENV / f"{name}.stamp").write_text(facts, encoding="utf-8")


def main() -> int:
    """Set up, one process at a time; say what was done, or in one line what is missing."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            print("set-up: done" if prepare() else "set-up: nothing to do")
        except preflight.Missing as missing:
            print(f"insertcoin: {missing}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("insertcoin: interrupted: the same command again goes on with the set-up", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
