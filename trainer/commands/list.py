"""`python -m trainer list`: the runs that there are."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from trainer.config.options import PROG, parse
from trainer.errors import RunError
from trainer.log import text as tables
from trainer.log.figures import count, number
from trainer.runs import find as runs

COLUMNS = ("run", "game", "seed", "steps", "minutes", "score", "best", "evaluation", "started", "state")
NUMBERS = ("seed", "steps", "minutes", "score", "best", "evaluation")


@dataclass(frozen=True)
class ListOptions:
    """Which runs are listed."""

    root: str = str(runs.ROOT)
    """The folder that the runs' folders are in."""

    def check(self):
        """Raises RunError where the folder is not there."""
        if not Path(self.root).is_dir():
            raise RunError(f"there is no folder {self.root} here; trainings write their runs into {runs.ROOT}, or --root names "
                           "another folder")


def main(argv: list[str]) -> None:
    options = parse(ListOptions, argv, "list", "List the runs, newest first: score is the mean of the episodes that ended "
                    "lately, best the highest that this was, evaluation the mean of the evaluation at the end.")
    options.check()
    root, console = Path(options.root), Console()
    found, notes = [], []
    for folder in runs.newest_first(root):
        try:
            found.append(runs.read_run(folder))
        except RunError as error:
            notes.append(str(error))
    notes += [foreign(folder) for folder in sorted(root.iterdir()) if folder.is_dir() and not runs.holds_run(folder)]
    if found:
        tables.show(COLUMNS, [row(run) for run in found], console, NUMBERS)
    for note in notes or ([] if found else [f"there are no runs in {root}"]):
        console.print(note, markup=False, highlight=False, soft_wrap=True)


def foreign(folder: Path) -> str:
    """A line about a folder that holds no run itself."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"{folder} cannot be read"
    inside = len(runs.newest_first(folder))
    if inside:
        return f"{folder} holds {inside} run{'s' if inside > 1 else ''}: {PROG} list --root {shlex.quote(str(folder))}"
    return f"{folder} holds no run"


def row(run: runs.Run) -> list[str]:
    """A run's line of the table."""
    return [run.folder.name, runs.short_name(run.game), str(run.seed), f"{count(run.step)} of {count(run.total_steps)}",
            f"{run.seconds / 60:.1f}", number(run.score), number(run.best), number(run.evaluation),
            f"{run.started:%Y-%m-%d %H:%M}", run.state]
