"""The device: streams, events, threads of the host, and the work that they queue."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from cuda_double.memory import Allocation, Memory
from cuda_double.ordering import Access, DeviceFault, new_clock
from cuda_double.schedule import Schedule
from cuda_double.transfers import Transfers

DEVICE_BYTES, PINNED_BYTES = 48 << 20, 8 << 20
MULTIPROCESSORS = 4


@dataclass(slots=True)
class Region:
    """A tensor's memory as queued work uses it. It does not keep the memory: neither does a launch on a GPU."""

    tensor: torch.Tensor  # of the host, in the device's memory
    allocation: Allocation

    @property
    def bytes(self) -> int:
        """Bytes of its elements; each counts once, also if the tensor repeats it."""
        sizes = (size for size, stride in zip(self.tensor.shape, self.tensor.stride(), strict=True) if stride)
        return int(np.prod([*sizes, self.tensor.element_size()])) if self.tensor.numel() else 0

    def __str__(self) -> str:
        return f"{tuple(self.tensor.shape)} {str(self.tensor.dtype).removeprefix('torch.')} of {self.allocation.asked}"


@dataclass(slots=True)
class Work:
    """One operation: `run` does it on the memory of the regions; None if it is done already."""

    name: str
    kind: str = "kernel"
    run: Callable[["Machine", Access], None] | None = None
    reads: list[Region] = field(default_factory=list)
    writes: list[Region] = field(default_factory=list)
    facts: dict = field(default_factory=dict)
    partial: bool = False  # it may write only some bytes of `writes`; `run` keeps account


class Timeline:
    """An actor with a clock: a stream or a thread of the host."""

    def __init__(self, actor: int, number: int):
        self.actor, self.number, self.clock = actor, number, new_clock()
        self.after: set[int] = set()  # operations that the next one waits for

    def tick(self, *others: "Timeline") -> int:
        """Begin the next epoch, after what `others` know to be finished. Returns the epoch."""
        for other in others:
            np.maximum(self.clock, other.clock, out=self.clock)
        self.clock[self.actor] += 1
        return int(self.clock[self.actor])


class Stream(Timeline):
    """A stream. graph: the graph that is being captured on it, if any."""

    graph = None

    def __init__(self, actor: int, number: int, priority: int = 0):
        super().__init__(actor, number)
        self.priority = priority  # lower numbers run first
        self.dropped = 0  # captured graphs that are no more


class Event:
    """A mark in a stream; new events are in the past."""

    def __init__(self):
        self.clock, self.after = new_clock(), set()


class Machine:
    """One device and the threads of the host that use it.

    faults: the DeviceFaults raised so far, also those that somebody caught.
    pools: the memory pools to which a capture allocates.
    refused: a capture was refused; torch's state is then not what it was.
    launchable, events: graphs and CuPy's events by their addresses.
    players: for each event that a batch waits for, the batch (host.py).
    """

    def __init__(self, device_bytes: int = DEVICE_BYTES):
        self.names: dict[tuple[int, int], str] = {}
        self.device = Memory("device's memory", device_bytes, self.names)
        self.pinned = Memory("page-locked memory", PINNED_BYTES, self.names)
        self.schedule, self.transfers = Schedule(), Transfers(self)
        self.faults: list[DeviceFault] = []
        self.lock = threading.RLock()
        self.actors, self.hosts = 0, {}
        self.streams: list[Stream] = []
        self.graphs, self.refused = 0, False
        self.pools: set[tuple[int, int]] = set()
        self.launchable, self.events, self.players = {}, {}, {}
        self.current = threading.local()
        self.new_stream()  # the default stream

    # Streams and threads

    def new_stream(self, priority: int = 0) -> Stream:
        with self.lock:
            self.streams.append(Stream(self._actor(), len(self.streams), priority))
            return self.streams[-1]

    @property
    def gpu(self) -> int:
        """The number of this thread's current GPU: 0 in a new thread."""
        return getattr(self.current, "gpu", 0)

    def set_gpu(self, number: int):
        """Set this thread's current GPU."""
        self.current.gpu = number

    def _actor(self) -> int:
        self.actors += 1
        return self.actors - 1

    @property
    def stream(self) -> Stream:
        """The current stream of this thread."""
        return getattr(self.current, "stream", self.streams[0])

    @contextlib.contextmanager
    def on(self, stream: Stream) -> Iterator[None]:
        """A context in which `stream` is the current stream of this thread."""
        before, self.current.stream = self.stream, stream
        try:
            yield
        finally:
            self.current.stream = before

    @property
    def host(self) -> Timeline:
        """The timeline of this thread."""
        with self.lock:
            key = threading.get_ident()
            if key not in self.hosts:
                self.hosts[key] = Timeline(self._actor(), len(self.hosts))
            return self.hosts[key]

    # Work

    def queue(self, work: Work, stream: Stream | None = None):
        """Queue work on a stream, the current one by default. A stream that captures only records it."""
        with self.lock:
            stream = stream or self.stream
            if stream.graph is not None:
                stream.graph.add(work)
            else:
                self.perform(work, stream)

    def perform(self, work: Work, stream: Stream, graph: int | None = None):
        """Do queued work, after a check that its accesses are ordered."""
        with self.lock:
            epoch = stream.tick(self.host)
            where = "the default stream" if stream.number == 0 else f"stream {stream.number}"
            name = self.names[stream.actor, epoch] = f"{work.name} on {where}"
            access = Access(stream.actor, epoch, stream.clock, name)
            with self.noted():
                for region in work.reads:
                    self._read(region, access)
                for region in work.writes:
                    self._write(region, access, work)
                if work.kind != "copy":
                    used = [*work.reads, *work.writes]
                    work.facts["shared"] = sum(region.bytes for region in self._shared(used))
                    work.facts["bytes"] = sum(region.bytes for region in used) - work.facts["shared"]
                    for region in self._shared(used):
                        self.transfers.show(region.allocation)
                stream.after = {self.schedule.add(work.kind, work.name, stream.number, self.host.number, stream.after,
                                                  graph=graph, **work.facts)}
                if work.run is not None:
                    work.run(self, access)
                for region in self._shared(work.writes):
                    self.transfers.hide(region.allocation, access)

    def _read(self, region: Region, access: Access):
        memory = self.memory_of(region)
        span = memory.span(region.tensor)
        memory.shadow.reads(span, access, str(region))
        if not span.view(memory.written).all():
            raise DeviceFault(f"{access.name} reads memory that was never written: {region}")

    def _write(self, region: Region, access: Access, work: Work):
        memory = self.memory_of(region)
        span = memory.span(region.tensor)
        memory.shadow.writes(span, access, str(region))
        if not work.partial:  # otherwise the emulator knows the bytes
            span.view(memory.written)[...] = True

    def memory_of(self, region: Region) -> Memory:
        """The memory of a tensor: the device's, or page-locked memory, which kernels use over the bus."""
        return self.pinned if self.pinned.holds(region.tensor.data_ptr()) else self.device

    def _shared(self, regions: list[Region]) -> list[Region]:
        """Those in page-locked memory."""
        return [region for region in regions if self.memory_of(region) is self.pinned]

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """A context whose DeviceFaults are put down in `faults`."""
        try:
            yield
        except DeviceFault as fault:
            self.faults.append(fault)
            raise

    def region(self, address: int, size: int) -> Region:
        """The bytes at an address of the device."""
        with self.noted():
            allocation = self.device.allocation(address)
        offset = address - self.device.address
        if offset + size > allocation.offset + allocation.size:
            raise DeviceFault(f"{size:,} bytes from {address:#x} on go beyond their allocation, {allocation.asked}")
        return Region(self.device.tensor(offset, (size,), (1,), torch.uint8), allocation)

    # Events and waits

    def record(self, event: Event, stream: Stream):
        with self.lock:
            stream.tick(self.host)
            event.clock, event.after = stream.clock.copy(), set(stream.after)

    def wait(self, stream: Stream, event: Event):
        """Make a stream wait for an event."""
        with self.lock:
            self.refuse_in_capture(stream, "a wait for another stream's event")
            np.maximum(stream.clock, event.clock, out=stream.clock)
            stream.after = {self.schedule.add("wait", "wait for an event", stream.number, self.host.number,
                                              stream.after | event.after)}

    def synchronize(self, event: Event, name: str):
        """Make this thread of the host wait for an event."""
        with self.lock:
            host = self.host
            np.maximum(host.clock, event.clock, out=host.clock)
            self.schedule.add("sync", name, -1, host.number, event.after)
            with self.noted():
                self.transfers.finish(host.clock)

    def synchronize_stream(self, stream: Stream, name: str):
        """Make this thread of the host wait for all work on a stream."""
        self.refuse_in_capture(stream, name)
        event = Event()
        self.record(event, stream)
        self.synchronize(event, name)

    def synchronize_all(self, name: str):
        """Make this thread of the host wait for all work."""
        for stream in self.streams:
            self.refuse_in_capture(stream, name)
        event = Event()
        for stream in self.streams:
            event.clock, event.after = np.maximum(event.clock, stream.clock), event.after | stream.after
        self.synchronize(event, name)

    def refuse_in_capture(self, stream: Stream, name: str):
        """Raises RuntimeError, as CUDA does, if the stream captures: `name` is not possible then."""
        if stream.graph is not None:
            stream.graph.broken = True
            raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing ({name})")
