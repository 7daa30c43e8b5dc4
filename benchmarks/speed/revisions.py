"""Two revisions, measured alternately: `python -m benchmarks.speed.revisions REV [REV]`, or `make bench-compare REV=...`.

Each revision is checked out and built in a worktree of its own under build/, without changes that are not committed. Then its
own `benchmarks.envs` and `benchmarks.train` run in a short form, in the order A B, B A, A B, ..., so that a machine which slows
down slows both. With --games only `benchmarks.envs` runs, on these games: for changes of their rules. The tables' speeds are
compared round by round: the geometric mean of the ratios, with its 95% interval by Student's t of their logarithms. Of twenty
rows without a difference one is called faster or slower. The speeds have three digits: a ratio nearer to 1 than 0.5% can be
rounding. The worktrees are removed at the end, also after Ctrl-C.
"""

import argparse
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import check_games, head, new_parser, publish
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.results.statistics import student_interval

ROOT = Path(__file__).resolve().parents[2]
BUILD = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
GAMES = (sys.executable, "-m", "benchmarks.envs")  # followed by games
WORK = {  # the commands that a round runs in each worktree; each prints Markdown tables
    "envs": (*GAMES, "breakout"),
    "train": (sys.executable, "-m", "benchmarks.train", "--iterations=5"),
}
SPEED = re.compile(r"steps/s|insertcoin$")  # the columns with speeds; others are limits, shares and ratios
UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}

Speeds = dict[tuple[str, str, str], float]  # (benchmark, row, column): steps/s


class RevisionError(Exception):
    """A revision that cannot be measured."""


def run(command: tuple[str, ...], folder: Path) -> str:
    """The standard output of a command that uses the modules of `folder`. Raises RevisionError if it fails."""
    done = subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RevisionError(f"{shlex.join(command)} failed in {folder}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def commit_of(revision: str) -> str:
    """The hash of a revision. Raises RevisionError if there is none."""
    found = subprocess.run(["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], cwd=ROOT,
                           capture_output=True, text=True, check=False)
    if found.returncode:
        raise RevisionError(f"REV must be a commit of this repository, not {revision!r}: see git log --oneline")
    return found.stdout.strip()


@contextlib.contextmanager
def worktrees(commits: list[str]) -> Iterator[list[Path]]:
    """Within this context each commit is checked out in a folder of its own under build/."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compare-", dir=ROOT / "build") as folder:
        trees = [Path(folder, f"{k}-{commit[:10]}") for k, commit in enumerate(commits)]
        try:
            for tree, commit in zip(trees, commits, strict=True):
                run(("git", "worktree", "add", "--quiet", "--detach", str(tree), commit), ROOT)
            yield trees
        finally:
            for tree in filter(Path.exists, trees):
                run(("git", "worktree", "remove", "--force", "--force", str(tree)), ROOT)
            run(("git", "worktree", "prune"), ROOT)


def speeds(benchmark: str, text: str) -> Speeds:
    """The speeds in the Markdown tables of a benchmark's output. A row is named by its cells before the first speed."""
    found, columns = {}, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if line.startswith("|") else []
        if not cells or set(line) <= set("|-: "):
            columns = columns if cells else []
        elif not columns:
            columns = cells
        else:
            places = [k for k, column in enumerate(columns) if SPEED.search(column)]
            for k in places:
                number = re.fullmatch(r"([\d.]+)([KMG]?)", cells[k])
                if number:
                    found[benchmark, " ".join(cells[:min(places[0], 2)]), columns[k]] = float(number[1]) * UNITS[number[2]]
    return found


def measure(trees: list[Path], rounds: int, work: dict[str, tuple[str, ...]]) -> list[list[Speeds]]:
    """The speeds of each tree in each round.

    work: the commands by the names of the benchmarks, as in WORK.
    """
    results: list[list[Speeds]] = [[] for _ in trees]
    for number in range(rounds):
        order = range(len(trees)) if number % 2 == 0 else reversed(range(len(trees)))
        for k in order:
            print(f"round {number + 1} of {rounds}: {trees[k].name}", file=sys.stderr, flush=True)
            results[k].append({key: value for name, command in work.items()
                               for key, value in speeds(name, run(command, trees[k])).items()})
    return results


def ratio(before: list[float], after: list[float]) -> tuple[float, float, float]:
    """The geometric mean of after / before over the rounds, and its interval."""
    logs = np.log(after) - np.log(before)
    middle, low, high = np.exp([logs.mean(), *student_interval(logs)])
    return float(middle), float(low), float(high)


def table(before: list[Speeds], after: list[Speeds], names: list[str]) -> str:
    """The table of the speeds that every round of both has. Raises RevisionError if there are none."""
    shared = [key for key in before[0] if all(key in one for one in before + after)]
    if not shared:
        raise RevisionError("the benchmarks of the two revisions must print one speed in common; choose newer revisions")
    rows = []
    for key in shared:
        two = [[one[key] for one in side] for side in (before, after)]
        middle, low, high = ratio(*two)
        verdict = "faster" if low > 1 else "slower" if high < 1 else "-"
        medians = [count(float(np.median(side))) for side in two]
        rows.append([*key, *medians, f"{middle:.3f}", f"{low:.3f} to {high:.3f}", verdict])
    return markdown(["benchmark", "row", "speed", *names, "ratio", "95% interval", "second is"], rows)


def main(arguments: list[str] | None = None):
    parser = new_parser("speed.revisions", __doc__)
    parser.add_argument("revisions", nargs="+", metavar="REV", help="one or two commits; one is compared with HEAD")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, each with both revisions (default: 7)")
    parser.add_argument("--games", nargs="+", default=[], metavar="GAME", help="measure only these games, and no training")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args(arguments)
    check_games(parser, options.games)
    try:
        measure_revisions(options)
    except RevisionError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("stopped; the worktrees are removed", file=sys.stderr)
        sys.exit(130)


def measure_revisions(options: argparse.Namespace):
    if len(options.revisions) > 2:
        raise RevisionError(f"REV must be one or two commits, not {len(options.revisions)}")
    if options.rounds < 3:
        raise RevisionError(f"--rounds must be at least 3, not {options.rounds}: an interval needs several rounds")
    names = [*options.revisions, "HEAD"][:2]
    with worktrees([commit_of(name) for name in names]) as trees:
        for tree in trees:
            print(f"building {tree.name}", file=sys.stderr, flush=True)
            run(BUILD, tree)
        before, after = measure(trees, options.rounds, {"envs": (*GAMES, *options.games)} if options.games else WORK)
    publish(head("Two revisions") + "\n" + table(before, after, names), options.out)


if __name__ == "__main__":
    main()
