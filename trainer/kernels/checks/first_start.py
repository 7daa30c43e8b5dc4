"""The check at a trainer's first start on a GPU: each kernel on small inputs, against plain torch.

A kernel that differs is replaced by its function in reference.py. If all are right, the GPU's name, its driver, our version and
the sources are remembered in the user's cache folder, and later starts do not check again.
"""

import contextlib
import hashlib
import json
import re
import sys
import time
import warnings
from pathlib import Path

import platformdirs
import torch

import envs_c
from bridge import nvrtc
from bridge.errors import BridgeError, DeviceError
from envs_c.files import user_folder, write_atomically
from trainer.files import read_json
from trainer.kernels import choose
from trainer.kernels.checks.cases import CARTPOLE, KERNELS, Group, compare

ROWS = (3, 33)
DRIVER = Path("/proc/driver/nvidia/version")  # of Linux
REPORT = "report it with the file that insertcoin selftest writes (docs/gpu.md, The first visit)"

_done: list[dict[str, str]] = []  # the checks of this process


def check_kernels(device: torch.device, *, simulates: bool = False, quiet: bool = False) -> None:
    """Check the kernels, unless the device is no GPU or they were found right before.

    simulates: True if the kernel of CartPole on the device will be used.
    quiet: True to print no line. A kernel that differs is a RuntimeWarning in any case.

    Raises DeviceError if a kernel fails, so that the GPU cannot be used.
    """
    for group in (KERNELS, CARTPOLE) if simulates else (KERNELS,):
        if device.type == "cuda" and (facts := facts_of(group, device)) not in _done:
            if facts not in remembered():
                _check(group, device, facts, quiet)
            _done.append(facts)


def _check(group: Group, device: torch.device, facts: dict[str, str], quiet: bool) -> None:
    begin, gpu = time.perf_counter(), f"{facts['gpu']} (driver {facts['driver']})"
    try:
        outcomes = compare(group, device, ROWS)
    except BridgeError:
        raise
    except RuntimeError as error:
        raise DeviceError(f"{group.title} cannot run on {gpu} ({error}): use the CPU (--device cpu), and {REPORT}") from error
    wrong = {one.kernel: one for one in outcomes if not one.equal}
    choose.replace([*wrong, *(f"{name}_backward" for name in wrong)])  # the gradient of some has this name
    if wrong:
        listed = ", ".join(f"{name} ({one.case}: by {one.error:.2g})" for name, one in wrong.items())
        warnings.warn(f"these kernels differ from plain torch on {gpu}: {listed}; plain torch is used for them, which is "
                      f"slower; please {REPORT}", RuntimeWarning, stacklevel=3)
        return
    remember(facts)
    if not quiet:
        print(f"{group.title}: equal to plain torch on {gpu}, checked once in {time.perf_counter() - begin:.1f} s",
              file=sys.stderr)


def facts_of(group: Group, device: torch.device) -> dict[str, str]:
    """The GPU, its driver, our version, the compiler's and a hash of the sources: if one changes, the check runs again."""
    texts = [path.read_bytes() for module in group.modules() for path in (module.path, *module.headers)]
    return {"gpu": torch.cuda.get_device_name(device), "driver": driver(), "version": envs_c.__version__,
            "nvrtc": nvrtc.version(), "sources": hashlib.sha256(repr(texts).encode()).hexdigest()}


def driver() -> str:
    """The version of the driver, such as 570.86.15; elsewhere than on Linux the version of CUDA that it supports."""
    with contextlib.suppress(OSError):
        if found := re.search(r"\b\d{3,}\.\d[\d.]*", DRIVER.read_text(encoding="utf-8")):
            return found[0]
    from cupy.cuda import runtime
    return f"for CUDA {runtime.driverGetVersion() // 1000}.{runtime.driverGetVersion() % 1000 // 10}"


def memory_file() -> Path:
    """The file of the GPUs on which the kernels are right. Raises FileNotFoundError if the user has no home."""
    return user_folder(platformdirs.user_cache_dir, "insertcoin") / "kernels.json"


def remembered() -> list[dict[str, str]]:
    """The content of `memory_file`; a damaged one counts as empty."""
    with contextlib.suppress(OSError, ValueError):
        content = read_json(memory_file())
        if isinstance(content, list):
            return [one for one in content if isinstance(one, dict)]
    return []


def remember(facts: dict[str, str]) -> None:
    """Add facts to `memory_file`."""
    try:
        memory_file().parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memory_file(), [json.dumps([*remembered(), facts], indent=1).encode()])
    except OSError as error:
        print(f"note: {error.filename} cannot be written ({error.strerror}): the next start checks the kernels again",
              file=sys.stderr)
