"""Keys typed in a terminal. A terminal reports no releases, so a key counts as held for HOLD seconds, and while it repeats."""

import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Callable
from typing import TextIO

from envs_c.errors import NoScreen

try:
    import termios
    import tty
except ModuleNotFoundError:  # Windows
    termios = None  # type: ignore[assignment]

HOLD = 0.12    # seconds
ESCAPE = 0.05  # seconds to wait for the rest of an arrow's bytes, which begin with Escape
ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
NAMES = {b" ": "space", b"\r": "return", b"\n": "return", b"\x1b": "escape"}
_KEY = re.compile(rb"\x1b[\[O][0-9;]*([A-Za-z~])|(.)", re.DOTALL)
_CUT = re.compile(rb"\x1b(?:[\[O][0-9;]*)?\Z")  # the first bytes of an arrow: over a network the rest may come later


class Typed:
    """The keys of a terminal. A context manager in which they are read at once and not shown.

    stream: the terminal; None for standard input.
    tiles: as for `Window`.
    closed: True after q, Escape or the end of the input.

    Raises NoScreen if the stream is no terminal, or on Windows.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        stream = sys.stdin if stream is None else stream
        if termios is None:
            raise NoScreen("--terminal needs Linux or macOS, whose terminals give each key at once: leave it out for a window")
        if stream is None or not stream.isatty():
            raise NoScreen("--terminal needs a terminal as input for the keys, not a file or a pipe: leave out the redirection")
        self.stream, self.clock, self.tiles, self.closed = stream, clock, False, False
        self._until: dict[str, float] = {}  # by key: it is held until then
        self._new: set[str] = set()         # keys since the last call of `keys`
        self._pressed: list[str] = []       # keys since the last call of `pressed`

    def __enter__(self) -> "Typed":
        self._before = termios.tcgetattr(self.stream)
        tty.setcbreak(self.stream)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.stream, termios.TCSAFLUSH, self._before)

    def listen(self, seconds: float):
        """Read keys until the time has passed or the user leaves."""
        until = self.clock() + seconds
        while not self.closed:
            data = self._read(max(0.0, until - self.clock()))
            while _CUT.search(data) and (rest := self._read(ESCAPE)):
                data += rest
            self._count(data)
            if self.clock() >= until:
                return

    def _read(self, seconds: float) -> bytes:
        """The bytes that come within this time; b"" if none come. The end of the input closes."""
        if not select.select([self.stream], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.stream.fileno(), 1024)
        except OSError:  # the terminal is gone
            data = b""
        self.closed |= not data
        return data

    def _count(self, data: bytes):
        for arrow, other in _KEY.findall(data):
            name = ARROWS.get(arrow) or NAMES.get(other) or other.decode("latin-1").lower()
            if name:
                self.closed |= name in ("q", "escape")
                self._until[name] = self.clock() + HOLD
                self._new.add(name)
                self._pressed.append(name)

    def keys(self) -> set[str]:
        """The names of the keys to count now: those typed since the last call, and those held."""
        now = self.clock()
        held = set() if self.tiles else {key for key, until in self._until.items() if until > now}
        counted, self._new = self._new | held, set()
        return counted

    def pressed(self) -> list[str]:
        """The names of the keys typed since the last call, in their order."""
        pressed, self._pressed = self._pressed, []
        return pressed
