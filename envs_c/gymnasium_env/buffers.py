"""The memory of observations: it begins at a multiple of 64 bytes, so that other libraries can use it without a copy.

NumPy arrays export themselves by `__dlpack__`. torch takes any address; JAX copies an array with another address.
"""

import numpy as np

ALIGNMENT = 64  # bytes


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """An array of zeros, like `np.zeros`, at a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start: start + size].view(dtype).reshape(shape)
