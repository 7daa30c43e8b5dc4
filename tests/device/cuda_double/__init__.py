"""A CUDA device without a GPU: the host code runs on it unchanged, bridge/cuda.py included, and its mistakes are errors.

    machine.py     streams, events, the host's threads, and queued work
    memory.py      the device's memory and the page-locked memory: addresses, allocations, pools
    ordering.py    vector clocks: the accesses to each byte, and whether they are ordered
    graphs.py      captured work, replayed on the captured addresses
    transfers.py   copies between page-locked memory and the device
    schedule.py    the list of all operations, and their counts
    tensors.py     tensors on the device
    kernels.py     launches of the kernels in .cu files
    host.py        the games' accesses to page-locked memory
    api.py         the parts of CuPy and torch.cuda that bridge/ and trainer/ call
    install.py     puts all this in the place of CuPy and torch.cuda

Work is done when it is queued, in the order in which the host queues it. That is one of the orders that a GPU may choose. The
results therefore do not depend on time, and they are right even if a wait is missing. The missing wait is found by vector
clocks: two accesses to the same byte, one of them a write, must be ordered by a stream, an event or a wait of the host.
"""

from cuda_double.machine import Machine
from cuda_double.ordering import DeviceFault

__all__ = ["DeviceFault", "Machine"]
