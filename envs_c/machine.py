"""Facts about this machine: the number of cores, the CPU and the free memory. Standard library only."""

import contextlib
import os
import platform
from pathlib import Path

CPUINFO, MEMORY = Path("/proc/cpuinfo"), Path("/proc/meminfo")  # Linux only


def cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_name() -> str:
    """The CPU's model name, or the name of its architecture if the system does not report a model."""
    for line in _lines(CPUINFO):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cpu_facts() -> str:
    """The CPU's model and instruction sets as text, one line each: what `-march=native` depends on."""
    names = ("model name", "flags", "Features", "CPU part")  # "Features" and "CPU part": on ARM
    return "\n".join([platform.machine(), *sorted({line for line in _lines(CPUINFO) if line.startswith(names)})])


def cpu_features() -> frozenset[str]:
    """The CPU's vendor and instruction sets as Linux names them, such as AuthenticAMD and avx512_bf16; elsewhere empty."""
    names = ("vendor_id", "flags", "Features")  # "Features": on ARM
    return frozenset(word for line in _lines(CPUINFO) if line.startswith(names) for word in line.partition(":")[2].split())


def free_memory() -> int | None:
    """Bytes of memory that programs can still take without swapping; None if the system does not say."""
    for line in _lines(MEMORY):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return None


def _lines(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8").splitlines()
    return []
