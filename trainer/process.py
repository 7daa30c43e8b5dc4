"""The whole process: freed memory, its command, signals, and the variables of torchrun.

Loads no torch.
"""

import contextlib
import ctypes
import functools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from trainer.errors import RanksError

CONSOLE_SCRIPT = "insertcoin"
PARENT = "INSERTCOIN_PARENT"  # an environment variable: the number of the process that started this one
TRIAL = "INSERTCOIN_TRIAL"    # another: the study and the number of the trial whose training this process is
TORCHRUN_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")  # torchrun sets all three; another program may set one of them

_PR_SET_PDEATHSIG = 1                      # an operation of prctl(2)
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)
_LARGEST_MMAP_THRESHOLD = 32 << 20         # bytes, the largest value accepted by glibc
_KEPT_BYTES = (1 << 31) - 1                # free memory at the top of the heap kept by the process


def end_with_parent() -> bool:
    """End this process when the process in the environment variable INSERTCOIN_PARENT ends; False if that has ended already.

    A sweep sets the variable for its trainings. Linux kills this process when the thread ends that started it: a sweep
    waits for its trainings in this thread. Other systems have no such signal; the next session of the sweep ends the training.
    """
    parent = os.environ.pop(PARENT, None)
    if parent is None:
        return True
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, *map(ctypes.c_ulong, (signal.SIGKILL, 0, 0, 0)))
    return str(os.getppid()) == parent  # it may have ended before the call


def can_keep_freed_memory() -> bool:
    """True if `keep_freed_memory` has an effect with this C library."""
    return hasattr(ctypes.CDLL(None), "mallopt")


@functools.cache
def keep_freed_memory() -> None:
    """Let the C library reuse freed memory instead of returning it to the system.

    An update allocates and frees tensors of several megabytes for each minibatch. By default glibc maps fresh pages for
    each of them, which the system must clear first: this takes longer than the matrix products that fill them. Other C
    libraries keep their defaults.
    """
    if can_keep_freed_memory():
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)


def is_console_script() -> bool:
    """True if the console script started this process, false for `python -m`."""
    return Path(sys.argv[0]).stem == CONSOLE_SCRIPT


def program_name() -> str:
    """The program's name in usage lines and messages, as the user typed it."""
    return CONSOLE_SCRIPT if is_console_script() else f"python -m {_package()}"


def program_command() -> list[str]:
    """The first arguments of a command for starting this program again."""
    return [sys.executable, sys.argv[0]] if is_console_script() else [sys.executable, "-m", _package()]


def is_program(command: list[str]) -> bool:
    """True if these are the arguments of a process that runs this program, as `program_command` starts it."""
    module = command[1:3] in (["-m", "trainer"], ["-m", CONSOLE_SCRIPT])
    return module or [Path(word).name for word in command[1:2]] == [CONSOLE_SCRIPT]


def _package() -> str:
    """The package that `python -m` started: insertcoin, or trainer, which scripts mean too."""
    return CONSOLE_SCRIPT if Path(sys.argv[0]).parts[-2:] == (CONSOLE_SCRIPT, "__main__.py") else "trainer"


class Interrupt:
    """A context manager in which the first SIGINT, SIGTERM or SIGHUP only sets `asked`.

    The second signal acts as usual. An ignored SIGHUP, as under nohup, stays ignored. A signal's own handler is restored when
    it comes a second time, not before: Python complains of a signal that is pending while its handler is taken away.
    """

    def __init__(self):
        self.asked = False
        self._before = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is not threading.main_thread():
            return self  # Python allows signal handlers only in the main thread
        for number in (signal.SIGINT, signal.SIGTERM, *hangup_signals()):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number, frame):
        if self.asked:
            signal.signal(number, self._before[number])
            os.kill(os.getpid(), number)
        self.asked = True

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler)


def hangup_signals() -> list[signal.Signals]:
    """[SIGHUP], or [] if the process was started to outlive its terminal, for example with nohup."""
    return [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """In this context SIGTERM and SIGHUP raise KeyboardInterrupt like SIGINT, so that child processes are ended cleanly."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGTERM, *hangup_signals())}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def in_torchrun() -> bool:
    """True if torchrun started this process."""
    return all(name in os.environ for name in TORCHRUN_VARIABLES)


def torchrun_number(name: str, default: int | None = None) -> int:
    """An integer in an environment variable of torchrun. Raises RanksError if it is not an integer."""
    text = os.environ.get(name, default)
    try:
        return int(text)
    except (TypeError, ValueError):
        raise RanksError(f"the environment variable {name} must be an integer in a job of torchrun, not {text!r}: start the "
                         f"job with torchrun, or unset {', '.join(TORCHRUN_VARIABLES)} to train in one process") from None


def prints_for_job() -> bool:
    """True if this process prints what every process of a job would print: rank 0, or a process without torchrun."""
    return not in_torchrun() or os.environ["RANK"] == "0"
