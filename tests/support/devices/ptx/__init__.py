"""An emulator of PTX: runs what NVRTC emits for a CUDA kernel, on NumPy arrays, without a GPU.

    module = Module(Path("trainer/kernels/actions/cuda.cu"), "sm_90", headers=[...])
    memory = Memory()                                # the live allocations, by address
    memory.add(address, data)                        # data: a uint8 array; or memory.add_array(array)
    module.kernel("sample")(grid, block, args, shared_bytes=0, memory=memory)

grid and block are tuples of 1 to 3 numbers and args the list of NumPy scalars that CuPy gets (`bridge.nvrtc.arguments`), so a
pointer is an np.uint64. `memory` is any object with `find(address) -> Allocation | None`: the live allocation with this byte.
A call returns when the kernel has ended. It raises Fault for an access outside a live allocation or not aligned, a race, a
read of memory that was never written, or a barrier that not all threads reach.

`EmulatedModule` (launch.py) stands in for `bridge.nvrtc.CudaModule`: the functions of the files cuda.py in trainer/kernels and
CartPoleKernel run on it with CPU tensors.
"""

from ptx.faults import Fault, UnknownInstruction
from ptx.kernel import Kernel, Module
from ptx.launch import EmulatedModule
from ptx.memory import Allocation, Memory

__all__ = ["Allocation", "EmulatedModule", "Fault", "Kernel", "Memory", "Module", "UnknownInstruction"]
