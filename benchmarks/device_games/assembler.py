"""What NVIDIA's assembler makes of kernels: ptxas of PTX, and the same assembler inside NVRTC of the trainer's CUDA sources."""

import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple

from bridge.nvrtc import CudaModule

KERNEL = re.compile(r"Compiling entry function '(\w+)'(?:.|\n)*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                    r"(\d+) bytes spill loads(?:.|\n)*?Used (\d+) registers")


class Usage(NamedTuple):
    """What a thread of a kernel takes."""

    registers: int
    stack: int   # bytes
    spills: int  # bytes stored and loaded


def find_ptxas() -> str | None:
    """The path of ptxas: that on PATH, or that of the package nvidia-cuda-nvcc; None without one."""
    packaged = Path(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin")
    return shutil.which("ptxas") or shutil.which("ptxas", path=str(packaged))


def version(ptxas: str) -> str:
    """What the assembler says of itself, with its release."""
    return subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=False).stdout.strip()


def read(log: str) -> dict[str, Usage]:
    """The kernels in what the assembler prints when it is verbose, by name."""
    return {name: Usage(int(registers), int(stack), int(stored) + int(loaded))
            for name, stack, stored, loaded, registers in KERNEL.findall(log)}


def assembled(ptx: str, arch: str, ptxas: str) -> dict[str, Usage]:
    """The kernels of a text of PTX on an architecture such as "90". Raises RuntimeError if ptxas refuses the text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.ptx"
        path.write_text(ptx, encoding="utf-8")
        done = subprocess.run([ptxas, "-v", f"-arch=sm_{arch}", str(path), "-o", str(path.with_suffix(".cubin"))],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ptxas refuses it for sm_{arch}: {done.stderr.strip()[-400:]}")
    return read(done.stderr)


def compiled(module: CudaModule, arch: str) -> dict[str, Usage]:
    """The kernels of a CUDA source on an architecture such as "90". Raises DeviceError if NVRTC refuses it."""
    return read(module.report(f"sm_{arch}"))


def most(used: list[Usage]) -> Usage:
    """The largest of each number."""
    return Usage(*(max(one) for one in zip(*used, strict=True)))
