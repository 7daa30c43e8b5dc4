"""Facts about the machine and the software of a session, as texts for config.json."""

import contextlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import envs_c
from envs_c.machine import cpu_name

_PACKAGES = ("torch", "numpy", "gymnasium", "safetensors", "tensorboard", "rich", "tyro", "imageio", "imageio-ffmpeg",
             "matplotlib", "cython", "cupy-cuda12x", "cupy-cuda13x", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12",
             "ale-py", "stable-baselines3", "onnx", "onnxscript",
             "onnxruntime", "wandb", "trackio")
_TIMEOUT = 10.0  # seconds for another program


def machine_facts() -> dict[str, str]:
    """Facts by name. If there is no GPU, CUDA, repository or package, its fact is missing or "none"."""
    facts = {"machine": platform.platform(), "cpu": cpu_name(), "cores": str(os.cpu_count()), **gpu_facts(),
             "git": commit(Path.cwd()) or commit(Path(__file__).parent) or "none", "python": platform.python_version(),
             "insertcoin": envs_c.__version__}
    return facts | versions(_PACKAGES) | {"folder": str(Path.cwd()), "command": shlex.join(sys.orig_argv)}


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed, by name."""
    found = {}
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def gpu_facts() -> dict[str, str]:
    """The GPUs and their driver, from nvidia-smi, and torch's CUDA version if torch is loaded."""
    lines = _output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    rows = [[word.strip() for word in line.rsplit(",", 1)] for line in lines if "," in line]
    facts = {"gpu": ", ".join(name for name, _ in rows) or "none"}
    if rows:
        facts["driver"] = rows[0][1]
    cuda = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    return facts | ({"cuda": cuda} if cuda else {})


def commit(folder: Path) -> str | None:
    """The commit of a folder's git repository, and "with changes" if tracked files differ; None outside a repository."""
    lines = _output("git", "-C", str(folder), "rev-parse", "HEAD", "--show-toplevel").splitlines()
    if len(lines) != 2:
        return None
    changed = _output("git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no")
    return f"{lines[0]}{', with changes,' if changed else ''} in {lines[1]}"


def _output(program: str, *arguments: str) -> str:
    """The output of a program; empty if it does not exist, fails or takes too long."""
    if shutil.which(program) is None:
        return ""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""  # git names folders, also those not in UTF-8
