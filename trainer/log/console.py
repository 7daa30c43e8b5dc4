"""rich's console with the broken pipes of this program: rich itself ends the process with status 1 when a reader has gone."""

from rich.console import Console


class Terminal(Console):
    """A console whose broken pipe is Python's BrokenPipeError, with which the command line ends with 141."""

    def on_broken_pipe(self) -> None:
        """Called in an `except` clause."""
        raise


class LogConsole(Console):
    """A console that prints no more once its reader has gone, and notes that: a training first saves what it has."""

    reader_gone = False

    def on_broken_pipe(self) -> None:
        """Called in an `except` clause."""
        self.quiet = self.reader_gone = True
