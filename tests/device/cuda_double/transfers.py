"""Page-locked memory in use by copies, and by kernels that write to it. The host must not touch it until it knows their end.

A copy to the host delivers its bytes when the host waits for it; until then the memory holds POISON. So does a kernel, but
kernels after it see what it has written. A copy to the device remembers the bytes that it read. If the host wrote to the memory
in between, a copy or a kernel finds other bytes there at its end.
"""

from dataclasses import dataclass

import numpy as np

from cuda_double.memory import Allocation
from cuda_double.ordering import Access, DeviceFault, Span

POISON = 0xA5


@dataclass
class Transfer:
    """A copy or kernel of which the host does not know the end. expected: the bytes of the host's memory until then."""

    actor: int
    epoch: int
    name: str
    span: Span
    expected: np.ndarray
    delivered: np.ndarray | None  # bytes for the host


class Transfers:
    """The copies of a machine."""

    def __init__(self, machine):
        self.machine, self.flying = machine, []

    def begin(self, to_host: bool, device: np.ndarray, offset: int, access: Access):
        """Begin a copy between bytes of the device and page-locked memory at `offset`."""
        memory, span = self.machine.pinned, Span(offset, len(device))
        host, allocation = memory.array(offset, len(device)), memory.at[offset // 512]
        (memory.shadow.writes if to_host else memory.shadow.reads)(span, access, f"{len(device)} bytes of {allocation.asked}")
        if to_host:
            delivered, host[:] = device.copy(), POISON
        else:
            delivered, device[:] = None, host
        self.flying.append(Transfer(access.actor, access.epoch, access.name, span, host.copy(), delivered))

    def hide(self, allocation: Allocation, access: Access):
        """A kernel has written to page-locked memory."""
        span = Span(allocation.offset, allocation.bytes)
        host = span.view(self.machine.pinned.bytes.numpy())
        delivered, host[:] = host.copy(), POISON
        self.flying.append(Transfer(access.actor, access.epoch, access.name, span, host.copy(), delivered))

    def show(self, allocation: Allocation):
        """A kernel uses page-locked memory: it sees what kernels before it have written."""
        for one in [one for one in self.flying if one.span.offset == allocation.offset and one.delivered is not None]:
            one.span.view(self.machine.pinned.bytes.numpy())[:] = one.delivered
            self.flying.remove(one)

    def finish(self, clock: np.ndarray):
        """End the copies that `clock` covers. Raises DeviceFault if the host has written to their memory."""
        over = [one for one in self.flying if one.epoch <= clock[one.actor]]
        self.flying = [one for one in self.flying if one.epoch > clock[one.actor]]
        for one in over:
            host = one.span.view(self.machine.pinned.bytes.numpy())
            if not np.array_equal(host, one.expected):
                raise DeviceFault(f"the host wrote to page-locked memory during a copy or a kernel: {one.name}")
            if one.delivered is not None:
                host[:] = one.delivered

    def touched(self, array: np.ndarray, *, writes: bool, what: str):
        """This thread of the host reads or writes an array. Raises DeviceFault if a copy of it may be in flight."""
        machine, memory, host = self.machine, self.machine.pinned, self.machine.host
        if not memory.holds(array.ctypes.data):
            return
        with machine.lock, machine.noted():
            epoch = host.tick()
            name = machine.names[host.actor, epoch] = f"{what} in thread {host.number} of the host"
            access = Access(host.actor, epoch, host.clock, name)
            span = Span(array.ctypes.data - memory.address, array.nbytes)
            (memory.shadow.writes if writes else memory.shadow.reads)(span, access, "page-locked memory")
