"""CUDA sources: compiled at run time by NVRTC, and launched by CuPy on torch's current stream.

A kernel is an `extern "C" __global__` function with a grid-stride loop, so any number of blocks handles all items. Its
arguments are `long long`, `float` or pointers. The tests compile the same file with a C++ compiler and run it without a GPU.
Compiling for a GPU does not need one either.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bridge.errors import DeviceError
from envs_c import install

BLOCK = 128  # threads per block
WAVES = 32   # most blocks per multiprocessor in a launch; the kernel's loop handles the other items
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
OPTIONS = ("-std=c++17", "--fmad=false")  # products are not contracted with sums, as in the games on the CPU
# NVRTC has no C library. The kernels' headers need only these types of it.
STDINT = b"""typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;"""


def arguments(values: Sequence[Any]) -> list[Any]:
    """Pack a kernel's arguments: a tensor as its address (None as 0), an int as int64, a float as float32."""
    packed: list[Any] = []
    for value in values:
        if value is None:
            packed.append(np.uint64(0))
        elif hasattr(value, "data_ptr"):
            packed.append(np.uint64(value.data_ptr()))
        elif isinstance(value, np.generic):
            packed.append(value)
        else:
            packed.append(np.float32(value) if isinstance(value, float) else np.int64(value))
    return packed


class CudaModule:
    """The kernels of one .cu file, compiled for the current GPU at its first launch.

    path: the .cu file.
    headers: the files it includes, by name without a folder.
    """

    def __init__(self, path: Path, headers: Sequence[Path] = ()) -> None:
        self.path, self.headers = path, headers

    def compile(self, arch: str) -> bytes:
        """Return the cubin for an architecture such as "sm_90". Raises DeviceError with NVRTC's log if it does not compile."""
        cubin: bytes = self._compile(f"-arch={arch}", arch, "getCUBIN")
        return cubin

    def report(self, arch: str) -> str:
        """Return the registers, stack and spills of each kernel, as NVRTC's assembler prints them. Raises as `compile`."""
        log: str = self._compile(f"-arch={arch}", arch, "getProgramLog", "--ptxas-options=-v")
        return log

    def image(self, capability: str) -> bytes:
        """Return what a GPU loads: a cubin, or PTX if the GPU is newer than NVRTC. Its driver then compiles the PTX.

        capability: the GPU's compute capability without its point, such as "90".
        Raises DeviceError if the source does not compile, or the GPU is too old.
        """
        known = _nvrtc().getSupportedArchs()
        if int(capability) in known:
            return self.compile(f"sm_{capability}")
        older = [one for one in known if one < int(capability)]
        if not older:
            raise DeviceError(f"the GPU has compute capability {capability[:-1]}.{capability[-1]}, and NVRTC {version()} "
                              f"compiles for {min(known) // 10}.{min(known) % 10} and higher: {install.hint('cuda12')}")
        text: bytes = self._compile(f"-arch=compute_{max(older)}", f"compute_{max(older)}", "getPTX")
        return text

    def _compile(self, option: str, target: str, result: str, *options: str) -> Any:
        nvrtc = _nvrtc()
        sources = [*(header.read_bytes() for header in self.headers), STDINT]
        names = [*(header.name.encode() for header in self.headers), b"stdint.h"]
        program = nvrtc.createProgram(self.path.read_text(encoding="utf-8"), self.path.name, sources, names)
        try:
            nvrtc.compileProgram(program, (option, *OPTIONS, *options))
            return getattr(nvrtc, result)(program)
        except nvrtc.NVRTCError as error:
            raise DeviceError(f"{self.path.name} does not compile for {target}:\n{nvrtc.getProgramLog(program)}") from error
        finally:
            nvrtc.destroyProgram(program)

    @functools.cache  # noqa: B019  (modules live as long as the process)
    def _module(self, gpu: int) -> Any:
        import cupy
        module, image = cupy.cuda.function.Module(), self.image(cupy.cuda.Device(gpu).compute_capability)
        try:
            module.load(image)
        except RuntimeError as error:
            self._check_memory(error)
            raise
        return module

    def _check_memory(self, error: RuntimeError) -> None:
        """Raise DeviceError if an error of the driver says that the GPU is full: a kernel's first launch sets memory aside."""
        if getattr(error, "status", None) == OUT_OF_MEMORY:
            raise DeviceError(f"the GPU has no memory left for the kernels of {self.path.name}: use fewer environments "
                              "(num_envs), or end other programs on the GPU") from error

    @functools.cache  # noqa: B019
    def _function(self, name: str, gpu: int) -> Any:
        return self._module(gpu).get_function(name)

    def function(self, name: str) -> Any:
        """Return the kernel with this name, for torch's current GPU."""
        import torch
        _nvrtc()
        return self._function(name, torch.cuda.current_device())

    def launch(self, name: str, items: int, *values: Any, block: int = BLOCK) -> None:
        """Launch a kernel on torch's current stream.

        name: of the kernel.
        items: number of items to handle.
        values: the kernel's arguments, as for `arguments`.
        block: threads per block.

        Raises DeviceError if the kernel does not compile, or the GPU has no memory for it, and CuPy's CUDADriverError.
        """
        import torch
        grid = max(1, min(-(-items // block), WAVES * _multiprocessors(torch.cuda.current_device())))
        stream = TorchStream(torch.cuda.current_stream().cuda_stream)
        try:
            self.function(name)((grid,), (block,), tuple(arguments(values)), 0, stream)
        except RuntimeError as error:
            self._check_memory(error)
            raise


class TorchStream(NamedTuple):
    """A stream of torch, as CuPy's kernels take it."""

    ptr: int  # the address of the cudaStream_t


@functools.cache
def _multiprocessors(gpu: int) -> int:
    import torch
    return int(torch.cuda.get_device_properties(gpu).multi_processor_count)


def cuda_extra() -> str:
    """Return the extra of this package with the CuPy for torch's version of CUDA: "cuda12" or "cuda" (13)."""
    import torch
    return "cuda12" if (torch.version.cuda or "").startswith("12.") else "cuda"


def version() -> str:
    """Return NVRTC's version, such as "13.0". Raises DeviceError if it cannot be loaded."""
    return ".".join(map(str, _nvrtc().getVersion()))


def _nvrtc() -> Any:
    try:
        from cupy.cuda import nvrtc
        nvrtc.getVersion()
    except (ImportError, RuntimeError) as error:
        raise DeviceError(f"CuPy with NVRTC cannot be loaded ({error}): {install.hint(cuda_extra())}") from None
    return nvrtc
