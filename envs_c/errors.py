"""The errors of `envs_c`, and the hint for a misspelt name.

Every message names the setting, states what it must be, gives the value, and then says what to do.
"""

import difflib
from collections.abc import Iterable

from envs_c.text import message


class EnvsError(Exception):
    """Base class of all errors of this package. A text may name what others wrote, and is printable; see `envs_c.text`."""

    _lines = False  # True for texts of several lines

    def __init__(self, *parts: object):
        super().__init__(*(message(part, lines=self._lines) for part in parts))


class UnknownGame(EnvsError, ValueError):
    """There is no game of this name."""


class InvalidArgument(EnvsError, ValueError):
    """A setting, an action or a buffer has the wrong type, shape or range."""


class UnknownSetting(InvalidArgument, TypeError):
    """`make` has no setting, and the game no option, of this name."""


class InvalidState(EnvsError, ValueError):
    """`set_state` was given damaged bytes, a snapshot of another game, version or set of options, or an impossible state."""


class OtherVersion(InvalidState):
    """`set_state` was given a snapshot of another version of the same game."""


class NotReset(EnvsError, RuntimeError):
    """`step` was called before `reset`, or after an episode's end under autoreset "disabled"."""


class OutOfTurn(EnvsError, RuntimeError):
    """One half of a step was called without the other: `recv` without `send`, or `step_wait` without `step_async`."""


class Closed(EnvsError, RuntimeError):
    """The environments were used after `close`."""


class CannotCopy(EnvsError, TypeError):
    """A batch, asynchronous environments, or a game that cannot be found again, was to be pickled or copied."""


class Busy(EnvsError, RuntimeError):
    """Another thread is using the same environments."""


class NoScreen(EnvsError, RuntimeError):
    """There is no display, no terminal or no pygame to show a game with."""


class CompileFailed(EnvsError, RuntimeError):
    """A game's .pyx does not compile; the message holds the compiler's output."""

    _lines = True


class ContractError(EnvsError, TypeError):
    """A game breaks the contract in game.pxd."""

    _lines = True


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.4) -> str:
    """Suggest the known name most similar to `name`.

    name: the name as the user wrote it.
    known: all valid names.
    cutoff: the least similarity, 0 to 1, of difflib.get_close_matches.
    Returns "did you mean breakout?", or "" if no name is similar enough.
    """
    matches = difflib.get_close_matches(str(name), list(known), n=1, cutoff=cutoff)
    return f"did you mean {matches[0]}?" if matches else ""
