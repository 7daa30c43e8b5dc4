"""The table in a Markdown file, between two lines. Games that were not measured keep their rows."""

from pathlib import Path

from trainer.log.text import markdown

BEGIN, END = "<!-- written by python -m benchmarks.likeness -->", "<!-- end of the table -->"


def old_rows(text: str, columns: list[str]) -> dict[str, list[str]]:
    """The rows by game, of a table with these columns or the first of them; cells that it lacks are "not measured"."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    if not cells or cells[0] != columns[:len(cells[0])]:
        return {}
    return {row[0]: row + ["not measured"] * (len(columns) - len(row)) for row in cells[2:]}


def write(path: Path, columns: list[str], rows: list[list[str]], order: list[str]):
    """Put the rows into the file's table, which then has the games in this order."""
    head, rest = path.read_text(encoding="utf-8").split(BEGIN, 1)
    old, rest = rest.split(END, 1)
    merged = old_rows(old, columns) | {row[0]: row for row in rows}
    table = markdown(columns, [merged[game] for game in order if game in merged])
    path.write_text(f"{head}{BEGIN}\n\n{table.strip()}\n\n{END}{rest}", encoding="utf-8")
