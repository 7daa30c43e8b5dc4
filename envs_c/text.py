"""Foreign text on a terminal: a name, a setting or a file of somebody else may hold characters that a terminal acts on.

Escape sequences move the cursor or change the window's title, U+202E turns the direction of the text, a newline makes a line of
its own. They are shown as escapes, wherever a text comes from.
"""

import sys
from typing import TextIO

_LONGEST_VALUE = 100      # characters of a value in a message; of a longer one this is shown:
_BEGIN_OF_VALUE = 60
_LONGEST_MESSAGE = 2000   # of a message; of a longer one its begin and its end, which says what to do, are kept:
_BEGIN, _END = 800, 400


def printable(text: object, *, lines: bool = False) -> str:
    """A text whose characters are only printed; others appear as escapes, as \\x1b does. lines: keep newlines."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or (lines and one == "\n") else one.encode("unicode_escape").decode()
                   for one in text)


def shown(value: object) -> str:
    """`value` for a message: one line of at most 100 characters."""
    try:
        text = printable(" ".join(repr(value).split()))
    except Exception:  # an integer of more than 4300 digits, or a faulty __repr__
        return f"a value of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_BEGIN_OF_VALUE]}... ({len(text)} characters)"


def message(text: object, *, lines: bool = False) -> object:
    """The text of an error, printable and not too long; other objects as they are.

    lines: of several lines, and of any length.
    """
    if not isinstance(text, str):
        return text
    whole = printable(text, lines=lines)
    if lines or len(whole) <= _LONGEST_MESSAGE:
        return whole
    return f"{whole[:_BEGIN]} ... ({len(whole):,} characters) ... {whole[-_END:]}"


def say(*texts: object, file: TextIO | None = None) -> None:
    """Print each text as one line, at once. file: default sys.stdout."""
    print("".join(f"{printable(text)}\n" for text in texts), end="", file=file or sys.stdout, flush=True)
