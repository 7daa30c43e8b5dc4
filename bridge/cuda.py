"""The GPU: page-locked host memory, non-blocking streams, and work captured as CUDA graphs.

CuPy allocates the page-locked memory and the streams, and makes the copies. Torch owns the device's memory and runs on the same
streams. A non-blocking stream does not wait for the legacy default stream, on which the learner works: `wait_for_caller` and
`make_caller_wait` order the two.
"""

import contextlib
import ctypes
import functools
import gc
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
import torch
from cupy.cuda import runtime

from bridge.errors import DeviceError
from bridge.interfaces import DriverCalls

HIGH_PRIORITY = -1  # of a stream; lower numbers run first, and 0 is the lowest priority
_refused: list[torch.cuda.CUDAGraph] = []  # kept: torch's allocator of host memory still calls them
# A warning of torch's thread for gradients in trainings from pictures: torch then sets the context itself.
HARMLESS = "Attempting to run cuBLAS, but there was no current CUDA context"
_threads = threading.local()  # their current GPU, as this module has set it


def is_page_locked(array: npt.NDArray[Any]) -> bool:
    """Return True if an array is in page-locked memory."""
    return bool(runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost)


def page_locked(size: int) -> npt.NDArray[np.uint8]:
    """Return (size,) uint8 of zeros in page-locked memory. Raises DeviceError if the system has too little of it."""
    try:
        memory = cupy.cuda.alloc_pinned_memory(size)
    except (runtime.CUDARuntimeError, MemoryError) as error:
        raise DeviceError(f"cannot allocate {size:,} bytes of page-locked memory ({error}): use fewer environments "
                          "(num_envs), or free memory of the host; a container's limit counts this memory") from error
    array = np.frombuffer(memory, np.uint8, size)
    array[:] = 0
    return array


class UnifiedAddress:
    """Page-locked memory by CUDA's array interface: in the unified address space kernels have the host's address for it."""

    def __init__(self, host_bytes: npt.NDArray[np.uint8]) -> None:
        self._host_bytes = host_bytes  # a tensor made of this object keeps it

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self._host_bytes.shape, "typestr": "|u1", "data": (self._host_bytes.ctypes.data, False), "version": 3}


class CudaDevice:
    """One GPU.

    index: its number, which a torch.device would cut to 8 bits; None: torch's current GPU.

    Raises DeviceError if there is no such GPU.
    """

    def __init__(self, index: int | None) -> None:
        count = torch.cuda.device_count()
        if index is not None and index >= count:
            gpus = "cuda:0, the only GPU here" if count == 1 else f"one of the {count} GPUs here, cuda:0 to cuda:{count - 1}"
            raise DeviceError(f"device must be {gpus}, not 'cuda:{index}'")
        self.torch_device = torch.device("cuda", torch.cuda.current_device() if index is None else index)
        torch.cuda.set_device(self.torch_device)
        runtime.setDevice(self.torch_device.index)
        warnings.filterwarnings("ignore", HARMLESS, UserWarning)

    def host_bytes(self, size: int) -> npt.NDArray[np.uint8]:
        """Return (size,) uint8 of zeros in page-locked memory. Raises DeviceError if the system has too little of it."""
        return page_locked(size)

    def device_bytes(self, host_bytes: npt.NDArray[np.uint8]) -> torch.Tensor:
        """Return the device's memory for a copy of `host_bytes`: (size,) uint8. Raises DeviceError if there is too little."""
        try:
            return torch.zeros(host_bytes.size, dtype=torch.uint8, device=self.torch_device)
        except torch.OutOfMemoryError as error:
            raise DeviceError(f"the GPU has no {host_bytes.size:,} bytes left: use fewer environments (num_envs)") from error

    def shared_bytes(self, host_bytes: npt.NDArray[np.uint8]) -> torch.Tensor | None:
        """Return page-locked memory as a tensor of this GPU, (size,) uint8: its kernels use the memory over the bus.

        None where torch makes a copy, as for the memory of another GPU's context.
        """
        shared = torch.as_tensor(UnifiedAddress(host_bytes), device=self.torch_device)
        return shared if shared.data_ptr() == host_bytes.ctypes.data else None

    def stream(self, *, high_priority: bool = False) -> "CudaStream":
        """Make a new stream. With high_priority, its kernels run before waiting kernels of other streams."""
        return CudaStream(self.torch_device, HIGH_PRIORITY if high_priority else 0)


@functools.cache
def driver_functions() -> tuple[int, int, int]:
    """Return the addresses of cuGraphLaunch, cuEventRecord and cuEventSynchronize.

    They take the runtime's graphs, streams and events: the two interfaces share these types.
    """
    driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    launch, record, wait = (ctypes.cast(getattr(driver, name), ctypes.c_void_p).value or 0
                            for name in ("cuGraphLaunch", "cuEventRecord", "cuEventSynchronize"))
    return launch, record, wait


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python's collector from running: an old graph that it frees in a capture on the same thread ends that capture.

    Torch collects before a capture only up to 2.8.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class CudaStream:
    """A CUDA stream, used by CuPy and torch. See HostStream for the interface.

    captures: False, for all streams of the process, after a capture has failed.
    """

    captures = copies = True

    def __init__(self, device: torch.device, priority: int = 0) -> None:
        self.device = device
        self._cupy = cupy.cuda.Stream(non_blocking=True, priority=priority)
        self._torch = torch.cuda.ExternalStream(self._cupy.ptr, device=device)
        self._event = cupy.cuda.Event(disable_timing=True)

    @property
    def pointer(self) -> int:
        """The address of the cudaStream_t."""
        return int(self._cupy.ptr)

    def host_bytes(self, size: int) -> npt.NDArray[np.uint8]:
        """Return (size,) uint8 of zeros for `upload` and `download`, which do not wait for copies of such memory."""
        return page_locked(size)

    def upload(self, device_bytes: torch.Tensor, host_bytes: npt.NDArray[np.uint8]) -> None:
        """Queue a copy to the device."""
        runtime.memcpyAsync(device_bytes.data_ptr(), host_bytes.ctypes.data, host_bytes.nbytes, runtime.memcpyHostToDevice,
                            self._cupy.ptr)

    def download(self, host_bytes: npt.NDArray[np.uint8], device_bytes: torch.Tensor) -> None:
        """Queue a copy to the host."""
        runtime.memcpyAsync(host_bytes.ctypes.data, device_bytes.data_ptr(), host_bytes.nbytes, runtime.memcpyDeviceToHost,
                            self._cupy.ptr)

    def run(self, work: Callable[[], None]) -> None:
        """Call `work`; its torch operations go to this stream."""
        with torch.cuda.stream(self._torch):
            work()

    def capture(self, work: Callable[[], None]) -> "Replay":
        """Capture the operations that `work` queues as a graph, and return a function that replays it. Does not run them.

        The graph reads and writes the same memory at each replay. It has its own memory pool, since graphs of different
        streams run at the same time.

        After an error no stream of this process captures any more. Torch (2.13) leaves its state behind: `graph.__exit__`
        ends an invalid capture before it restores the current stream, and the error keeps it from ending the pool. The
        device's generator of random numbers stays in capture, too.
        """
        graph, pool, done = torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle(), False
        try:
            with no_collection(), torch.cuda.stream(self._torch), \
                    torch.cuda.graph(graph, pool=pool, stream=self._torch, capture_error_mode="thread_local"):
                work()
            done = True
        finally:
            if not done:
                self._abandon(graph, pool)

        return Replay(graph, self)

    def driver_calls(self, replay: Callable[[], None]) -> DriverCalls | None:
        """Return the driver's functions, and their arguments, that launch `replay` and mark and wait as this stream does.

        None if it must be called: it is no captured graph, or its graph draws random numbers of torch.
        """
        if not isinstance(replay, Replay) or not replay.direct:
            return None
        return DriverCalls(*driver_functions(), replay.address, self.pointer, int(self._event.ptr))

    def _abandon(self, graph: torch.cuda.CUDAGraph, pool: tuple[int, int]) -> None:
        """Clean up after a failed capture of `graph`, whose memory came from `pool`."""
        CudaStream.captures = False
        graph.reset()
        _refused.append(graph)
        with contextlib.suppress(RuntimeError):  # torch has ended the pool, if the capture was valid
            torch._C._cuda_endAllocateToPool(self.device.index, pool)
            torch._C._cuda_releasePool(self.device.index, pool)
        for generator in torch.cuda.default_generators:  # a copy of its state is in no capture
            generator.graphsafe_set_state(generator.clone_state())

    def mark(self) -> None:
        """Record the stream's event."""
        self._event.record(self._cupy)

    def wait(self) -> None:
        """Wait for the stream's event. Raises the error of any work before it. Any thread may call it."""
        self.enter()
        self._event.synchronize()

    def enter(self) -> None:
        """Make this GPU the calling thread's current device. A new thread has GPU 0, and a wait would make a context there."""
        if getattr(_threads, "gpu", None) != self.device.index:
            runtime.setDevice(self.device.index)
            _threads.gpu = self.device.index

    def wait_for_caller(self) -> None:
        """Make this stream wait for the work on torch's current stream."""
        self._torch.wait_stream(torch.cuda.current_stream(self.device))

    def make_caller_wait(self) -> None:
        """Make torch's current stream wait for the work on this stream."""
        torch.cuda.current_stream(self.device).wait_stream(self._torch)


class Replay:
    """A captured graph; a call queues it on its stream.

    direct: it is launched as it is. A graph that draws random numbers of torch is launched by torch, which tells it before
        each launch where the numbers begin; the first launch, always torch's, shows whether it does.
    address: of the cudaGraphExec_t; 0 if it is not known, and torch launches the graph.
    """

    def __init__(self, graph: torch.cuda.CUDAGraph, stream: CudaStream) -> None:
        self._graph, self._stream = graph, stream
        known = getattr(graph, "raw_cuda_graph_exec", None)  # an older torch has none
        self.address, self.direct, self._launched = int(known()) if known else 0, False, False

    def __call__(self) -> None:
        if self.direct:
            runtime.graphLaunch(self.address, self._stream.pointer)
        elif self._launched:
            self._stream.run(self._graph.replay)
        else:
            self._first()

    def _first(self) -> None:
        numbers = torch.cuda.default_generators[self._stream.device.index]
        before = numbers.get_offset()
        self._stream.run(self._graph.replay)
        self._launched, self.direct = True, self.address != 0 and numbers.get_offset() == before
