"""The folder .venv: whether it works, why not, and making it anew; and the lock of a set-up, which works in it alone.

Standard library only; install.py calls it.
"""

import contextlib
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import doctor

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT, LOCK = ROOT / ".venv", ROOT / "build" / "install.lock"
ASK = "import pip, sys; print(ascii((sys.version, sys.base_prefix))); sys.exit(sys.prefix == sys.base_prefix)"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Around a set-up: waits, with a line, for another one of this checkout."""
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("set-up: waiting for another set-up of this folder", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fault() -> str | None:
    """Why .venv must be made, for the line that says so; None if it works."""
    if not ENVIRONMENT.exists():
        return ""
    python, pip_script = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "bin" / "pip"
    if not python.exists() or not pip_script.exists():
        return " anew: the one that is there is not whole"
    asked = subprocess.run([python, "-c", ASK], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if asked.returncode:  # without pyvenv.cfg, python is the one outside of .venv
        return " anew: the one that is there has no pip that works"
    if asked.stdout.strip() != ascii((sys.version, sys.base_prefix)):
        return " anew: the one that is there is of another Python"
    named = re.search(rb"(/[^\"\n]*)/bin/python", pip_script.read_bytes())
    folder = Path(os.fsdecode(named[1])) if named else ENVIRONMENT
    if not folder.exists() or not folder.samefile(ENVIRONMENT):
        return f" anew: this checkout was moved or copied, the programs that are there name {folder}"
    return None


def make() -> None:
    """Make .venv of this Python, unless it is there and works."""
    reason = fault()
    if reason is None:
        return
    if doctor.report():
        sys.exit(1)
    print(f"set-up: making .venv{reason}", flush=True)
    with contextlib.suppress(OSError):
        (ENVIRONMENT / "bin" / "pip").unlink()  # first: if this is interrupted, the next set-up sees that .venv is not whole
    venv.create(ENVIRONMENT, clear=True, symlinks=os.name != "nt", with_pip=True)
