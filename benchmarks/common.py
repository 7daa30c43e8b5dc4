"""What every benchmark needs: medians, tables, and a head that says on what machine, with which versions, by which command."""

import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path

from envs_c.checks import cores
from trainer.runs.machine import cpu_name

PACKAGES = ("insertcoin", "numpy", "cython", "gymnasium", "torch")


def median_seconds(work: Callable[[], object], *, rounds: int = 7, seconds: float = 0.3) -> float:
    """Median time of one call, over `rounds` rounds of about `seconds` each, after one round to warm up."""
    work()
    begin, calls = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        work()
        calls += 1
    results = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        results.append((time.perf_counter() - begin) / calls)
    return statistics.median(results)


def head(title: str) -> str:
    """Markdown: the title, the command, the machine and the versions."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    module = Path(sys.argv[0]).stem if sys.argv else ""
    command = shlex.join(["python", "-m", f"benchmarks.{module}", *sys.argv[1:]])
    return (f"# {title}\n\n`{command}`, {date.today().isoformat()}\n\n"
            f"{cpu_name()}, {cores()} cores, {platform.system()} {platform.release()}; "
            f"Python {platform.python_version()}, {', '.join(versions)}. Medians; ratios travel between machines, "
            "absolute figures do not.\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table, its columns padded so that it reads in a terminal too."""
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines) + "\n"


def rate(per_second: float) -> str:
    """12.3M, 456K."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if per_second >= size:
            number = per_second / size
            return f"{number:.1f}{unit}" if number < 100 else f"{number:.0f}{unit}"
    return f"{per_second:.0f}"


def publish(text: str, out: Path | None):
    """Print a result, and write it to `out` if that is given."""
    print(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
