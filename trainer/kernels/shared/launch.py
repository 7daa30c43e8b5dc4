"""What the launches of the CUDA kernels share.

A file cuda.py has a function for each kernel of its cuda.cu: it launches the kernel on torch's current stream, without waiting
for it. The functions take torch tensors, first the inputs, then the outputs, like those of cpu.pyx. Their callers have checked
them.
"""

from pathlib import Path

import torch

from bridge.nvrtc import CudaModule

SHARED = Path(__file__).parent
NAMES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.uint8: "u8"}
WARP = 32  # threads of a block if each thread has a whole row: few rows then still use all multiprocessors


def cuda_module(path: Path, *headers: Path) -> CudaModule:
    """The kernels of a .cu file. headers: those that it includes beside the shared ones."""
    return CudaModule(path, [*(SHARED / f"{name}.h" for name in ("rows", "distributions", "threads")), *headers])


def counter_arguments(number) -> tuple:
    """A kernel's two arguments for a counter: its address in device memory or None, and its value."""
    return (number, 0) if isinstance(number, torch.Tensor) else (None, number)
