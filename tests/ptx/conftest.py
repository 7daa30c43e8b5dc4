"""Fixtures: hand-written kernels on the emulator, and the architectures that all of our own are tested on."""

import functools

import numpy as np
import pytest
from ptx_runs import ARCHITECTURES


@pytest.fixture
def launch():
    """A function that compiles a source and runs its kernel `k`.

    source: CUDA.
    values: the arguments: arrays, each an allocation of its own, or NumPy scalars.
    grid, block: threads.
    shared: bytes of dynamic shared memory.
    unwritten: arrays of `values` that count as never written.
    """
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    from ptx import Memory

    def run(source: str, *values, grid=(1,), block=(32,), shared=0, unwritten=(), arch="sm_90"):
        memory, args = Memory(), []
        for value in values:
            if isinstance(value, np.ndarray):
                fresh = any(value is array for array in unwritten)
                value = memory.add_array(value, np.zeros(value.nbytes, bool) if fresh else None)
            args.append(value)
        compiled(source, arch).kernel("k")(grid, block, args, shared, memory)
    return run


@pytest.fixture(params=ARCHITECTURES)
def arch(request):
    """The name of an architecture that the installed NVRTC compiles for."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    from ptx.compiler import architectures
    if request.param not in architectures():
        pytest.skip(f"this NVRTC does not compile for {request.param}")
    return request.param


@functools.cache
def compiled(source: str, arch: str):
    """The module of a source, compiled once."""
    from ptx import Module
    return Module(source, arch)
