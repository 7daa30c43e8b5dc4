"""insertcoin beside its peers: `python -m benchmarks.peers [--python PYTHON] [--out FILE]`.

It installs nothing: each row runs in a process of PYTHON, an interpreter that has some of the packages, and a row whose package
is missing says so. `make peers` makes such an environment in build/peers:

    make peers
    python -m benchmarks.peers --python build/peers/bin/python --minutes 1 --out benchmarks/results/peers.md

Tables of random play of Breakout and Pong, of the same training (PPO with an LSTM on our Breakout's features), and with
--minutes of the time of that training to a mean of 300 points, or of the score that it has reached in so many minutes. The rows
of a table take turns; a figure is the median of the rounds.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from benchmarks.common import above_zero, at_least, head, new_parser, publish
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.trainings import TARGET, TRAININGS
from trainer.log.numbers import count
from trainer.log.text import markdown

TREE = Path(__file__).resolve().parents[2]
ABOUT = """The games differ, so the column "work" says what a step is. All processes share the cores of this machine. JAXtari
needs pictures that are not free: its row is measured where their owner has installed them. Procgen has no such game.
PufferLib's rows are the C and Python code of its package, compiled by `benchmarks/peers/puffer.py` with the package's flags.
"""
TIMES = """Each training has the settings of our preset, which were searched for with our trainer; one seed. The time is that of
the training, without the first rollout. The mean of the last 100 episodes is behind the policy, more so in a faster training.
"""
CHUNK = 5  # seconds of training between two looks at the score


class Row:
    """One process, which measures when it is told to. missing: why it cannot; None if it can."""

    def __init__(self, python: Path, kind: str, name: str, num_envs: int):
        self.name, self.num_envs = name, num_envs
        environment = {**os.environ, "PYTHONPATH": str(TREE), "PYTHONWARNINGS": "ignore"}
        command = [Path(python).absolute(), "-m", "benchmarks.peers.child", kind, name, str(num_envs)]
        self.process = subprocess.Popen(command, cwd=tempfile.gettempdir(), text=True, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        answer = self.last = self.answer()
        self.missing, self.version = answer.get("missing"), answer.get("version", "")
        self.rates = []

    def answer(self) -> dict:
        """The next line of JSON; other lines are what a package prints."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return {"missing": f"it ended with status {self.process.wait()}"}

    def measure(self, seconds: float) -> dict:
        """What the process answers after this many seconds of work."""
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.missing, self.last = answer.get("missing"), answer
        if not self.missing:
            self.rates.append(answer["rate"])
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()


def turns(python: Path, kind: str, cases: list[tuple[str, int]], rounds: int, seconds: float) -> list[Row]:
    """Measure (name, environments) in turn. A process waits while it has no turn, and afterwards until it is closed."""
    rows = [Row(python, kind, *case) for case in cases]
    for k in range(rounds):
        for row in rows:
            print(f"round {k + 1} of {rounds}: {row.name}, {row.num_envs}", file=sys.stderr, flush=True)
            if not row.missing:
                row.measure(seconds)
    return rows


def table(rows: list[Row], about: dict, reference: str) -> str:
    """The rows with their rates. reference: the row that the others are compared with, at the same number of environments."""
    ours = {row.num_envs: statistics.median(row.rates) for row in rows if row.name == reference and row.rates}
    lines = []
    for row in rows:
        rate = statistics.median(row.rates) if row.rates and not row.missing else None
        speed = count(rate) if rate else f"not measured: {textwrap.shorten(row.missing, 60)}"
        of_ours = f"{rate / ours[row.num_envs]:.3g}" if rate and row.num_envs in ours else ""
        lines.append([row.name, row.version, row.num_envs, speed, of_ours,
                      about[row.name].work])
    return markdown(["", "version", "environments", "steps/s", f"of {reference}", "work"], lines)


def times(rows: list[Row], minutes: float) -> str:
    """The table of the minutes of training to TARGET. rows: trainings, which go on where they are."""
    lines = []
    for row in rows:
        answer = row.last
        while not row.missing and answer["seconds"] < 60 * minutes and answer["score"] < TARGET:
            answer = row.measure(min(CHUNK, 60 * minutes - answer["seconds"]))
            print(f"{row.name}: {answer}", file=sys.stderr, flush=True)
        if row.missing:
            lines.append([row.name, f"not measured: {textwrap.shorten(row.missing, 60)}", "", ""])
            continue
        spent = answer["seconds"] / 60
        reached = f"{spent:.1f}" if answer["score"] >= TARGET else f"not in {spent:.1f}"
        lines.append([row.name, reached, count(answer["steps"]), f"{answer['score']:.1f}"])
    return markdown(["", f"minutes to {TARGET} points", "steps", "mean of the last 100 episodes"], lines)


def main():
    parser = new_parser("peers", __doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="with the packages (default: this one)")
    parser.add_argument("--num-envs", type=at_least(1), nargs="+", default=[64, 1024],
                        help="environments of random play; trainings have the last number (default: 64 1024)")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="measurements of each row (default: 3)")
    parser.add_argument("--seconds", type=above_zero, default=3, help="of one measurement (default: 3)")
    parser.add_argument("--minutes", type=float, default=0, help="most minutes of a training to 300 points (default: 0, none)")
    parser.add_argument("--out", type=Path, help="file to write the tables to")
    options = parser.parse_args()
    if not options.python.is_file():
        parser.error(f"--python must be an interpreter, not {options.python}: `make peers` makes build/peers/bin/python")
    python = options.python.absolute()
    numbers, most = sorted(set(options.num_envs)), max(options.num_envs)
    cases = [(name, n) for name, each in ENVIRONMENTS.items() for n in sorted({min(n, each.most) for n in numbers})]
    rows = turns(python, "environments", cases, options.rounds, options.seconds)
    parts = [head("insertcoin beside its peers"), ABOUT]
    for section, reference in dict.fromkeys((each.section, each.reference) for each in ENVIRONMENTS.values()):
        parts += [f"## Random play of {section}\n",
                  table([row for row in rows if ENVIRONMENTS[row.name].section == section], ENVIRONMENTS, reference)]
    for row in rows:
        row.close()
    rows = turns(python, "trainings", [(name, most) for name in TRAININGS], options.rounds, 2 * options.seconds)
    parts += ["## Training on our Breakout's features\n", table(rows, TRAININGS, "insertcoin")]
    if options.minutes:
        parts += [f"## Time to {TARGET} points\n", TIMES, times(rows, options.minutes)]
    for row in rows:
        row.close()
    publish("\n".join(parts), options.out)


if __name__ == "__main__":
    main()
