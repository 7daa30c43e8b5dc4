"""What the console must know of a game, found by experiments with ale-py, beside the row of games.toml.

    python -m tools.console_facts starts [GAME...]   what ale-py presses to start, in each mode
    python -m tools.console_facts ends [GAME...]     which bytes of RAM hold the end of the game and the lives
    python -m tools.console_facts changed [GAME...]  the same ends in RAMs with bytes changed at random
    python -m tools.console_facts power_on           RAM, timers and a cartridge's own RAM at power-on, beside the rule

A line is a game: "equal", or what ale-py does and what the table has. ale-py does not return for some games under a program of
our own; they are given up after SECONDS.
"""

import multiprocessing
import re
import sys

from envs_c.console import cartridges, starts
from tools.console_facts import power_on

SECONDS = 60   # a game
TRIES = 100_000  # RAMs
FRAMES = 6_000  # of random play, until two games have ended


def played(start: str, presses: int) -> str:
    """A start of games.toml with its loop written out."""
    start = re.sub(r"(\d+)\[([^]]*)\]", lambda part: " ".join([part[2]] * int(part[1])), start)
    start = re.sub(r"\[([^]]*)\]", lambda part: " ".join([part[1]] * presses), start)
    words: list[list] = []
    for name, frames in re.findall(r"([A-Za-z]+)(\d+)", start):
        if words and words[-1][0] == name:
            words[-1][1] += int(frames)
        else:
            words.append([name, int(frames)])
    return " ".join(f"{name}{min(frames, 255)}" for name, frames in words)


def starts_report(name: str) -> str:
    from tools.console_facts.recorder import start_of

    row, wrong = cartridges.table()[name], []
    for mode, *_values in starts.modes(row):
        seen, presses = start_of(name, mode, None)
        fixed = len(re.findall(r"S\d+", played(row["start"], 0)))
        if seen != played(row["start"], presses - fixed):
            wrong.append(f"mode {mode}: ale-py {seen}; table {row['start']}")
    return "; ".join(wrong) or "equal"


def ends_report(name: str) -> str:
    from tools.console_facts.ends import search

    row, found = cartridges.table()[name], search(name, FRAMES)
    known = [sorted(map(tuple, tests)) for tests in row["over"]]
    new = [tests for tests in found["over"] if sorted(map(tuple, tests)) not in known]
    terms = {(address, coding) for address, coding, _ in row["lives"]}
    odd = [form for form in found["lives"] if (form[0], form[1]) not in terms]
    parts = [f"over {new}; table {row['over']}" if new else "", f"lives {odd}; table {row['lives']}" if odd else "",
             f"unclear bytes of the lives: {found['unclear']}" if found["unclear"] else ""]
    return "; ".join(part for part in parts if part) or "equal"


def changed_report(name: str) -> str:
    from tools.console_facts.ends import changed_at_random

    ends, wrong = changed_at_random(name, TRIES)
    return f"{'equal' if not wrong else f'{len(wrong):,} differ, the first: {wrong[0]}'}; {ends:,} ends in {TRIES:,} RAMs"


REPORTS = {"starts": starts_report, "ends": ends_report, "changed": changed_report}


def within(report, name: str) -> str:
    """The report of a game, from a process of its own."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        try:
            return pool.apply_async(report, (name,)).get(SECONDS)
        except multiprocessing.TimeoutError:
            return f"ale-py did not answer within {SECONDS} seconds"


def main(arguments: list[str]) -> None:
    if arguments == ["power_on"]:
        print(f"power-on: {power_on.report()}")
        return
    if not arguments or arguments[0] not in REPORTS:
        sys.exit(__doc__)
    there = cartridges.present()
    for name in arguments[1:]:
        if name not in there:
            sys.exit(f"GAME must be one whose cartridge is there, not {name}: {', '.join(there)}")
    for name in arguments[1:] or there:
        print(f"{name}: {within(REPORTS[arguments[0]], name)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
