"""The fuzzer's command line: `python -m tools.fuzz`. It ends with 1 if a case had a wrong outcome.

    python -m tools.fuzz                                     20,000 cases of all surfaces
    python -m tools.fuzz --cases 1000000 --seed 7            more of them, and others
    python -m tools.fuzz --surface states                    of one surface
    python -m tools.fuzz --surface states --seed 7 --case 12      the one case that a report names
    python -m tools.fuzz --surface states --seed 7 --case 0-12    with the cases before it in its process
"""

import argparse
import re
import sys
import time
from pathlib import Path

from envs_c.machine import cores
from tools.fuzz import SURFACES, pool

CASES = 20_000
SECONDS = 60.0  # of one case; most take milliseconds
REPORT = Path(__file__).resolve().parents[2] / "build" / "fuzz.txt"


def main(argv: list[str] | None = None) -> int:
    """Run the cases, print a table, and write the faults to a file."""
    options = parse(argv)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with options.report.open("w", encoding="utf-8") as file:

        def found(fault: pool.Fault) -> None:
            text = describe(fault, options.seed)
            print(text.partition("\n")[0], file=sys.stderr, flush=True)
            print(text, file=file, end="\n\n", flush=True)

        results = pool.run(todo(options), options.seed, options.workers, options.seconds, found)
    print(table(results))
    faults = sum(len(result.faults) for result in results.values())
    print(f"{sum(result.cases for result in results.values()):,} cases with seed {options.seed} in "
          f"{time.monotonic() - began:.0f} s: " + (f"{faults} faults, see {options.report}" if faults else "no fault"))
    return 1 if faults else 0


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES,
                        help=f"cases of all surfaces together, at least one of each (default: {CASES})")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases (default: 1)")
    parser.add_argument("--surface", help=f"one of {', '.join(SURFACES)}, or the import path of a module (default: all)")
    parser.add_argument("--case", help="only this case of a surface, such as 12, or some, such as 0-12")
    parser.add_argument("--workers", type=int, default=cores(), help="processes at a time (default: one a core)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"after which a case hangs (default: {SECONDS:g})")
    parser.add_argument("--report", type=Path, default=REPORT, help="the file of the faults (default: build/fuzz.txt)")
    options = parser.parse_args(argv)
    if options.surface is not None and "." not in options.surface and options.surface not in SURFACES:
        parser.error(f"--surface must be one of {', '.join(SURFACES)}, not {options.surface}")
    if options.case is not None and options.surface is None:
        parser.error("--case needs --surface")
    if options.case is not None and not re.fullmatch(r"\d+(-\d+)?", options.case):
        parser.error(f"--case must be a number, or two such as 0-12, not {options.case}")
    if options.workers < 1:
        parser.error(f"--workers must be at least 1, not {options.workers}")
    return options


def todo(options: argparse.Namespace) -> list[pool.Job]:
    """The jobs that the options ask for."""
    if options.case is not None:
        first, _, last = options.case.partition("-")
        return [pool.Job(options.surface, int(first), int(last or first))]
    shares = SURFACES if options.surface is None else {options.surface: 100}
    whole = sum(shares.values())
    return pool.jobs({name: max(1, options.cases * share // whole) for name, share in shares.items()}, options.workers)


def describe(fault: pool.Fault, seed: int) -> str:
    """A fault as text: how to repeat it in the first line."""
    again = f"python -m tools.fuzz --surface {fault.surface} --seed {seed} --case {fault.case}"
    return f"{fault.kind}: {again}\n(first case of its process: {fault.first})\n{fault.text.rstrip()}"


def table(results: dict[str, pool.Result]) -> str:
    """A Markdown table of the results."""
    rows = ["| surface | cases | calls accepted | calls refused | faults | seconds |",
            "| --- | --- | --- | --- | --- | --- |"]
    rows += [f"| {name} | {result.cases:,} | {result.counts['accepted']:,} | {result.counts['refused']:,} | "
             f"{len(result.faults):,} | {result.seconds:.0f} |" for name, result in results.items()]
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
