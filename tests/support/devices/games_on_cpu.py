"""The kernels of a game (envs_c/bare/device.h) without a GPU: compiled for the CPU, or as PTX on the emulator."""

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from cuda_on_cpu import KINDS
from ptx.kernel import Module
from ptx.launch import EmulatedModule

from bridge.nvrtc import arguments
from bridge.on_device.games import GameModule
from envs_c.bare import device as compiler

COMMAND = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-I", "include", "-I", "."]

INSERTED = {"device_rom", "console_rooms"}  # variables that the kernel `insert` writes, not `prepare`


@functools.cache
def library(game, pixels: bool, tables: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The kernels compiled for the CPU, kept by their sources for other processes.

    tables: names of arrays of the file, whose address table_NAME() returns.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        compiler.write_unit(game, pixels, folder)
        functions = "".join(f"void *table_{name}(void) {{ return (void *)&{name}; }}\n" for name in tables)
        (folder / "unit.c").write_text((folder / "unit.c").read_text() + functions)
        texts = [path.read_bytes() for path in (*sorted(folder.glob("*.[ch]")), *sorted(compiler.HEADER.parent.glob("*.h")))]
        key = hashlib.sha256(repr((COMMAND, texts)).encode()).hexdigest()[:16]
        kept = Path(tempfile.gettempdir()) / f"insertcoin-game-on-cpu-{key}.so"
        if not kept.exists():
            subprocess.run([*COMMAND, "-I", str(compiler.HEADER.parent), "unit.c", "-o", "unit.so", "-lm"], cwd=folder,
                           check=True)
            own = kept.with_suffix(f".{os.getpid()}")
            shutil.copyfile(folder / "unit.so", own)
            own.replace(kept)
    return ctypes.CDLL(str(kept))


class GameOnCpu:
    """The interface of `GameModule`, for CPU tensors."""

    def __init__(self, game, pixels: bool = False):
        self.library = library(game, pixels)

    def launch(self, name: str, items: int, *values, block: int = 0):
        """As `CudaModule.launch`."""
        self.run(name, arguments(values))

    def run(self, name: str, packed: list):
        """`launch` with arguments that are packed already."""
        kernel = getattr(self.library, name)
        kernel.restype = None
        kernel(*(KINDS[type(value)](value.item()) for value in packed))


class EmulatedGame(EmulatedModule):
    """The same on the emulator.

    The kernel `prepare` is a single thread, which would take minutes here: its work, tables and backdrop, is done by the same C
    compiled for the CPU, unless `prepares`.
    """

    def __init__(self, game, pixels: bool = False, *, prepares: bool = False):
        super().__init__(GameModule(game, pixels), compiler.ARCH)
        self.module, self.prepares = Module.of_ptx(compiler.ptx(game, pixels=pixels), compiler.ARCH), prepares
        self.tables = tuple(sorted(set(self.module.globals.empty) - INSERTED))
        self.library = library(game, pixels, self.tables) if pixels or self.tables else None

    def function(self, name: str):
        kernel = self.module.kernel(name)
        return lambda grid, block, args, shared, stream: kernel(grid, block, args, shared, self._memory)

    def launch(self, name: str, items: int, *values, block: int = 32):
        """As `CudaModule.launch`."""
        if name == "insert":  # the kernel keeps the addresses of a cartridge
            self.kept = tuple(value for value in values if isinstance(value, torch.Tensor))
        if name != "prepare" or self.prepares:
            super().launch(name, items, *values, block=block)
        elif self.library is not None:
            self.library.prepare(*(ctypes.c_uint64(value.item()) for value in arguments(values)))
            for table in self.tables:
                self.module.globals.bytes[table][:] = self.table(table)

    def table(self, name: str) -> np.ndarray:
        """The bytes of a table of the library."""
        address = getattr(self.library, f"table_{name}")
        address.restype = ctypes.c_void_p
        return np.ctypeslib.as_array((ctypes.c_uint8 * len(self.module.globals.bytes[name])).from_address(address()))
