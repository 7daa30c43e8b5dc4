"""Tables for whoever asks: drawn in a terminal, plain columns in a file or a pipe."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def show(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console, right: Sequence[str] = ()):
    """Print a table; `right` names the columns of numbers, which are set flush right."""
    if not console.is_terminal:
        for line in plain(columns, rows, right):
            console.out(line, highlight=False)
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table, markup=False, highlight=False)


def plain(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """The lines of a table as text: as wide as it has to be, so that nothing is cut."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    return ["  ".join(text.rjust(width) if name in right else text.ljust(width)
                      for name, text, width in zip(columns, row, widths, strict=True)).rstrip() for row in [columns, *rows]]
