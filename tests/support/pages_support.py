"""Pages of the repository and of benchmarks/results as text, and their tables as rows by column."""

import re

from setup_support import ROOT


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def flat(page: str) -> str:
    return " ".join(read(page).split())


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(path: str, heading: str = "") -> list[list[dict[str, str]]]:
    """The tables of a page, or of its part below a heading, as rows by column. A second column of one name gets a 2."""
    part = read(path).split(f"\n{heading}\n")[1] if heading else read(path)
    part = re.split(r"\n#+ ", part)[0] if heading else part
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", part + "\n", re.MULTILINE):
        head, _, *rows = map(cells, block.strip().splitlines())
        names = [name + "2" * (name in head[:place]) for place, name in enumerate(head)]
        found.append([dict(zip(names, row, strict=True)) for row in rows])
    return found


def result_rows(name: str, table: int = 0, heading: str = "") -> list[dict[str, str]]:
    return tables(f"benchmarks/results/{name}", heading)[table]


def number(text: str) -> float:
    return float(text.replace(",", "").replace("*", ""))


def rounds_to(quoted: str, exact: float) -> bool:
    """Whether a quoted number is the exact one with its digits; results are rounded too, so half a unit may go either way."""
    return abs(number(quoted) - exact) <= 0.5001 * 10.0 ** -len(quoted.partition(".")[2])
