"""Compare the TIA with ale-py, or read ale-py's palettes.

    python -m tools.console_tia compare [PROGRAMS] [FIRST_SEED]   random programs; each difference is made small and printed
    python -m tools.console_tia palette                           write envs_c/console/pictures/palette.pxd
"""

import sys

from tools.console_tia.oracle import Oracle, differences
from tools.console_tia.palette import write_table
from tools.console_tia.program import NAMES, cycles
from tools.console_tia.random_programs import random_program, shrink


def listing(operations: list[tuple]) -> str:
    """The writes and reads, with line and cycle."""
    cycle, rows = 8, []
    for step in operations:
        if step[0] == "line":
            cycle = -(-(cycle + 3) // 76) * 76
            continue
        cycle += cycles(step)
        if step[0] == "write":
            rows.append(f"  line {cycle // 76} cycle {cycle % 76} {NAMES[step[1]]} {step[2] or 0:02x}")
        elif step[0] == "read":
            rows.append(f"  line {cycle // 76} cycle {cycle % 76} read {step[1]}")
    return "\n".join(rows)


def compare(programs: int, first: int) -> int:
    """Print how many random programs are equal. Returns the number of those that are not."""
    oracle, failed = Oracle(), 0
    for seed in range(first, first + programs):
        operations = random_program(seed)
        pixels, wrong = differences(oracle, operations)
        if len(pixels) or wrong:
            failed += 1
            small = shrink(operations, lambda steps: any(map(len, differences(oracle, steps))))
            print(f"seed {seed}: {len(pixels)} pixels, {len(wrong)} collision bytes differ\n{listing(small)}")
    print(f"{programs - failed} of {programs} programs equal in picture and collisions")
    return failed


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["compare"] and len(arguments) <= 3 and all(text.isdigit() for text in arguments[1:]):
        numbers = [int(text) for text in arguments[1:]]
        return int(compare(*(numbers + [200, 0][len(numbers):])) > 0)
    if arguments == ["palette"]:
        print(write_table(Oracle()))
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
