"""A device on the CPU that is slow, out of order between its streams, and fails on purpose.

Its memory is not the host's. Each stream is a thread that takes its time before every piece of work, so that a copy reads what
the host's buffer holds long after it was asked for: a driver that writes too early is caught.
"""

import queue
import random
import threading
import time

import numpy as np
import torch

from bridge.device import HostDevice


class SlowDevice(HostDevice):
    """slowest: seconds that a piece of work is held up at most. fails: (kind of work, how many of them before it fails),
    kinds being "upload", "run", "download" and "capture". impatient: `wait` does not wait. captures: streams capture work."""

    def __init__(self, slowest=0.002, fails=None, impatient=False, captures=False):
        self.slowest, self.fails, self.impatient, self.captures = slowest, fails, impatient, captures
        self.count = {"upload": 0, "run": 0, "download": 0, "capture": 0}
        self.streams: list[SlowStream] = []

    def device_bytes(self, host: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(host.copy())

    def stream(self) -> "SlowStream":
        self.streams.append(SlowStream(self, len(self.streams)))
        return self.streams[-1]

    def close(self):
        for stream in self.streams:
            stream.jobs.put(None)
        for stream in self.streams:
            stream.thread.join()

    def note(self, kind: str):
        """Count a piece of work; raises where it is the one to fail."""
        self.count[kind] += 1
        if self.fails is not None and self.fails[0] == kind and self.count[kind] > self.fails[1]:
            raise RuntimeError(f"this {kind} fails on purpose")


class SlowStream:
    """One thread's work, in order."""

    copies = True

    def __init__(self, device: SlowDevice, seed: int):
        self.device, self.captures, self.random = device, device.captures, random.Random(seed)
        self.jobs: queue.Queue = queue.Queue()
        self.inline = False  # within a captured graph's replay its parts are done at once
        self.error: Exception | None = None
        self.marked = threading.Event()
        self.marked.set()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        torch.set_num_threads(1)  # a thread has a number of its own; with two, products do not always add in one order
        while (job := self.jobs.get()) is not None:
            time.sleep(self.random.random() * self.device.slowest)
            try:
                job()
            except RuntimeError as error:
                self.error = error

    def _hand(self, kind: str, work):
        def job():
            self.device.note(kind)
            work()
        if self.inline:
            job()
        else:
            self.jobs.put(job)

    def upload(self, twin, host):
        self._hand("upload", lambda: twin.numpy().__setitem__(slice(None), host))

    def download(self, host, twin):
        self._hand("download", lambda: host.__setitem__(slice(None), twin.numpy()))

    def run(self, work):
        self._hand("run", work)

    def capture(self, work):
        self.device.note("capture")

        def replayed():
            self.device.note("run")
            self.inline = True
            try:
                work()
            finally:
                self.inline = False
        return lambda: self.jobs.put(replayed)

    def mark(self):
        self.marked = reached = threading.Event()
        self.jobs.put(reached.set)

    def wait(self):
        if self.device.impatient:
            return
        if not self.marked.wait(timeout=60):
            raise RuntimeError("the stream never came to its mark")
        error, self.error = self.error, None
        if error is not None:
            raise error

    def wait_for_caller(self):
        """The caller's own work is done when it returns."""

    def make_caller_wait(self):
        """Wait for all that was handed over."""
        reached = threading.Event()
        self.jobs.put(reached.set)
        if not reached.wait(timeout=60):
            raise RuntimeError("the stream never came to its end")
