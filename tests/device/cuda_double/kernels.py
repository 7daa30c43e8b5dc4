"""Launches of the kernels in .cu files, on the device's addresses.

They are emulated from NVRTC's PTX (tests/support/devices/ptx), or, in less time, compiled by a C++ compiler (cuda_on_cpu.py);
then those of sequence.cu are done in plain torch (sequence_on_cpu.py).
"""

import functools
import re
import threading
from pathlib import Path

import torch
from cuda_on_cpu import CpuModule
from games_on_cpu import GameOnCpu
from sequence_on_cpu import SequencesOnCpu

from bridge.on_device.games import GameModule
from cuda_double.machine import Machine, Region, Work
from cuda_double.ordering import DeviceFault

_SIGNATURE = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+?)(_?##\w+)?\s*\(([^)]*)\)")


@functools.cache
def signatures(path: Path) -> dict[str, list[bool | None]]:
    """The kernels of a .cu file by the beginning of their names: for each argument, True if its memory is written, False if
    it is only read, None for a number."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    text += "".join(path.with_name(name).read_text(encoding="utf-8")
                    for name in re.findall(r'#include "(device_\w+\.h)"', text))
    if found := re.search(r"#define DEVICE_ARGUMENTS (.*)", text):  # of the games' kernels
        names = re.findall(r"^DEVICE_KERNEL\((\w+)", text, re.MULTILINE)
        text += "".join(f"__global__ void {name}({found[1]})\n" for name in names)
    return {name: ["const" not in one if "*" in one else None for one in parameters.split(",")]
            for name, _, parameters in _SIGNATURE.findall(text)}


def signature(path: Path, name: str) -> list[bool | None]:
    """The arguments of one kernel."""
    known = signatures(path)
    return known[max((one for one in known if name.startswith(one)), key=len)]


@functools.cache
def compiled(module) -> CpuModule | SequencesOnCpu | GameOnCpu:
    if isinstance(module, GameModule):
        return GameOnCpu(module.game, module.pixels)
    return SequencesOnCpu() if module.path.name == "sequence.cu" else CpuModule(module)


def emulate(machine: Machine, regions: list[Region], arch: str, module, name: str, grid, block, packed):
    """Run a kernel of a module on the emulator. It may access only the allocations of the tensors that it was given."""
    from ptx import Memory as PtxMemory
    from ptx.launch import compiled as to_ptx
    known = PtxMemory()
    for region in {id(region.allocation): region for region in regions if region.allocation.bytes}.values():
        memory, at = machine.memory_of(region), region.allocation
        written = memory.written[at.offset: at.offset + at.bytes]
        known.add(memory.address + at.offset, memory.array(at.offset, at.bytes), written, at.asked)
    to_ptx(module.path, arch, tuple(module.headers)).kernel(name)(grid, block, packed, 0, known)


def recurrence(name: str, packed) -> dict[str, int]:
    """Time steps, sequences and FLOP of a kernel of sequence.cu; nothing for the others."""
    if not name.startswith("lstm_recurrence"):
        return {}
    (steps, rows), n = map(int, packed[-2:]), int(name.rpartition("_")[2])
    return {"steps": steps, "rows": rows, "flops": 2 * steps * rows * 4 * n * n}


class Launcher:
    """Takes the place of two methods of `CudaModule`: `launch` notes the tensors, `function` gives kernels to call.

    arch: architecture to compile for and to emulate, such as "sm_90"; None to compile for the CPU.
    """

    def __init__(self, machine: Machine, launch, arch: str | None):
        self.machine, self.arch, self.noted = machine, arch, threading.local()
        self.original = launch

    def launch(self, module, name: str, items: int, *values, **options):
        """`CudaModule.launch`."""
        self.noted.values = values
        self.original(module, name, items, *values, **options)

    def function(self, module, name: str):
        """`CudaModule.function`: a function with the arguments of CuPy's kernels."""
        def kernel(grid, block, packed, shared, stream):
            reads, writes = self._regions(module, name, self.noted.values)
            emulated = self.arch is not None and not isinstance(module, GameModule)  # tests/ptx emulates the games

            def run(machine, access):
                if not emulated:
                    compiled(module).run(name, packed)
                else:
                    emulate(machine, [*reads, *writes], self.arch, module, name, grid, block, packed)
            facts = {"grid": grid[0], "block": block[0], **recurrence(name, packed)}
            work = Work(name, run=run, reads=reads, writes=writes, facts=facts, partial=emulated)
            self.machine.queue(work, self.machine.streams[stream.ptr])
        return kernel

    def _regions(self, module, name: str, values) -> tuple[list[Region], list[Region]]:
        """The memory that a kernel reads, and the memory that it may write."""
        regions: tuple[list[Region], list[Region]] = [], []
        for value, written in zip(values, signature(module.path, name), strict=True):
            if not isinstance(value, torch.Tensor):
                continue
            if not value.is_cuda:
                raise DeviceFault(f"{name} was given a tensor of the host, {tuple(value.shape)} {value.dtype}")
            regions[bool(written)].append(value.region)
        return regions
