"""Facts about this machine: the number of cores, the CPU and the free memory. Standard library only."""

import contextlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path

CPUINFO, MEMORY = Path("/proc/cpuinfo"), Path("/proc/meminfo")  # Linux only
CONTROL_GROUPS, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


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
    """Bytes of memory that this process can still take without swapping; None if the system does not say.

    In a container it is what the container's limit leaves, if that is less.
    """
    free = [1024 * int(line.split()[1]) for line in _lines(MEMORY) if line.startswith("MemAvailable:")]
    return min([*free, *_free_in_groups()], default=None)


def _free_in_groups() -> Iterator[int]:
    """Bytes that each control group of this process with a limit can still take: its own, and those around it."""
    for line in _lines(OWN_GROUPS):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        names = path.strip("/").split("/")  # of the host, in some containers: the topmost folder is then its own
        for count in range(len(names) + 1):
            if controllers:
                folder = CONTROL_GROUPS.joinpath("memory", *names[:count])
                yield from _left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            else:  # version 2
                yield from _left(CONTROL_GROUPS.joinpath(*names[:count]), "memory.max", "memory.current", "")


def _left(folder: Path, limit: str, usage: str, prefix: str) -> list[int]:
    """[bytes that a control group can still take], or [] if it has no limit. A file's cached pages are freed when needed.

    limit, usage: names of files. prefix: of the rows of memory.stat.
    """
    most, used = _lines(folder / limit), _lines(folder / usage)
    if not most or not used or most == ["max"]:
        return []
    pages = {f"{prefix}{kind}_file" for kind in ("active", "inactive")}
    cached = sum(int(row[1]) for row in map(str.split, _lines(folder / "memory.stat")) if row[0] in pages)
    return [max(0, int(most[0]) - int(used[0]) + cached)]


def _lines(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8").splitlines()
    return []
