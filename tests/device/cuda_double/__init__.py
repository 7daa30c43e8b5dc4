"""A CUDA device without a GPU: the host code runs on it unchanged, bridge/cuda.py included, and its mistakes are errors.

Work is done when it is queued, in the order in which the host queues it. That is one of the orders that a GPU may choose. The
results therefore do not depend on time, and they are right even if a wait is missing. The missing wait is found by vector
clocks: two accesses to the same byte, one of them a write, must be ordered by a stream, an event or a wait of the host.
"""

from cuda_double.machine import Machine
from cuda_double.ordering import DeviceFault

__all__ = ["DeviceFault", "Machine"]
