"""The test device finds graphs whose memory was freed or replaced after their capture, as no GPU would."""

import numpy as np
import pytest
import torch
from graph_memory import MemoryFault

from trainer import kernels

FREED, OTHER = "uses memory that was freed after its capture: ", "uses other memory than its capture: "


class Work:
    """Work for a graph: reads `given` and writes `result`, both (4, 3)."""

    def __init__(self):
        self.given, self.result = torch.ones(4, 3), torch.zeros(4, 3)
        self.host = np.zeros(48, np.uint8)

    def read(self):
        self.result.copy_(self.given * 2)

    def write(self):
        self.given.mul_(2)

    def view(self):
        self.result[0].copy_(self.given[1:, 0])

    def kernel(self):  # an argument that torch does not see otherwise
        action, log_prob = torch.zeros(4, dtype=torch.int32), torch.zeros(4)
        kernels.sample(self.given, None, 1, 0, 0, action, log_prob, 3)

    def upload(self, stream):
        stream.upload(self.result.view(-1).view(torch.uint8), self.host)

    def download(self, stream):
        stream.download(self.host, self.result.view(-1).view(torch.uint8))

    def accumulate(self):  # the gradient is written by a backward pass
        (self.given.sum() * 2).backward()


def replayed(device, work, change, times=3):
    """Replay the captured work, then once more after `change`. Raises the stream's error."""
    stream = device.stream()
    replay = stream.capture(lambda: work(stream))
    for _ in range(times):
        replay()
        stream.make_caller_wait()
    change()
    replay()
    stream.make_caller_wait()


def freed(owner, name):
    setattr(owner, name, None)


def replaced(work, name):
    before = getattr(work, name)
    work.kept = before  # still allocated, but no longer used
    setattr(work, name, before.copy() if name == "host" else before.clone())


@pytest.mark.parametrize("method", ["read", "write", "view", "kernel"])
@pytest.mark.parametrize(("change", "message"), [(freed, FREED), (replaced, OTHER)])
def test_memory_of_a_captured_graph_must_stay(slow_device, method, change, message):
    work = Work()
    with pytest.raises(MemoryFault, match=f"{message}.* of .*float32"):
        replayed(slow_device(captures=True, slowest=0), lambda stream: getattr(work, method)(), lambda: change(work, "given"))


@pytest.mark.parametrize("method", ["upload", "download"])
@pytest.mark.parametrize("name", ["host", "result"])
def test_memory_of_a_captured_copy_must_stay(slow_device, method, name):
    work = Work()
    with pytest.raises(MemoryFault, match=f"{OTHER}.*of "):
        replayed(slow_device(captures=True, slowest=0), getattr(work, method), lambda: replaced(work, name))


def test_a_gradient_written_by_a_captured_graph_must_stay(slow_device):
    work = Work()
    work.given.requires_grad_()
    work.accumulate()
    with pytest.raises(MemoryFault, match=f"{FREED}.*"):
        replayed(slow_device(captures=True, slowest=0), lambda stream: work.accumulate(), lambda: freed(work.given, "grad"))


@pytest.mark.parametrize("method", ["read", "write", "view", "kernel"])
def test_a_graph_may_allocate_memory_of_its_own(slow_device, method):
    work, others = Work(), []
    device = slow_device(captures=True, slowest=0)
    replayed(device, lambda stream: getattr(work, method)(), lambda: others.append(torch.ones(9)))


def test_memory_at_the_same_address_is_not_the_same_memory(slow_device):
    """An allocator often returns the freed address; a GPU's graph would then write into another tensor."""
    work, memory = Work(), bytearray(48)

    def allocate():
        work.given = None
        work.given = torch.frombuffer(memory, dtype=torch.float32).view(4, 3)
    allocate()
    with pytest.raises(MemoryFault, match=FREED):
        replayed(slow_device(captures=True, slowest=0), lambda stream: work.read(), allocate)
