"""Copies and pickles of `ArcadeVectorEnv`: environments of their own, which continue as the original would.

A copy is made by `ArcadeVectorEnv.__init__` from the same arguments, then restored from a snapshot, which is checked as any
other. A subclass may have arguments of its own: its __init__ is not called, and all its attributes are copied. Of those of
ArcadeVectorEnv the public ones are copied, such as `action_space` with its random generator, and the private ones are made
again. A copy has no window.
"""

import copy
import functools
import time
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

REMADE = ("core", "observation_space")  # public, but made again: the space of many environments repeats its bounds
KEPT = ("_np_random", "_np_random_seed")  # private, but copied: Gymnasium's random generator

_Arguments = ParamSpec("_Arguments")
_Env = TypeVar("_Env", bound="Copies")


def recorded(init: Callable[Concatenate[_Env, _Arguments], None]) -> Callable[Concatenate[_Env, _Arguments], None]:
    """An __init__ whose arguments are kept for copies, with the names of the attributes that it makes."""
    @functools.wraps(init)
    def begin(self: _Env, *args: _Arguments.args, **settings: _Arguments.kwargs) -> None:
        before = set(vars(self)) - getattr(self, "_made", set())
        init(self, *args, **settings)
        self._arguments, self._made = (args, settings), {"_arguments", "_made", *vars(self)} - before

    return begin


class Copies:
    """The methods of `ArcadeVectorEnv` that copy and pickle it. `_again` is its __init__, whatever a subclass's is."""

    def __getstate__(self) -> dict:
        args, settings = self._arguments
        attributes = {name: value for name, value in vars(self).items()
                      if name in KEPT or (name not in REMADE and not (name.startswith("_") and name in self._made))}
        return {"arguments": (args, {**settings, "options": self.core.options}), "attributes": attributes,
                "state": None if self.core.closed else self.get_state(), "seconds": time.perf_counter() - self._started}

    def __setstate__(self, state: dict):
        args, settings = state["arguments"]
        self._again(*args, **{**settings, "render_mode": None})
        if state["state"] is None:
            self.core.close()
        else:
            self.set_state(state["state"])
        self._started[:] = time.perf_counter() - state["seconds"]
        vars(self).update({**state["attributes"], "render_mode": self.render_mode})

    def __copy__(self):
        return copy.deepcopy(self)
