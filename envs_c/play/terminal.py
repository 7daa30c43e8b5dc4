"""Games in a terminal in 24-bit colour, with or without its keys."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

import numpy as np

from envs_c.errors import NoScreen
from envs_c.play.blocks import BLOCK, fitted, half_blocks
from envs_c.play.typed import Typed

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"   # alternate screen, no cursor, cleared
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"


class Terminal:
    """Shows pictures as large as they fit. A context manager that restores the terminal's contents at the end.

    stream: output; None for standard output.
    size: returns (columns, lines).
    sleep: waits for a number of seconds.
    typed: the keys; None to read no keys.
    """

    def __init__(self, stream: TextIO | None = None, size: Callable[[], tuple[int, int]] = shutil.get_terminal_size,
                 sleep: Callable[[float], None] = time.sleep, typed: Typed | None = None):
        self.stream, self.size, self.sleep, self.typed = stream or sys.stdout, size, sleep, typed
        self._shown: list[str] = []  # the lines on the terminal
        self._shape = None

    def __enter__(self) -> "Terminal":
        if self.typed is not None:
            self.typed.__enter__()
        self.stream.write(ENTER)
        return self

    def __exit__(self, *reason):
        self.stream.write(LEAVE)
        self.stream.flush()
        if self.typed is not None:
            self.typed.__exit__(*reason)

    def show(self, picture: np.ndarray, caption: str):
        """Show a picture (height, width, 3) uint8 and a line of text under it. Writes only changed lines."""
        columns, rows = self.size()
        if self._shape != (columns, rows):
            self._shape, self._shown = (columns, rows), []
            self.stream.write("\x1b[0m\x1b[2J")
        lines = [*half_blocks(fitted(picture, columns, 2 * (rows - 1))), caption[:columns] + "\x1b[K"]
        before = self._shown or [None] * len(lines)
        self.stream.write("".join(f"\x1b[{number};1H{line}" for number, (line, old)
                                  in enumerate(zip(lines, before, strict=True), 1) if line != old))
        self.stream.flush()
        self._shown = lines

    def wait(self, seconds: float) -> bool:
        """Wait; False if the user has left, which needs `typed`."""
        if self.typed is None:
            self.sleep(max(seconds, 0.0))
            return True
        self.typed.listen(seconds)
        return not self.typed.closed

    def keys(self) -> set[str]:
        """The names of the keys to count now; see `Typed`."""
        return self.typed.keys()

    def pressed(self) -> list[str]:
        """The names of the keys typed since the last call, in their order."""
        return self.typed.pressed()


def check(stream: TextIO | None):
    """Raises NoScreen if `stream` cannot show pictures."""
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        raise NoScreen("--terminal needs a terminal as output, not a file, a pipe or a dumb terminal: leave out the "
                       "redirection")
    try:
        BLOCK.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        raise NoScreen(f"--terminal needs an output encoding with {BLOCK.encode('unicode_escape').decode()}, not "
                       f"{stream.encoding}: set PYTHONIOENCODING=utf-8") from None
