"""Runs other programs for the self-test: one that fails, hangs or does not start is a reason in words, not an error."""

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence

LAST_LINES = 12  # of a failed program's errors


def run(command: Sequence[str], seconds: float | None, take: Callable[[str], object]) -> str:
    """Run a command, pass each line of its output to `take`, and return the reason why it failed, or "".

    seconds: after which it is ended, with the programs that it has started; None for no limit.
    """
    name = " ".join(command[1:])
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace", bufsize=1,
                                       start_new_session=True)
        except OSError as error:
            return f"{command[0]} does not start: {error}"
        late = threading.Event()
        timer = threading.Timer(seconds or 0.0, lambda: (late.set(), _kill(process)))
        if seconds is not None:
            timer.start()
        try:
            for line in process.stdout:
                take(line.rstrip("\n"))
            code = process.wait()
        finally:
            timer.cancel()
            _kill(process)
        errors.seek(0)
        last = "\n".join(errors.read().splitlines()[-LAST_LINES:])
    if late.is_set():
        return f"{name} was ended after {seconds:.0f} seconds"
    return f"{name} ended with code {code}:\n{last}" if code else ""


def _kill(process: subprocess.Popen) -> None:
    """End a program and those that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, 9)


def program(command: Sequence[str], seconds: float | None) -> tuple[str, str]:
    """Run a command and return its output, as far as there is some, and the reason why it failed, or ""."""
    lines: list[str] = []
    problem = run(command, seconds, lines.append)
    return "\n".join(lines), problem
