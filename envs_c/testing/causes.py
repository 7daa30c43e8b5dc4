"""The cause of outputs that differ although seed and actions are the same."""

import ctypes
import functools
import hashlib
import os

from envs_c.testing.play import Play
from envs_c.testing.workers import ask, module_of
from envs_c.views import names

STEPS, LIMIT = 120, 46  # steps of a play, and of its episodes
LIBRARY = "it takes random numbers from the C library, as by rand(): take them from `rng`, as by rng_below(rng, n)"
OUTSIDE = "it keeps state outside its struct, in a global or static variable: move it into the struct"
UNKNOWN = ("its outputs depend on more than seed and actions, such as the clock, an address, or memory that was never written: "
           "take random numbers from `rng`, and write the whole struct in `reset`")


@functools.cache
def cause(game) -> str | None:
    """The reason why the same seed and the same actions give different outputs; None if they give the same."""
    if len({outputs(game, before) for before in range(4)}) == 1:
        return None
    if len({outputs(game, before, seeded=True) for before in range(4)}) == 1:
        return LIBRARY
    processes = [ask(module_of(game), "outputs") for _ in range(2)]
    return OUTSIDE if processes[0] == processes[1] else UNKNOWN


def outputs(game, before: int = 0, seeded: bool = False) -> str:
    """A hash of the outputs of a play in each view that the game itself writes.

    before: steps of another environment before it; they must not matter.
    seeded: seed the generators of the C library first.
    """
    tape = hashlib.blake2b(digest_size=8)
    for view in names(lambda view: view.plain):
        other, play = Play(game, 1, view=view, seed=5), Play(game, view=view, time_limit=LIMIT)
        other.reset()
        other.future(before)
        for name in ("srand", "srandom", "srand48") if seeded and os.name == "posix" else ():
            getattr(ctypes.CDLL(None), name)(1)
        tape.update(b"".join([play.reset(), *play.future(STEPS)]))
    return tape.hexdigest()
