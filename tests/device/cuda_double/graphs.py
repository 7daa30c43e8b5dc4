"""Captured work: a list of operations with the addresses of the capture. A replay calls no Python of the host code again."""

from cuda_double.machine import Machine, Stream, Work
from cuda_double.ordering import DeviceFault


class Graph:
    """A graph. broken: an operation that CUDA refuses in a capture was tried."""

    def __init__(self, machine: Machine):
        self.machine, self.number = machine, machine.graphs
        machine.graphs += 1
        self.work: list[Work] = []
        self.broken = self.complete = False

    def add(self, work: Work):
        """Record an operation."""
        self.work.append(work)

    def begin(self, stream: Stream):
        """Begin the capture of a stream."""
        if stream.graph is not None:
            raise RuntimeError("CUDA error: the stream is capturing already")
        self.machine.synchronize_all("capture")  # as torch.cuda.graph does
        stream.graph = self

    def end(self, stream: Stream):
        """End the capture."""
        stream.graph = None
        if self.broken:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
        self.complete = True

    def replay(self, stream: Stream):
        """Queue all operations. Raises DeviceFault if they use memory that was freed after the capture."""
        if not self.complete:
            raise RuntimeError("the graph's capture was not completed")
        machine = self.machine
        with machine.lock, machine.noted():
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
