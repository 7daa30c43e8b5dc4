"""The command line of the mutation tester: see benchmarks/mutants/__init__.py. It ends with 0, however many mutants survive."""

import argparse
import difflib
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import benchmarks.mutants as mutants_package
from benchmarks.common import at_least, head, new_parser, publish
from benchmarks.mutants import AREAS, Area, cython_mutants, python_mutants
from trainer.log.text import markdown

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants"
NOT_COPIED = {".git", ".venv", "build", "runs", "dist"}  # of the repository's root: trainer/runs is a package
BUILD = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not gpu and not learn")
PATIENCE = 4  # a mutant's tests may take so many times as long as those of the sources, and half a minute
KILLED, SURVIVED, UNBUILT = "killed", "survived", "not compiled"


class Mutant(NamedTuple):
    """A file of the copy and its changed text."""

    file: Path
    text: str

    def difference(self) -> str:
        """The changed lines, with the file and the line number."""
        old = text_of(self.file).splitlines()
        new = self.text.splitlines()
        row = next(k for k, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
        changed = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
        return "\n".join([f"{self.file}:{row + 1}", *changed])


def main(argv: list[str] | None = None) -> int:
    """Draw mutants, test them, print a line for each, and write the table."""
    options = parse(argv)
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.copytree(ROOT, TREE, ignore=left_out)
    counts, survivors = {}, []
    for name in options.areas:
        counts[name] = Counter()
        for mutant, verdict in test(AREAS[name], options.sample, random.Random(f"{options.seed} {name}")):
            counts[name][verdict] += 1
            survivors += [mutant.difference()] if verdict == SURVIVED else []
            print(f"{name}: {verdict}\n{mutant.difference()}", flush=True)
    publish(page(counts, survivors), options.out)
    return 0


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = new_parser("mutants", mutants_package.__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", default=list(AREAS),
                        help=f"some of {', '.join(AREAS)} (default: all)")
    parser.add_argument("--sample", type=at_least(1), default=30, help="mutants of an area, drawn at random (default: 30)")
    parser.add_argument("--seed", type=at_least(0), default=1, help="the same seed draws the same mutants of the same sources")
    parser.add_argument("--out", type=Path, help="file to write the table and the survivors to")
    options = parser.parse_args(argv)
    unknown = set(options.areas) - set(AREAS)
    if unknown:
        parser.error(f"AREA must be one of {', '.join(AREAS)}, not {min(unknown)}")
    return options


def left_out(folder: str, names: list[str]) -> set[str]:
    """The names in a folder that are not copied."""
    return {"__pycache__"} | (NOT_COPIED if Path(folder) == ROOT else set()) & set(names)


def test(area: Area, sample: int, draw: random.Random) -> Iterator[tuple[Mutant, str]]:
    """A sample of an area's mutants and what became of each.

    Exits if the area's tests fail without a mutant.
    """
    run(BUILD, None)
    began = time.monotonic()
    if run((*PYTEST, *area.tests), None):
        sys.exit(f"the tests {' '.join(area.tests)} fail without a mutant, in {TREE}")
    seconds = PATIENCE * (time.monotonic() - began) + 30
    every = [(file, place) for file in files(area) for place in mutator(file).places(text_of(file))]
    for file, place in draw.sample(every, min(sample, len(every))):
        mutant = Mutant(file, mutator(file).mutate(text_of(file), place))
        path = TREE / mutant.file
        path.write_text(mutant.text, encoding="utf-8")
        try:
            yield mutant, verdict(mutant, area, seconds)
        finally:
            shutil.copy(ROOT / mutant.file, path)
            path.touch()  # the next build compiles it again, with the next mutant


def files(area: Area) -> list[Path]:
    """The area's files, relative to the root."""
    return sorted(path.relative_to(ROOT) for glob in area.sources for path in ROOT.glob(glob))


def mutator(file: Path):
    """The module that mutates files of this kind."""
    return python_mutants if file.suffix == ".py" else cython_mutants


def text_of(file: Path) -> str:
    """The file of the sources."""
    return (ROOT / file).read_text(encoding="utf-8")


def verdict(mutant: Mutant, area: Area, seconds: float) -> str:
    """KILLED, SURVIVED or UNBUILT, for the mutant that is in the copy."""
    if mutant.file.suffix != ".py" and run(BUILD, None):
        return UNBUILT
    return KILLED if run((*PYTEST, *area.tests), seconds) else SURVIVED


def run(command: tuple[str, ...], seconds: float | None) -> int:
    """The status of a command in the copy; 124 if it does not end within `seconds`."""
    environment = os.environ | {"PYTHONPATH": str(TREE), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(command, cwd=TREE, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return 124


def page(counts: dict[str, Counter], survivors: list[str]) -> str:
    """The table of all areas and the survivors."""
    rows = [[name, str(found.total()), *(str(found[kind]) for kind in (KILLED, SURVIVED, UNBUILT)),
             f"{found[KILLED] / max(1, found[KILLED] + found[SURVIVED]):.0%}"] for name, found in counts.items()]
    columns = ["area", "mutants", KILLED, SURVIVED, UNBUILT, "killed of those that ran"]
    blocks = "\n\n".join(f"```diff\n{one}\n```" for one in survivors)
    return f"{head('Mutants')}\n{markdown(columns, rows)}\n\n## Survivors\n\n{blocks or 'None.'}\n"


if __name__ == "__main__":
    sys.exit(main())
