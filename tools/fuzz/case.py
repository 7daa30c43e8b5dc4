"""One case: the folder it works in, the calls it makes, and the errors that it may end with.

A call must succeed or raise a documented error: one of our own, TypeError, ValueError, or MemoryError for a size that does not
fit.
"""

import contextlib
import gc
import io
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from envs_c import CompileFailed, ContractError, EnvsError

ALLOWED = (EnvsError, TypeError, ValueError, MemoryError)
OF_SEVERAL_LINES = (CompileFailed, ContractError)  # they hold a compiler's output, or every broken rule
LONGEST = 2000  # characters of a message


class Fault(Exception):
    """A case whose outcome is neither a success nor a documented error."""


class Box:
    """What the cases of one process share.

    folder: the working folder of the process, its TMPDIR and its HOME; a case leaves no file there.
    counts: calls that were accepted and refused.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.kept: frozenset[str] = frozenset()

    def attempt(self, call: Callable, allowed: tuple[type[BaseException], ...] = ALLOWED):
        """The result of `call()`, or None after one of the allowed errors, whose message is checked."""
        try:
            result = call()
        except allowed as error:
            check_message(error)
            self.counts["refused"] += 1
            return None
        self.counts["accepted"] += 1
        return result

    def keep(self) -> None:
        """Note the files that lie in the folder before the cases begin."""
        self.kept = frozenset(files(self.folder))

    def new_files(self) -> list[str]:
        """The files and folders that appeared since `keep`."""
        return sorted(set(files(self.folder)) - self.kept)

    def tidy(self) -> None:
        """Remove what appeared since `keep`."""
        for name in self.new_files():
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def check_message(error: BaseException) -> None:
    """Raise Fault unless the message of one of our own errors is one line of a readable length."""
    if not isinstance(error, EnvsError):
        return
    text = str(error)
    one_line = len(text.splitlines()) == 1 and len(text) <= LONGEST
    if not text or not (one_line or isinstance(error, OF_SEVERAL_LINES)):
        raise Fault(f"the message of {type(error).__name__} must be one line of at most {LONGEST} characters: {text[:400]!r}")


def files(folder: Path) -> list[str]:
    """The paths of all files and folders below `folder`."""
    found, waiting = [], [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                found.append(os.path.relpath(entry.path, folder))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return found


def resident() -> int:
    """Bytes of memory of this process, after a collection; 0 where the system does not say."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def captured(call: Callable[[], int]) -> tuple[int, str, str]:
    """The exit code of a command, its output and its errors. `Done` and SystemExit end it."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = call()
        except SystemExit as ended:
            code = ended.code or 0
        except Done:
            code = 0
    return code, out.getvalue(), errors.getvalue()


class Done(BaseException):
    """Ends a command line after its arguments are checked, in place of its work."""
