"""Pictures in a terminal in 24-bit colour. Each character, an upper half block, shows two pixels: foreground and background."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

import numpy as np
from PIL import Image

from trainer.errors import RunError

BLOCK = "▀"
ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"   # alternate screen, no cursor, cleared
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"


class Terminal:
    """Shows pictures as large as they fit. A context manager that restores the terminal's contents at the end.

    stream: output; None for standard output.
    size: returns (columns, lines).
    sleep: waits for a number of seconds.
    """

    def __init__(self, stream: TextIO | None = None, size: Callable[[], tuple[int, int]] = shutil.get_terminal_size,
                 sleep: Callable[[float], None] = time.sleep):
        self.stream, self.size, self.sleep = stream or sys.stdout, size, sleep
        self._shown: list[str] = []  # the lines on the terminal
        self._shape = None

    def __enter__(self) -> "Terminal":
        self.stream.write(ENTER)
        return self

    def __exit__(self, *_):
        self.stream.write(LEAVE)
        self.stream.flush()

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
        """Sleep; always returns True."""
        self.sleep(max(seconds, 0.0))
        return True


def check(stream: TextIO):
    """Raises RunError if `stream` cannot show pictures."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        raise RunError("--terminal needs a terminal as output, not a file, a pipe or a dumb terminal: leave out the "
                       "redirection, or film an episode with `record`")
    try:
        BLOCK.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        raise RunError(f"--terminal needs an output encoding with {BLOCK.encode('unicode_escape').decode()}, not "
                       f"{stream.encoding}: set PYTHONIOENCODING=utf-8") from None


def fitted(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    """A picture (h, w, 3) uint8 scaled to fit into width x height: enlarged by an integer factor, or reduced by averaging."""
    scale = min(width / picture.shape[1], height / picture.shape[0])
    if scale >= 1:
        return picture.repeat(int(scale), 0).repeat(int(scale), 1)
    size = max(1, int(picture.shape[1] * scale)), max(1, int(picture.shape[0] * scale))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def half_blocks(picture: np.ndarray) -> list[str]:
    """A picture (h, w, 3) uint8 as lines of text, two rows in each line. A colour is written only if it changes."""
    if len(picture) % 2:
        picture = np.concatenate([picture, np.zeros_like(picture[:1])])
    cells = np.concatenate([picture[0::2], picture[1::2]], 2)  # (lines, w, 6): upper, lower
    return [_line(row) for row in cells]


def _line(cells: np.ndarray) -> str:
    """One line of text; cells: (w, 6) uint8, the upper and the lower colour of each character."""
    starts = np.flatnonzero(np.r_[True, (cells[1:] != cells[:-1]).any(1)])
    runs = np.diff(np.r_[starts, len(cells)]).tolist()
    colours = cells[starts].tolist()
    return "".join(f"\x1b[38;2;{r};{g};{b};48;2;{R};{G};{B}m{BLOCK * run}"
                   for (r, g, b, R, G, B), run in zip(colours, runs, strict=True)) + "\x1b[0m"
