"""The parts of CuPy and torch.cuda that bridge/ and trainer/ call, for a machine."""

import contextlib
import ctypes
from types import ModuleType, SimpleNamespace

import torch

from cuda_double.graphs import Graph
from cuda_double.machine import MULTIPROCESSORS, Event, Machine, Stream, Work
from cuda_double.ordering import DeviceFault

TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind


class CUDARuntimeError(RuntimeError):
    pass


def cupy_of(machine: Machine) -> ModuleType:
    """A module with the interface of CuPy."""
    class CupyStream:
        def __init__(self, non_blocking: bool, priority: int = 0):
            if not non_blocking:
                raise DeviceFault("a stream that waits for the default stream is not modelled: use non_blocking=True")
            self.ptr = machine.new_stream(priority).number

    class CupyEvent:
        def __init__(self, disable_timing: bool):
            self.event, self.gpu, self.ptr = Event(), machine.gpu, len(machine.events) + 1
            machine.events[self.ptr] = self.event

        def record(self, stream: CupyStream):
            machine.record(self.event, machine.streams[stream.ptr])

        def synchronize(self):
            if machine.gpu != self.gpu:
                raise DeviceFault(f"a thread whose current device is GPU {machine.gpu} waits for an event of GPU {self.gpu}: "
                                  "CUDA makes a context on both")
            machine.synchronize(self.event, "wait for an event")

    def alloc_pinned_memory(size: int) -> ctypes.Array:
        if size > machine.pinned.size:
            raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")
        owner = machine.pinned.allocate(size, 0, None, f"{size} page-locked bytes")
        kind = type("PinnedMemory", (ctypes.c_uint8 * size,), {})  # a class of its own: its instances have attributes
        memory = kind.from_address(machine.pinned.address + owner.allocation.offset)
        memory.owner = owner
        return memory

    def copy(to: int, source: int, size: int, kind: int, stream: int):
        to_host = kind == TO_HOST
        host, on_device = (to, source) if to_host else (source, to)
        offset, region = host - machine.pinned.address, machine.region(on_device, size)
        direction, pinned, on = "to host" if to_host else "to device", machine.pinned.holds(host), machine.streams[stream]

        def run(machine, access):
            if pinned:
                machine.transfers.begin(to_host, region.tensor.numpy(), offset, access)
            else:
                ctypes.memmove(to, source, size)
        if not pinned:
            machine.refuse_in_capture(on, f"a copy {direction} of memory that is not page-locked")
        machine.queue(Work(f"copy {direction}", "copy", run, **{"reads" if to_host else "writes": [region]},
                           facts={"bytes": size, "direction": direction, "pinned": pinned}), on)
        if not pinned:  # then the call itself waits
            machine.synchronize_stream(on, f"copy {direction}")

    module, module.cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    module.cuda.runtime = SimpleNamespace(
        setDevice=machine.set_gpu, getDeviceCount=lambda: 1, memcpyAsync=copy, memcpyHostToDevice=TO_DEVICE,
        memcpyDeviceToHost=TO_HOST, CUDARuntimeError=CUDARuntimeError, driverGetVersion=lambda: 12080,
        graphLaunch=lambda graph, stream: machine.launchable[graph].replay(machine.streams[stream]),
        memoryTypeHost=1, pointerGetAttributes=lambda address: SimpleNamespace(type=int(machine.pinned.holds(address))))
    module.cuda.alloc_pinned_memory, module.cuda.Stream, module.cuda.Event = alloc_pinned_memory, CupyStream, CupyEvent
    return module


class TorchStream:
    """torch.cuda.Stream."""

    def __init__(self, machine: Machine, stream: Stream):
        self.machine, self.stream, self.cuda_stream = machine, stream, stream.number

    def wait_stream(self, other: "TorchStream"):
        event = Event()
        self.machine.record(event, other.stream)
        self.machine.wait(self.stream, event)

    def synchronize(self):
        self.machine.synchronize_stream(self.stream, "wait for a stream")


class Generator:
    """A generator of torch's random numbers on the device. capturing: a capture that was refused has left it so."""

    def __init__(self, offset: int = 0):
        self.offset, self.capturing = offset, False

    def get_offset(self) -> int:
        if self.capturing:
            raise RuntimeError("the generator is in a capture")
        return self.offset

    def clone_state(self) -> "Generator":
        return Generator(self.offset)

    def graphsafe_set_state(self, state: "Generator"):
        self.offset, self.capturing = state.offset, state.capturing


def torch_cuda(machine: Machine, gpus: int) -> dict[str, object]:
    """The functions and classes of torch.cuda by name. gpus: their number; all are the same machine."""
    class TorchEvent:
        """torch.cuda.Event. The device does its work in no time: each piece between two events takes a millisecond."""

        def __init__(self, enable_timing: bool = False):
            self.event = Event()

        def record(self):
            machine.record(self.event, machine.stream)

        def synchronize(self):
            machine.synchronize(self.event, "wait for an event")

        def elapsed_time(self, end) -> float:
            return 1.0

    class CUDAGraph:
        def __init__(self):
            self.graph = Graph(machine)

        def raw_cuda_graph_exec(self) -> int:
            machine.launchable[self.graph.number + 1] = self.graph
            return self.graph.number + 1

        def replay(self):
            generator.offset += 4 * self.graph.draws
            self.graph.replay(machine.stream)

        def reset(self):
            self.graph.complete = False

        def __del__(self):
            machine.launchable.pop(self.graph.number + 1, None)
            self.graph.drop()

    @contextlib.contextmanager
    def graph(cuda_graph: CUDAGraph, pool: tuple[int, int] | None = None, stream: TorchStream | None = None,
              capture_error_mode: str = "global"):
        on = machine.new_stream() if stream is None else stream.stream
        key = pool or (cuda_graph.graph.number + 1, 0)
        before, machine.current.stream = machine.stream, on
        cuda_graph.graph.begin(on)
        machine.pools.add(key)
        try:
            yield
        finally:  # as torch 2.13: a refused capture raises here, before the pool is ended and the stream restored
            generator.capturing = cuda_graph.graph.broken
            cuda_graph.graph.end(on)
            machine.pools.remove(key)
            machine.current.stream = before

    generator = Generator()
    properties = SimpleNamespace(multi_processor_count=MULTIPROCESSORS)
    return {"default_generators": (generator,) * gpus,
            "_lazy_init": lambda: None, "is_available": lambda: True, "device_count": lambda: gpus, "current_device": lambda: 0,
            "set_device": lambda device: machine.set_gpu(torch.device(device).index),
            "get_device_capability": lambda device=None: (9, 0),
            "get_device_name": lambda device=None: "a device without a GPU",
            "get_device_properties": lambda device=None: properties,
            "ExternalStream": lambda pointer, device=None: TorchStream(machine, machine.streams[pointer]),
            "current_stream": lambda device=None: TorchStream(machine, machine.stream),
            "stream": lambda stream: machine.on(stream.stream),
            "synchronize": lambda device=None: machine.synchronize_all("torch.cuda.synchronize"),
            "is_current_stream_capturing": lambda: machine.stream.graph is not None,
            "memory_reserved": lambda device=None: machine.device.reserved,
            "graph_pool_handle": lambda: (0, machine.graphs + 1),
            "Event": TorchEvent, "CUDAGraph": CUDAGraph, "graph": graph}


def torch_c(machine: Machine) -> dict[str, object]:
    """Functions of torch._C by name."""
    def end_allocate(device: int, pool: tuple[int, int]):
        if pool not in machine.pools:
            raise RuntimeError("endAllocatePool: not currently recording to mempool_id")
        machine.pools.remove(pool)
    return {"_cuda_endAllocateToPool": end_allocate, "_cuda_releasePool": lambda device, pool: None}
