"""A test device: slow, with streams that run out of order, and with failures on demand.

Its memory is separate from the host's, although both are on the CPU. Each stream is a thread that sleeps before each piece of
work, so a copy reads the host's buffer long after it was queued. A driver that writes the buffer too early is found out. What a
piece of work queues on its own stream runs at once.
Captured graphs remember the memory that they use, so the replay of a graph whose memory was freed fails (graph_memory.py).
"""

import queue
import random
import threading
import time

import numpy as np
import torch
from graph_memory import GraphMemory, used

from bridge.device import HostDevice


class SlowDevice(HostDevice):
    """A device with one thread for each stream.

    slowest: the longest sleep before a piece of work, in seconds.
    fails: (kind, n): work of this kind fails after n successes. Kinds are "upload", "run", "download" and "capture".
    impatient: streams' `wait` returns at once.
    captures: streams capture work.
    """

    def __init__(self, slowest=0.002, fails=None, impatient=False, captures=False):
        self.slowest, self.fails, self.impatient, self.captures = slowest, fails, impatient, captures
        self.count = {"upload": 0, "run": 0, "download": 0, "capture": 0}
        self.streams: list[SlowStream] = []
        self.graphs: list[GraphMemory] = []  # by capture

    def device_bytes(self, host_bytes: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(host_bytes.copy())

    def shared_bytes(self, host_bytes: np.ndarray) -> None:
        """Its work cannot use the host's memory."""

    def stream(self, *, high_priority: bool = False) -> "SlowStream":
        self.streams.append(SlowStream(self, len(self.streams)))
        return self.streams[-1]

    def close(self):
        for stream in self.streams:
            stream.jobs.put(None)
        for stream in self.streams:
            stream.thread.join()

    def note(self, kind: str):
        """Count a piece of work. Raises RuntimeError if this one has to fail."""
        self.count[kind] += 1
        if self.fails is not None and self.fails[0] == kind and self.count[kind] > self.fails[1]:
            raise RuntimeError(f"this {kind} fails on purpose")


class SlowStream:
    """A stream whose work runs in its own thread, in order."""

    copies = True

    def __init__(self, device: SlowDevice, seed: int):
        self.device, self.captures, self.random = device, device.captures, random.Random(seed)
        self.jobs: queue.Queue = queue.Queue()
        self.inline = False  # True while a captured graph is replayed: its parts run at once
        self.error: Exception | None = None
        self.marked = threading.Event()
        self.marked.set()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        torch.set_num_threads(1)  # the setting is per thread; with two threads, the order of additions can change
        while (job := self.jobs.get()) is not None:
            time.sleep(self.random.random() * self.device.slowest)
            try:
                job()
            except Exception as error:
                self.error = self.error or error

    def _queue(self, kind: str, work):
        def job():
            self.device.note(kind)
            work()
        if self.inline or self._inside():
            job()
        else:
            self.jobs.put(job)

    def _inside(self) -> bool:
        """True in a piece of this stream's own work."""
        return threading.current_thread() is self.thread

    def host_bytes(self, size):
        return self.device.host_bytes(size)

    def upload(self, device_bytes, host_bytes):
        memory = device_bytes.view(-1).view(torch.uint8).numpy()
        self._queue("upload", lambda: _copy(memory, host_bytes, (device_bytes, host_bytes), "upload"))

    def download(self, host_bytes, device_bytes):
        self._queue("download", lambda: _copy(host_bytes, device_bytes.numpy(), (device_bytes, host_bytes), "download"))

    def run(self, work):
        self._queue("run", work)

    def capture(self, work):
        self.device.note("capture")
        memory = GraphMemory()
        self.device.graphs.append(memory)

        def replayed():
            self.device.note("run")
            self.inline = True
            try:
                with memory.replay():
                    work()
            finally:
                self.inline = False
        return lambda: replayed() if self._inside() else self.jobs.put(replayed)

    def driver_calls(self, replay):
        """None: it has no driver."""

    def mark(self):
        self.marked = reached = threading.Event()
        self.jobs.put(reached.set)

    def wait(self):
        if self.device.impatient:
            return
        if not self.marked.wait(timeout=60):
            raise RuntimeError("the stream never reached its mark")
        self._raise_error()

    def wait_for_caller(self):
        """Does nothing: the caller's work on the CPU is already done."""

    def make_caller_wait(self):
        if self._inside():
            return
        reached = threading.Event()
        self.jobs.put(reached.set)
        if not reached.wait(timeout=60):
            raise RuntimeError("the stream never reached its end")
        self._raise_error()

    def _raise_error(self):
        error, self.error = self.error, None
        if error is not None:
            raise error


def _copy(to: np.ndarray, source: np.ndarray, memory: tuple, what: str):
    for part in memory:
        used(part, what)
    to[:] = source
