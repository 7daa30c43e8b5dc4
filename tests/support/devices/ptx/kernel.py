"""Kernels: compiled, decoded, launched."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ptx.instructions  # noqa: F401  (it registers the decoders)
from ptx.compiler import to_ptx
from ptx.decoder import DTYPES, Decoder
from ptx.faults import Fault
from ptx.functions import Globals, linked
from ptx.memory import GlobalSpace, Memory, PrivateSpace
from ptx.parser import Entry, Variable, parse
from ptx.scheduler import Scheduler, runs_of
from ptx.threads import Frame, Threads

CHUNK = 16_384  # threads that run side by side: their registers stay in the CPU's cache
# Most shared memory of a block in KiB (CUDA C++ Programming Guide, "Compute Capabilities"); others have 99.
SHARED = {"sm_75": 64, "sm_80": 163, "sm_87": 163, "sm_90": 227, "sm_100": 227, "sm_103": 227}


class Module:
    """The kernels of a CUDA source.

    source: the path of a .cu file, or CUDA source text.
    arch: such as "sm_90".
    options: of NVRTC besides those of `bridge.nvrtc`.
    headers: paths of the files that the source includes, by name without a folder.

    Attributes:
    text: the PTX.
    """

    def __init__(self, source: Path | str, arch: str = "sm_80", options: Sequence[str] = (), headers: Sequence[Path] = ()):
        name, text = (source.name, source.read_text()) if isinstance(source, Path) else ("kernel.cu", source)
        self._load(to_ptx(text, name, arch, headers, options), arch)

    def _load(self, text: str, arch: str):
        self.text, self.arch = text, arch
        parsed = parse(text)
        self.functions, self.globals = parsed.functions, Globals(parsed.globals)
        self.entries = {name: linked(entry, parsed.functions) for name, entry in parsed.entries.items()}

    @classmethod
    def of_ptx(cls, text: str, arch: str) -> "Module":
        """A module of PTX that another compiler than NVRTC has made."""
        made = cls.__new__(cls)
        made._load(text, arch)
        return made

    @functools.cache  # noqa: B019  (a module has few kernels)
    def kernel(self, name: str) -> "Kernel":
        """The kernel with this name. Raises UnknownInstruction if the emulator does not know all of its instructions."""
        return Kernel(self.entries[name], 1024 * SHARED.get(self.arch, 99), self.globals)


class Kernel:
    """A kernel of a module. shared_limit: bytes that a block can have. variables: of the module."""

    def __init__(self, entry: Entry, shared_limit: int, variables: Globals):
        self.entry, self.shared_limit, self.variables = entry, shared_limit, variables
        shared, self.static_bytes = _layout([v for v in entry.variables if v.space == "shared"])
        local, self.local_bytes = _layout([v for v in entry.variables if v.space == "local"])
        self.decoder = Decoder(entry, shared | local | variables.addresses)
        self.runs = runs_of(entry, self.decoder)
        self.timed = any(instruction.opcode[0] in ("bar", "barrier") for instruction in entry.instructions)

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[np.generic], shared_bytes: int = 0,
                 memory: Memory | None = None):
        """Run to the end. See the package's first lines."""
        sizes = [tuple(int(size) for size in (*part, 1, 1)[:3]) for part in (grid, block)]
        threads, blocks = int(np.prod(sizes[1])), int(np.prod(sizes[0]))
        if not 1 <= threads <= 1024 or blocks < 1:
            raise Fault(f"{self.entry.name}: a grid of {sizes[0]} blocks of {sizes[1]} threads cannot be launched")
        if (wanted := self.static_bytes + shared_bytes) > self.shared_limit:
            raise Fault(f"{self.entry.name}: {wanted} bytes of shared memory for a block are more than {self.shared_limit}")
        parameters, at_once = self._parameters(args), max(1, CHUNK // threads)
        everything = GlobalSpace(self.variables.find_in(memory if memory is not None else Memory()))
        with np.errstate(all="ignore"):
            for first in range(0, blocks, at_once):
                chunk = Threads(*sizes, first, min(at_once, blocks - first))
                frame = Frame(chunk, parameters, self.decoder.places, self.timed)
                shared = PrivateSpace("shared memory", self.static_bytes + shared_bytes, chunk.blocks)
                local = PrivateSpace("local memory", self.local_bytes, chunk.count)
                frame.spaces = {"global": everything, "shared": shared, "local": local}
                for space in frame.spaces.values():
                    space.fault = frame.fault
                Scheduler(self.runs, frame).finish()

    def _parameters(self, args: Sequence[np.generic]) -> dict[str, np.ndarray]:
        """The arguments' bytes by parameter, checked as far as PTX knows the types: sizes, and floats as floats."""
        declared = self.entry.parameters
        if len(args) != len(declared):
            raise Fault(f"{self.entry.name} takes {len(declared)} arguments, not {len(args)}")
        packed = {}
        for number, (value, parameter) in enumerate(zip(args, declared, strict=True)):
            dtype = np.dtype(value.dtype)
            wants = DTYPES.get(parameter.kind, dtype)
            if dtype.itemsize != parameter.size or (wants.kind == "f") != (dtype.kind == "f"):
                raise Fault(f"{self.entry.name}: argument {number} is a {dtype}, but the parameter is a {parameter.kind} of "
                            f"{parameter.size} bytes")
            packed[parameter.name] = np.frombuffer(value.tobytes(), np.uint8)
        return packed


def _layout(variables: list[Variable]) -> tuple[dict[str, int], int]:
    """Offsets of variables, and their size in all; `extern` ones come last, and begin where the launch's bytes begin."""
    offsets, end = {}, 0
    for variable in sorted(variables, key=lambda v: v.size == 0):
        end = -(-end // variable.align) * variable.align
        offsets[variable.name] = end
        end += variable.size
    return offsets, end
