"""The GPU: page-locked host memory, one non-blocking stream a stream, and its work as captured graphs.

CuPy owns the pinned memory and the streams, and makes the copies; torch owns the device's memory for its whole life and is
handed the streams, so that both order their work in the same one. A stream of its own kind ("non_blocking") does not wait
for the legacy default stream; what the learner does there is ordered by `follow` and `lead`.
"""

from collections.abc import Callable

import cupy
import numpy as np
import torch
from cupy.cuda import runtime

from bridge.errors import DeviceError


class CudaDevice:
    """One GPU."""

    def __init__(self, device: torch.device):
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise DeviceError(f"device is '{device}'; there {'is one GPU' if count == 1 else f'are {count} GPUs'} here, "
                              f"cuda:0 to cuda:{count - 1}")
        self.torch_device = torch.device("cuda", torch.cuda.current_device() if device.index is None else device.index)
        torch.cuda.set_device(self.torch_device)
        runtime.setDevice(self.torch_device.index)

    def host_bytes(self, size: int) -> np.ndarray:
        """(size,) uint8 of page-locked zeros. Raises DeviceError where the system gives none."""
        try:
            memory = cupy.cuda.alloc_pinned_memory(size)
        except (runtime.CUDARuntimeError, MemoryError) as error:
            raise DeviceError(f"the system gives no {size:,} bytes of page-locked memory ({error}): play fewer environments "
                              "(num_envs), or raise its limit (ulimit -l, or the container's)") from error
        array = np.frombuffer(memory, np.uint8, size)
        array[:] = 0
        return array

    def device_bytes(self, host: np.ndarray) -> torch.Tensor:
        """The device's memory for what `host` holds: (size,) uint8."""
        try:
            return torch.zeros(host.size, dtype=torch.uint8, device=self.torch_device)
        except torch.OutOfMemoryError as error:
            raise DeviceError(f"the GPU has no {host.size:,} bytes left: play fewer environments (num_envs)") from error

    def stream(self) -> "CudaStream":
        """A new stream: a stream."""
        return CudaStream(self.torch_device)


class CudaStream:
    """A stream, known to CuPy and to torch."""

    captures = copies = True

    def __init__(self, device: torch.device):
        self._device = device
        self._cupy = cupy.cuda.Stream(non_blocking=True)
        self._torch = torch.cuda.ExternalStream(self._cupy.ptr, device=device)
        self._event = cupy.cuda.Event(disable_timing=True)

    def upload(self, twin: torch.Tensor, host: np.ndarray):
        """Copy host bytes to their twin."""
        runtime.memcpyAsync(twin.data_ptr(), host.ctypes.data, host.nbytes, runtime.memcpyHostToDevice, self._cupy.ptr)

    def download(self, host: np.ndarray, twin: torch.Tensor):
        """Copy a twin's bytes to the host."""
        runtime.memcpyAsync(host.ctypes.data, twin.data_ptr(), host.nbytes, runtime.memcpyDeviceToHost, self._cupy.ptr)

    def run(self, work: Callable[[], None]):
        """Hand `work`'s torch calls to this stream."""
        with torch.cuda.stream(self._torch):
            work()

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """A graph of what `work` hands to this stream, replayed on it by one call. Nothing is done yet.

        The graph reads and writes the same memory at each replay; it has a pool of its own, as streams' graphs overlap.
        """
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self._torch, capture_error_mode="thread_local"):
            work()

        def replay():
            with torch.cuda.stream(self._torch):
                graph.replay()
        return replay

    def mark(self):
        """Note this place in the stream."""
        self._event.record(self._cupy)

    def wait(self):
        """Wait until the stream has come to its last mark; raises what went wrong before it."""
        self._event.synchronize()

    def wait_for_caller(self):
        """What is handed over from now on happens after what torch's current stream was handed before."""
        self._torch.wait_stream(torch.cuda.current_stream(self._device))

    def make_caller_wait(self):
        """Torch's current stream goes on after what was handed to this one before."""
        torch.cuda.current_stream(self._device).wait_stream(self._torch)
