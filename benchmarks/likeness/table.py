"""A table in a Markdown file, between two lines. Rows that were not measured stay."""

from pathlib import Path

from trainer.log.text import markdown

BEGIN, END = "<!-- written by python -m benchmarks.likeness -->", "<!-- end of the table -->"


def has_lines(path: Path, begin: str = BEGIN) -> bool:
    """True if a file has the lines before and behind a table, in this order."""
    return path.is_file() and END in path.read_text(encoding="utf-8").partition(begin)[2]


def old_rows(text: str, columns: list[str], names: int = 1) -> dict[tuple[str, ...], list[str]]:
    """The rows of a table with these columns or the first of them; cells that it lacks are "not measured".

    names: so many columns together name a row, and are its key.
    """
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    if not cells or cells[0] != columns[:len(cells[0])]:
        return {}
    return {tuple(row[:names]): row + ["not measured"] * (len(columns) - len(row)) for row in cells[2:]}


def write(path: Path, columns: list[str], rows: list[list[str]], order: list[str], *, names: int = 1, begin: str = BEGIN):
    """Put the rows into the file's table, which then has the games in this order.

    names: as in `old_rows`.
    begin: the line before the table.
    """
    head, rest = path.read_text(encoding="utf-8").split(begin, 1)
    old, rest = rest.split(END, 1)
    merged = old_rows(old, columns, names) | {tuple(row[:names]): row for row in rows}
    kept = sorted((row for row in merged.values() if row[0] in order), key=lambda row: order.index(row[0]))
    path.write_text(f"{head}{begin}\n\n{markdown(columns, kept).strip()}\n\n{END}{rest}", encoding="utf-8")
