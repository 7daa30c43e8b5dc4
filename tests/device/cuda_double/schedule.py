"""The operations of a run as a plain list, for counts in tests and for models of a GPU's time."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

KINDS = ("kernel", "copy", "wait", "sync", "launch")


@dataclass(slots=True)
class Operation:
    """One operation, in the order in which the host's threads queued them."""

    number: int
    kind: str        # one of KINDS: a kernel (or memset), a copy, a stream's wait for an event, a wait of the host, or the
                     # launch of a graph, whose operations follow
    name: str        # of the aten operation, the kernel, or the call
    stream: int      # 0 is the default stream; -1 for a wait of the host
    thread: int      # the host's thread that queued it, from 0
    bytes: int = 0   # of a copy: its size; of a kernel: the bytes of the device's memory that it reads and writes
    shared: int = 0  # of a kernel: bytes of page-locked memory that it reads and writes over the bus
    flops: int = 0   # of a matrix product, a convolution or a kernel for whole sequences
    direction: str = ""              # of a copy: "to device", "to host" or "on device"
    pinned: bool = False             # the copy's host memory is page-locked
    graph: int | None = None         # number of the graph it belongs to
    grid: int = 0                    # of a kernel from a .cu file: blocks
    block: int = 0                   # and threads per block
    steps: int = 0                   # of a kernel for whole sequences: time steps
    rows: int = 0                    # and sequences
    after: tuple[int, ...] = ()      # numbers of the operations that it waits for; the host queues it after those before it


@dataclass
class Schedule:
    """All operations so far, and named parts of them."""

    operations: list[Operation] = field(default_factory=list)
    parts: list[tuple[str, int, int]] = field(default_factory=list)  # name, first operation, end

    def add(self, kind: str, name: str, stream: int, thread: int, after=(), **facts) -> int:
        """Append an operation; returns its number."""
        number = len(self.operations)
        self.operations.append(Operation(number, kind, name, stream, thread, after=tuple(sorted(set(after))), **facts))
        return number

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """The operations queued in this context are a part with this name."""
        begin = len(self.operations)
        yield
        self.parts.append((name, begin, len(self.operations)))

    def of(self, name: str) -> list[Operation]:
        """The operations of the last part with this name."""
        begin, end = next((begin, end) for one, begin, end in reversed(self.parts) if one == name)
        return self.operations[begin:end]

    def save(self, path: Path):
        """Write operations and parts as JSON."""
        content = {"operations": [asdict(one) for one in self.operations], "parts": self.parts}
        path.write_text(json.dumps(content), encoding="utf-8")


def counts(operations: list[Operation]) -> dict[str, int]:
    """Numbers of operations by kind, and the bytes that go between host and device.

    Bytes to the host are those of copies, and of kernels in page-locked memory.
    """
    kinds = {f"{kind}{'es' if kind == 'launch' else 's'}" if kind != "copy" else "copies":
             sum(one.kind == kind for one in operations) for kind in KINDS}
    copied = {direction: sum(one.bytes for one in operations if one.direction == direction)
              for direction in ("to device", "to host")}
    copied["to host"] += sum(one.shared for one in operations)
    return kinds | {f"bytes {direction}": size for direction, size in copied.items()}


def launches(operations: list[Operation]) -> list[list[Operation]]:
    """The launches of graphs, each with the graph's operations."""
    found = []
    for one in operations:
        if one.kind == "launch":
            found.append([one])
        elif one.graph is not None:
            found[-1].append(one)
    return found
