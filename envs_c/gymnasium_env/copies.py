"""Copies and pickles of `ArcadeVectorEnv`: environments of their own, which continue as the original would.

A copy is made by the class from the same arguments, then restored from a snapshot, which is checked as any other. Public
attributes, such as `action_space` with its random generator, are copied. Private ones are made again. A copy has no window.
"""

import copy
import time

REMADE = ("core", "observation_space")  # public, but made again: the space of many environments repeats its bounds
KEPT = ("_np_random", "_np_random_seed")  # private, but copied: Gymnasium's random generator


class Copies:
    """The methods of `ArcadeVectorEnv` that copy and pickle it."""

    def __new__(cls, *args, **settings):
        env = super().__new__(cls)
        env._arguments = args, settings
        return env

    def __getstate__(self) -> dict:
        args, settings = self._arguments
        attributes = {name: value for name, value in vars(self).items()
                      if name in KEPT or not (name.startswith("_") or name in REMADE)}
        return {"arguments": (args, {**settings, "options": self.core.options}), "attributes": attributes,
                "state": None if self.core.closed else self.get_state(), "seconds": time.perf_counter() - self._started}

    def __setstate__(self, state: dict):
        args, settings = self._arguments = state["arguments"]
        self.__init__(*args, **{**settings, "render_mode": None})
        if state["state"] is None:
            self.core.close()
        else:
            self.set_state(state["state"])
        self._started[:] = time.perf_counter() - state["seconds"]
        vars(self).update({**state["attributes"], "render_mode": self.render_mode})

    def __copy__(self):
        return copy.deepcopy(self)
