"""Asteroids with an open state: tests read and set the fields of its struct by name."""

from benchmarks.cartridges.twins import Asteroids


class Machine(Asteroids):
    def step(self, action="NOOP"):
        """Play one frame; returns the reward and whether the episode has ended. `action` is a name or a number."""
        return super().step(self.core.actions.index(action) if isinstance(action, str) else action)
