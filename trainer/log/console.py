"""rich's console with the broken pipes of this program: rich itself ends the process with status 1 when a reader has gone."""

from typing import Any

from rich.console import Console


class _Wide(Console):
    """A console of 80 columns if the variable COLUMNS is 0: rich would print nothing."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if not self.width:
            self.width = 80


class Terminal(_Wide):
    """A console whose broken pipe is Python's BrokenPipeError, with which the command line ends with 141."""

    def on_broken_pipe(self) -> None:
        """Called in an `except` clause."""
        raise


class LogConsole(_Wide):
    """A console that prints no more once its reader has gone, and notes that: a training first saves what it has."""

    reader_gone = False

    def on_broken_pipe(self) -> None:
        """Called in an `except` clause."""
        self.quiet = self.reader_gone = True
