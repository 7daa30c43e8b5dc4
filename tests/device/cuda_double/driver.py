"""Functions of CUDA's driver as addresses, which compiled code calls without Python's lock (envs_c/engine/turns.pyx)."""

import ctypes

from cuda_double.machine import Machine

PAIR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
ONE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
ILLEGAL_ADDRESS = 700  # cudaErrorIllegalAddress


class Driver:
    """cuGraphLaunch, cuEventRecord and cuEventSynchronize of a machine.

    A wait is followed by the games' accesses to page-locked memory: the step of the batch that waits.

    errors: what was raised in a function, which then returns an error.
    calls: how often each function was called.
    """

    def __init__(self, machine: Machine):
        self.machine = machine
        self.errors: list[Exception] = []
        self.calls = {"launch": 0, "record": 0, "wait": 0}
        self._kept = PAIR(self._guard("launch")), PAIR(self._guard("record")), ONE(self._guard("wait"))

    def functions(self) -> tuple[int, ...]:
        """The three addresses."""
        return tuple(ctypes.cast(one, ctypes.c_void_p).value for one in self._kept)

    def launch(self, graph: int, stream: int):
        self.machine.launchable[graph].replay(self.machine.streams[stream or 0])

    def record(self, event: int, stream: int):
        self.machine.record(self.machine.events[event], self.machine.streams[stream or 0])

    def wait(self, event: int):
        self.machine.synchronize(self.machine.events[event], "wait for an event")
        self.step(event)

    def step(self, event: int):
        self.machine.players[event]._step()

    def _guard(self, name: str):
        def call(*arguments: int) -> int:
            self.calls[name] += 1
            try:
                getattr(self, name)(*arguments)
            except Exception as error:
                self.errors.append(error)
                return ILLEGAL_ADDRESS
            return 0
        return call
