"""Tables as text: aligned columns, Markdown for a page, a drawn table for a terminal. Cells may be foreign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs_c.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDEST = 1_000_000  # columns of a terminal in which any table fits


def show(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console, right: Sequence[str] = ()) -> None:
    """Print a table: drawn in a terminal, aligned columns in a file or a pipe.

    A terminal too narrow for the drawn table gets aligned columns too: folded names could not be copied.
    right: names of the columns to align to the right, such as numbers.
    """
    rows = [list(map(printable, row)) for row in rows]
    table = _drawn(columns, rows, right) if console.is_terminal else None
    if table is None or _width(table, console) > console.width:
        for line in plain(columns, rows, right):
            console.out(line, highlight=False)
    else:
        console.print(table, markup=False, highlight=False)


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> Table:
    """A table for a terminal."""
    from rich.box import SIMPLE_HEAD  # here, since `plain` and `markdown` must work without rich
    from rich.table import Table
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _width(table: Table, console: Console) -> int:
    """The columns of a terminal that a table fills if none of its cells is folded."""
    return console.measure(table, options=console.options.update(width=_WIDEST, markup=False)).maximum


def plain(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """The lines of a table, two spaces between columns. No cell is cut.

    right: names of the columns to align to the right.
    """
    aligned = _aligned(columns, rows, right)
    return ["  ".join(cells).rstrip() for cells in aligned]


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, padded to be readable in a terminal too."""
    head, *body = _aligned(columns, [[str(cell) for cell in row] for row in rows])
    lines = [head, ["-" * len(cell) for cell in head], *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[list[str]]:
    """The head and the rows of a table, every cell padded to the width of its column."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    return [[cell.rjust(width) if name in right else cell.ljust(width)
             for name, cell, width in zip(columns, row, widths, strict=True)] for row in [columns, *rows]]
