"""What a run is carried out on and by: machine, processor, GPUs, commit, versions, command. All of it text, for config.json."""

import contextlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import envs_c

_PACKAGES = ("torch", "numpy", "gymnasium", "safetensors", "tensorboard", "rich", "tyro", "imageio", "imageio-ffmpeg",
             "matplotlib", "cython", "cupy-cuda13x", "nvidia-cuda-nvrtc", "ale-py", "stable-baselines3", "onnx", "onnxscript",
             "onnxruntime", "wandb", "trackio")
_PATIENCE = 10.0  # seconds that another program may take to answer


def machine_facts() -> dict[str, str]:
    """Of this process; what is not there (a GPU, CUDA, a repository, a package) is left out or "none"."""
    facts = {"machine": platform.platform(), "cpu": cpu_name(), "cores": str(os.cpu_count()), **gpu_facts(),
             "git": commit(Path.cwd()) or commit(Path(__file__).parent) or "none", "python": platform.python_version(),
             "insertcoin": envs_c.__version__}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            facts[package] = metadata.version(package)
    return facts | {"folder": str(Path.cwd()), "command": shlex.join(sys.orig_argv)}


def cpu_name() -> str:
    """The processor's name, where the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def gpu_facts() -> dict[str, str]:
    """The GPUs and their driver, as nvidia-smi tells them, and the CUDA that torch was built for, where torch is loaded."""
    lines = _answer("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    rows = [[word.strip() for word in line.rsplit(",", 1)] for line in lines if "," in line]
    facts = {"gpu": ", ".join(name for name, _ in rows) or "none"}
    if rows:
        facts["driver"] = rows[0][1]
    cuda = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    return facts | ({"cuda": cuda} if cuda else {})


def commit(folder: Path) -> str | None:
    """The commit that a folder's repository is at, and whether tracked files differ from it; None outside a repository."""
    where = _answer("git", "-C", str(folder), "rev-parse", "HEAD", "--show-toplevel").splitlines()
    if len(where) != 2:
        return None
    changed = _answer("git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no")
    return f"{where[0]}{', with changes,' if changed else ''} in {where[1]}"


def _answer(program: str, *words: str) -> str:
    """What a program prints; nothing where it is not there, fails, or takes too long."""
    if shutil.which(program) is None:
        return ""
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
