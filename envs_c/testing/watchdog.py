"""A watchdog on a process that tests a game: it names the function of the game that does not return, and ends the process."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from envs_c.views import VIEWS

SECONDS = 3.0  # of CPU time, for one call of the engine, which takes microseconds; a busy machine does not change it
PAUSE = 0.2    # seconds between two looks
STALLED = 70   # exit status of a process that was ended

_last = None   # the last call, if this process is watched: [number, name, play, rows]


def note(call: str, play=None, rows: slice = slice(None)) -> None:
    """Note the next call of the engine: "step", "reset", "observe", "draw" or "backdrop".

    play: its `Play`. The rewards of the environments `rows` become NaN; the engine writes each after the step or the reset.
    """
    if _last is not None:
        if call in ("step", "reset"):
            play.arrays["reward"][rows] = np.nan
        _last[:] = _last[0] + 1, call, play, rows


def start(report: Callable[[str], None]) -> None:
    """Watch this process from now on. If a call does not return, `report` is called with the fault, and the process ends."""
    global _last
    _last = [0, "describe", None, slice(None)]
    threading.Thread(target=_watch, args=(report,), daemon=True).start()


def end_with_parent() -> None:
    """Let the system end this process together with its parent (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


def _watch(report: Callable[[str], None]) -> None:
    number, since = -1, 0.0
    while True:
        now = time.process_time()
        if _last[0] != number:
            number, since = _last[0], now
        elif now - since > SECONDS:
            report(f"{suspects(*_last[1:])} did not return within {SECONDS:g} seconds: it has an infinite loop")
            os._exit(STALLED)
        time.sleep(PAUSE)


def suspects(call: str, play, rows: slice) -> str:
    """The functions of the game that can be running in this call of the engine, as text.

    play, rows: as given to `note`.
    """
    if call not in ("step", "reset", "observe"):
        return call
    view = ["draw" if VIEWS[play.core.view].main.channels else "observe", *(["mask"] if play.game.has_mask else [])]
    if call == "observe":
        return " or ".join(view)
    waiting = np.flatnonzero(np.isnan(play.arrays["reward"][rows]))
    over = (play.arrays["terminated"] + play.arrays["truncated"])[rows] > 0
    names = []
    if len(waiting) == 0 or waiting[0] > 0:  # the environment before it may not be observed yet
        row = waiting[0] - 1 if len(waiting) else -1
        names += [*(["reset"] if call == "step" and play.same_step and over[row] else []), *view]
    if len(waiting):
        names.append("reset" if call == "step" and not play.same_step and over[waiting[0]] else call)
    return " or ".join(dict.fromkeys(names))
