"""Games in a terminal: its pictures, and the keys typed in it."""

import io
import os
import pty
import re
import termios

import numpy as np
import pytest

from envs_c.errors import NoScreen
from envs_c.play import blocks, terminal, typed
from envs_c.play.typed import HOLD, Typed

CELL = re.compile(r"\x1b\[(\d+);1H|\x1b\[38;2;(\d+);(\d+);(\d+);48;2;(\d+);(\d+);(\d+)m|▀")


def drawn(text: str, columns: int, rows: int) -> np.ndarray:
    """The picture (2 rows, columns, 3) on a terminal after this output."""
    picture, row, column = np.zeros((2 * rows, columns, 3), np.uint8), 0, 0
    for match in CELL.finditer(text):
        if match[1]:
            row, column = int(match[1]) - 1, 0
        elif match[2]:
            colours = np.array([int(one) for one in match.groups()[1:]], np.uint8).reshape(2, 3)
        else:
            picture[2 * row:2 * row + 2, column] = colours
            column += 1
    return picture


@pytest.mark.parametrize("shape", [(3, 5), (40, 30), (9, 200)])
def test_the_terminal_shows_the_picture_that_fits(shape):
    picture = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    stream, columns, rows = io.StringIO(), 60, 11
    with terminal.Terminal(stream, lambda: (columns, rows)) as screen:
        screen.show(picture, "the caption")
    fits = blocks.fitted(picture, columns, 2 * (rows - 1))
    shown = drawn(stream.getvalue(), columns, rows)
    assert (shown[:fits.shape[0], :fits.shape[1]] == fits).all()
    assert not shown[fits.shape[0]:].any() and not shown[:, fits.shape[1]:].any()
    assert "the caption" in stream.getvalue()


def test_a_picture_is_fitted_in_whole_multiples_or_by_averages():
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert (blocks.fitted(picture, 11, 99) == picture.repeat(2, 0).repeat(2, 1)).all()
    mean = picture.reshape(1, 2, 2, 2, 3).mean((1, 3))
    assert np.abs(blocks.fitted(picture, 2, 9) - mean).max() <= 0.5
    assert blocks.fitted(picture, 1, 1).shape == (1, 1, 3)


def test_only_lines_that_changed_are_written_again():
    picture, stream = np.zeros((20, 8, 3), np.uint8), io.StringIO()
    screen = terminal.Terminal(stream, lambda: (80, 24))
    screen.show(picture, "a")
    stream.truncate(0)
    screen.show(picture, "a")
    assert stream.getvalue().strip("\0") == ""
    changed = picture.copy()
    changed[0, 0] = 255
    screen.show(changed, "a")
    assert stream.getvalue().count("\x1b[1;1H") == 1 and "\x1b[2;1H" not in stream.getvalue()


@pytest.mark.parametrize("end", [None, KeyboardInterrupt, ValueError])
def test_the_terminal_is_restored(end):
    stream = io.StringIO()
    try:
        with terminal.Terminal(stream, lambda: (40, 10)) as screen:
            screen.show(np.zeros((4, 4, 3), np.uint8), "a")
            if end:
                raise end
    except (KeyboardInterrupt, ValueError):
        pass
    assert stream.getvalue().startswith("\x1b[?1049h\x1b[?25l")
    assert stream.getvalue().endswith("\x1b[0m\x1b[?25h\x1b[?1049l")


def test_an_output_that_cannot_show_blocks_is_refused(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    with pytest.raises(NoScreen, match="not latin-1: set PYTHONIOENCODING=utf-8"):
        terminal.check(stream)


@pytest.fixture
def typing():
    """A pseudo-terminal: the descriptor that a person types into, and the stream that the program reads."""
    keys, program = pty.openpty()
    with open(program, encoding="utf-8", closefd=True) as stream:
        yield keys, stream
    os.close(keys)


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(("data", "names"), [
    (b"a", ["a"]), (b"W", ["w"]), (b" ", ["space"]), (b"\r", ["return"]), (b"\x1b[A\x1b[D", ["up", "left"]),
    (b"\x1bOB\x1bOC", ["down", "right"]), (b"\x1b[1;2A", ["up"]), (b"\x1b[15~p", ["p"]), (b"q", ["q"]), (b"\x1b", ["escape"]),
    (b"\xc3\xa9x", ["ã", "©", "x"])])
def test_keys_typed_in_a_terminal_have_the_names_of_a_windows_keys(typing, data, names):
    keys, stream = typing
    with Typed(stream, Clock()) as typed:
        os.write(keys, data)
        typed.listen(0)
        assert typed.pressed() == names
        assert typed.pressed() == []
        assert typed.closed == (names[0] in ("q", "escape"))


@pytest.mark.parametrize(("begin", "rest", "names"), [
    (b"\x1b", b"[A", ["up"]), (b"\x1b[", b"B", ["down"]), (b"a\x1b[1;", b"2C", ["a", "right"]), (b"\x1bO", b"D", ["left"]),
    (b"\x1b[", b"", ["escape", "["])])
def test_an_arrow_whose_bytes_come_in_two_parts_is_one_key(typing, monkeypatch, begin, rest, names):
    parts = [begin, rest]
    monkeypatch.setattr(Typed, "_read", lambda self, seconds: parts.pop(0) if parts else b"")
    with Typed(typing[1], Clock()) as typed:
        typed.listen(0)
        assert (typed.pressed(), typed.closed) == (names, "escape" in names)


@pytest.mark.parametrize("tiles", [False, True])
def test_a_typed_key_counts_for_a_moment_or_once_in_games_of_tiles(typing, tiles):
    keys, stream = typing
    clock = Clock()
    with Typed(stream, clock) as typed:
        typed.tiles = tiles
        os.write(keys, b"a")
        typed.listen(0)
        assert typed.keys() == {"a"}
        clock.now = 0.99 * HOLD
        assert typed.keys() == (set() if tiles else {"a"})
        clock.now = HOLD
        assert typed.keys() == set()


def test_typed_keys_are_not_shown_and_the_terminal_is_as_before_afterwards(typing):
    stream = typing[1]
    before = termios.tcgetattr(stream)
    with pytest.raises(KeyboardInterrupt), Typed(stream):
        assert not termios.tcgetattr(stream)[3] & (termios.ECHO | termios.ICANON)
        raise KeyboardInterrupt
    assert termios.tcgetattr(stream) == before


def test_the_end_of_the_input_leaves_the_game():
    keys, program = pty.openpty()
    with open(program, encoding="utf-8") as stream, Typed(stream) as typed:
        os.close(keys)
        typed.listen(1000)
        assert typed.closed


def test_windows_has_no_keys_of_a_terminal(monkeypatch):
    monkeypatch.setattr(typed, "termios", None)
    with pytest.raises(NoScreen, match=r"^--terminal needs Linux or macOS, .*: leave it out for a window$"):
        Typed()


def test_keys_need_a_terminal():
    with pytest.raises(NoScreen, match="--terminal needs a terminal as input for the keys"):
        Typed(io.StringIO())
