"""Captured work: a list of operations with the addresses of the capture. A replay calls no Python of the host code again."""

from cuda_double.machine import Machine, Stream, Work
from cuda_double.ordering import DeviceFault

RANDOM = ("rand", "randn", "uniform_", "normal_", "bernoulli_", "exponential_")  # operations that draw torch's numbers


class Graph:
    """A graph. broken: an operation that CUDA refuses in a capture was tried."""

    def __init__(self, machine: Machine):
        self.machine, self.number = machine, machine.graphs
        machine.graphs += 1
        self.work: list[Work] = []
        self.stream: Stream | None = None  # of its capture
        self.dropped = 0                   # graphs of this stream that were dropped before
        self.broken = self.complete = False

    def add(self, work: Work):
        """Record an operation."""
        self.work.append(work)

    @property
    def draws(self) -> int:
        """Its operations that draw random numbers of torch."""
        return sum(one.name in RANDOM for one in self.work)

    def begin(self, stream: Stream):
        """Begin the capture of a stream."""
        if stream.graph is not None:
            raise RuntimeError("CUDA error: the stream is capturing already")
        if self.machine.refused:
            raise DeviceFault("a capture after one that was refused")
        self.machine.synchronize_all("capture")  # as torch.cuda.graph does
        stream.graph = self

    def end(self, stream: Stream):
        """End the capture."""
        stream.graph = None
        if self.broken:
            self.machine.refused = True
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
        self.complete, self.stream, self.dropped = True, stream, stream.dropped

    def drop(self):
        """Free the graph. CUDA refuses this on a thread that captures, and the capture is lost."""
        for stream in self.machine.streams:
            if stream.graph is not None:
                stream.graph.broken = True
        if self.stream is not None:
            self.stream.dropped += 1
            self.stream = None

    def replay(self, stream: Stream):
        """Queue all operations. Raises DeviceFault if they use memory that was freed after the capture.

        With a graph torch frees cuBLAS's workspace of its stream, also if other graphs of the stream use it (issue 193402).
        """
        if not self.complete:
            raise RuntimeError("the graph's capture was not completed")
        machine = self.machine
        with machine.lock, machine.noted():
            if self.stream.dropped > self.dropped:
                raise DeviceFault("a replay after another graph of its stream was dropped: cuBLAS's workspace is freed")
            for work in self.work:
                for region in (*work.reads, *work.writes):
                    allocation = region.allocation
                    if not allocation.live and allocation.pool != self.number:
                        verb = "writes" if any(region is one for one in work.writes) else "reads"
                        raise DeviceFault(f"a graph's replay uses memory that was freed after its capture: {work.name} {verb} "
                                          f"{region}")
            stream.after = {machine.schedule.add("launch", "graph", stream.number, machine.host.number, stream.after,
                                                 graph=self.number)}
            for work in self.work:
                machine.perform(work, stream, self.number)
