"""Runs the kernels of a .cu file without a GPU: a C++ compiler compiles them, and each thread of a small grid is one call,
in random order.

So any machine can compare the arithmetic and the indexing of the device code with the reference. This does not show a GPU's
rounding of contracted products, its memory, or its speed.
"""

import ctypes
import hashlib
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bridge.nvrtc import CudaModule, arguments

SHIM = """
struct Dim { unsigned x, y, z; };
static Dim threadIdx, blockIdx, blockDim, gridDim;
#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
extern "C" void set_thread(unsigned thread, unsigned threads, unsigned block, unsigned blocks) {
    threadIdx = Dim{thread, 0, 0}; blockDim = Dim{threads, 1, 1}; blockIdx = Dim{block, 0, 0}; gridDim = Dim{blocks, 1, 1};
}
"""
KINDS = {np.uint64: ctypes.c_uint64, np.int64: ctypes.c_int64, np.float32: ctypes.c_float}


class CpuModule:
    """The interface of `CudaModule`, for CPU tensors."""

    def __init__(self, module: CudaModule, blocks: int = 3, threads: int = 2):
        self.grid = [(thread, threads, block, blocks) for block in range(blocks) for thread in range(threads)]
        self.library = ctypes.CDLL(str(compiled(module)))

    def launch(self, name: str, items: int, *values, block: int = 0):
        """Call the kernel for each thread of the grid, each time in another random order."""
        self.run(name, arguments(values))

    def run(self, name: str, values: list):
        """`launch` with arguments that are packed already."""
        kernel = getattr(self.library, name)
        kernel.restype = None
        packed = [KINDS[type(value)](value.item()) for value in values]
        for place in random.sample(self.grid, len(self.grid)):
            self.library.set_thread(*place)
            kernel(*packed)


def compiled(module: CudaModule) -> Path:
    """The shared library of a module's source; skips the test if there is no C++ compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler to run CUDA sources on the CPU")
    text = SHIM + module.path.read_text()
    key = hashlib.sha256(b"".join([text.encode(), *(header.read_bytes() for header in module.headers)])).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"insertcoin-cuda-on-cpu-{key}"
    library = folder / "kernels.so"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        source, new = folder / f"{os.getpid()}.cpp", folder / f"{os.getpid()}.so"  # other test runs do the same
        source.write_text(text)
        includes = [f"-I{parent}" for parent in {header.parent for header in module.headers}]
        subprocess.run([compiler, "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-std=c++17", "-w", *includes,
                        str(source), "-o", str(new)], check=True)
        source.unlink()
        new.replace(library)
    return library
