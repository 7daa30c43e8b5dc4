"""Shared by all benchmarks: the command line, timing, the head of a page with the machine and the versions, and the output."""

import argparse
import contextlib
import math
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

import envs_c
from envs_c.machine import cores, cpu_name
from trainer.runs.machine import versions

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("insertcoin", "numpy", "cython", "gymnasium", "torch")


def new_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Make the parser of `python -m benchmarks.NAME`.

    description: the module's docstring.
    """
    return argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option: an integer of at least `least`."""
    def integer(text: str) -> int:
        with contextlib.suppress(ValueError):
            if (value := int(text)) >= least:
                return value
        raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, not {text}")
    return integer


def above_zero(text: str) -> float:
    """The type of an option: a finite number above 0."""
    with contextlib.suppress(ValueError):
        if 0 < (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")


def check_games(parser: argparse.ArgumentParser, games: Iterable[str]):
    """End the program with an error if one of these games does not exist."""
    for game in games:
        try:
            envs_c.game(game)
        except envs_c.EnvsError as error:
            parser.error(str(error))


def median_seconds(work: Callable[[], object], *, rounds: int = 7, seconds: float = 0.3) -> float:
    """Return the median seconds of a call, after one round to warm up.

    rounds: number of measured rounds, each with as many calls as fit into `seconds`.
    """
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


def score(value: float, digits: int = 4) -> str:
    """Format a score or its error, such as 12,345 or 1.234: below 1,000 with so many digits, from there on whole.

    digits: 1 to 4. Numbers with more digits before the point are whole, too.
    """
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if abs(float(text)) >= min(1000, 10**digits) else text


def module_of(program: str) -> str:
    """The module that `python -m` ran, such as benchmarks.speed.scaling. program: its file, `sys.argv[0]`."""
    path = Path(program).resolve().with_suffix("")
    path = path.parent if path.name == "__main__" else path
    folder = Path(__file__).resolve().parent
    return ".".join((folder.name, *(path.relative_to(folder).parts if path.is_relative_to(folder) else [path.name])))


def head(title: str) -> str:
    """Return the head of a Markdown page: title, command, machine and versions."""
    packages = ", ".join(f"{package} {version}" for package, version in versions(PACKAGES).items())
    command = shlex.join(["python", "-m", module_of(sys.argv[0]), *sys.argv[1:]])
    return (f"# {title}\n\n`{command}`, {date.today().isoformat()}\n\n"
            f"{cpu_name()}, {cores()} cores, {platform.system()} {platform.release()}; "
            f"Python {platform.python_version()}, {packages}. Times are medians unless stated otherwise. Ratios hold on other "
            "machines too, absolute numbers do not.\n")


def head_of(page: Path) -> str:
    """The head of an earlier page as `head` wrote it, for a page that is written again of the same measurements."""
    return "\n\n".join(page.read_text(encoding="utf-8").split("\n\n")[:3]) + "\n"


def publish(text: str, out: Path | None):
    """Print a page, and write it to the file `out` unless that is None."""
    print(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
