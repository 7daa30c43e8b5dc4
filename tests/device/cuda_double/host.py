"""The games' accesses to page-locked memory: they read the actions and write observations, rewards and flags.

A game's step is compiled code, which no clock sees. So the bound batches of sources are wrapped: a step accesses the batch's
arrays in the thread that does it.
"""

import numpy as np

from cuda_double.machine import Machine


class WatchedBatch:
    """A bound batch of a source (bridge/source.py)."""

    def __init__(self, machine: Machine, bound, host: dict[str, np.ndarray], actions: np.ndarray):
        self.machine, self.bound, self.host, self.actions = machine, bound, host, actions
        self.in_thread = hasattr(type(bound), "_step")  # Gymnasium's environments step in their own threads
        self.known = self.stepped = machine.host.clock

    def __getattr__(self, name: str):
        return getattr(self.bound, name)

    def reset(self):
        self._write("reset")
        self.bound.reset()

    def begin(self, ready):
        self.known = self.machine.host.clock.copy()
        if ready.__self__.copies:  # the stream of a device has an event
            self.machine.players[ready.__self__._event.ptr] = self

        def ready_and_step():
            own = self.machine.host
            np.maximum(own.clock, self.known, out=own.clock)
            ready()
            if self.in_thread:
                self._step()
        self.bound.begin(ready_and_step)

    def finish(self, log):
        if not self.in_thread:
            self._step()
        result = self.bound.finish(log)
        if self.in_thread:
            own = self.machine.host
            np.maximum(own.clock, self.stepped, out=own.clock)
        return result

    def _step(self):
        self.machine.transfers.touched(self.actions, writes=False, what="a step of the environments")
        self._write("a step of the environments")
        self.stepped = self.machine.host.clock.copy()

    def _write(self, what: str):
        for name, array in self.host.items():
            self.machine.transfers.touched(array, writes=True, what=f"{what} ({name})")


class WatchedHalves(WatchedBatch):
    """A bound batch of self-play, whose step has two halves at different times."""

    def __init__(self, machine: Machine, bound, host, actions):
        super().__init__(machine, bound, host, actions)
        move, answer = bound.move, bound.answer

        def watched_move():
            self._step()
            move()

        def watched_answer():
            answer()  # waits for the moves
            self._step()
        bound.move, bound.answer = watched_move, watched_answer

    def finish(self, log):
        return self.bound.finish(log)


def watching(machine: Machine, bind):
    """A source's method `bind` whose batches are watched."""
    def watched(source, lo, hi, host, actions):
        kind = WatchedHalves if hasattr(source, "opponents") else WatchedBatch
        return kind(machine, bind(source, lo, hi, host, actions), host, actions)
    return watched
