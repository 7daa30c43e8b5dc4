"""Stepping on a busy machine: `python -m benchmarks.speed.busy`.

Several processes at once step Breakout with random actions, each as fast as it can, with the default settings and with others
chosen by hand: one thread, two threads in each call, and, with --old, the default settings of another built copy of this
repository. GOMP_SPINCOUNT is how long waiting threads of OpenMP spin, in torch too: all settings of a case have the same value,
by default or 1000. Beside torch, each step is followed by a product of two 256x256 matrices in the same process. With two
runtimes, an empty region of the system's OpenMP comes after it; torch and the games share another one.

The settings of a case take turns in each round; a figure is the median of the rounds, the sum over the processes. The last
column is the default's figure as a part of the best one by hand; the first table is the least and the most of it.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import above_zero, at_least, head, new_parser, publish
from trainer.log.numbers import count
from trainer.log.text import markdown

TREE = Path(__file__).resolve().parents[2]
PLAYER = Path(__file__).with_name("busy_player.py").read_text(encoding="utf-8")
VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS")  # of this process, which the players do not get
DEFAULT, ALONE = "default", "alone"
BESIDE = [ALONE, "torch first", "torch last", "two runtimes"]
BY_HAND = ["1 thread", "2 threads"]
OLD = "old"
CASES = [(num_envs, view) for num_envs in (64, 1024, 4096) for view in ("features", "pixels")]


class Setting(NamedTuple):
    """How the processes of one group play."""

    name: str
    tree: Path
    num_threads: int
    spin: str | None
    always: bool = False  # all threads in each call


def settings(spin: str | None, old: Path | None) -> list[Setting]:
    """The settings to compare, the default first.

    spin: GOMP_SPINCOUNT; None leaves it unset.
    """
    by_hand = [Setting("1 thread", TREE, 1, spin), Setting("2 threads", TREE, 2, spin, always=True)]
    return [Setting(DEFAULT, TREE, 0, spin), *by_hand, *([Setting(OLD, old, 0, spin)] if old else [])]


class Group:
    """Some processes with one setting, which play when they are told to."""

    def __init__(self, setting: Setting, processes: int, beside: str):
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        environment["PYTHONPATH"] = str(setting.tree)
        if setting.spin is not None:
            environment["GOMP_SPINCOUNT"] = setting.spin
        command = [sys.executable, "-c", PLAYER, str(setting.num_threads), str(int(setting.always)), beside]
        self.players = [subprocess.Popen(command, cwd=setting.tree, env=environment, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        for player in self.players:
            player.stdout.readline()  # it has imported its modules

    def play(self, num_envs: int, view: str, seconds: float) -> float:
        """Steps per second of all processes together."""
        for player in self.players:
            player.stdin.write(json.dumps([num_envs, view, seconds]) + "\n")
            player.stdin.flush()
        return sum(float(player.stdout.readline()) for player in self.players)

    def close(self):
        for player in self.players:
            player.stdin.close()
        for player in self.players:
            player.wait()


def by_hand(options) -> list[str]:
    """The names of all settings but the default, of which a row has one figure each at most."""
    return BY_HAND + ([OLD] if options.old else [])


def measure(processes: int, beside: str, spin: str | None, options) -> list[list[str]]:
    """The rows of all cases with this number of processes."""
    groups = {setting.name: Group(setting, processes, beside) for setting in settings(spin, options.old)}
    rows, names = [], by_hand(options)
    for num_envs, view in CASES:
        print(f"{processes} processes, {beside}, spin {spin}: {num_envs} {view}", file=sys.stderr, flush=True)
        figures = {name: [] for name in groups}
        for _ in range(options.rounds):
            for name, group in groups.items():
                figures[name].append(group.play(num_envs, view, options.seconds))
        medians = {name: statistics.median(each) for name, each in figures.items()}
        ours = medians.pop(DEFAULT)
        best = max(medians, key=medians.get)
        cells = {name: count(each) for name, each in medians.items()}
        rows.append([processes, beside, spin or "", num_envs, view, count(ours), *(cells.get(name, "") for name in names),
                     best, ours / medians[best]])
    for group in groups.values():
        group.close()
    return rows


def summary(rows: list[list]) -> str:
    """The least and the most of the last column: a row for each number of processes, a column for what they are beside."""
    cells = {}
    for processes, beside, spin, *_, ratio in rows:
        cells.setdefault((processes, f"{beside}, spin {spin}" if spin else beside), []).append(ratio)
    numbers, columns = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    spans = {case: f"{min(ratios):.2f} .. {max(ratios):.2f}" for case, ratios in cells.items()}
    return markdown(["processes", *columns], [[number, *(spans.get((number, beside), "") for beside in columns)]
                                              for number in numbers])


def main():
    parser = new_parser("speed.busy", __doc__)
    parser.add_argument("--old", type=Path, help="folder of a built copy of this repository to compare with")
    parser.add_argument("--processes", type=at_least(1), nargs="+", default=[1, 4, 20],
                        help="processes at once (default: 1 4 20)")
    parser.add_argument("--beside", nargs="+", default=BESIDE, choices=BESIDE,
                        help="beside nothing, torch (and when it is imported), or torch and another runtime (default: all)")
    parser.add_argument("--seconds", type=above_zero, default=0.9, help="of one measurement (default: 0.9)")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="measurements of a case (default: 3)")
    parser.add_argument("--short", action="store_true", help="one round of 0.6 seconds, and no torch beside 20 processes")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    if options.short:
        options.seconds, options.rounds = 0.6, 1
    options.old = options.old and options.old.resolve()
    rows = []
    for processes in options.processes:
        for beside in options.beside:
            for spin in (None, "1000"):
                if not options.short or processes < 20 or beside == ALONE:
                    rows += measure(processes, beside, spin, options)
    columns = ["processes", "beside", "GOMP_SPINCOUNT", "environments", "view", DEFAULT, *by_hand(options), "best by hand",
               "default / best"]
    table = markdown(columns, [[*row, f"{ratio:.2f}"] for *row, ratio in rows])
    publish("\n".join([head("Stepping on a busy machine"), summary(rows), table]), options.out)


if __name__ == "__main__":
    main()
