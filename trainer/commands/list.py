"""`python -m trainer list`: a table of the runs."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from envs_c.text import say
from trainer.commands import SCORES_HELP
from trainer.config.fields import Section, path_setting
from trainer.config.options import parse
from trainer.errors import RunError, SettingError
from trainer.log.console import Terminal
from trainer.log.numbers import count, minutes, number
from trainer.log.text import show
from trainer.process import program_name
from trainer.runs.find import ROOT, holds_run, newest_first
from trainer.runs.summary import Run, read_run

COLUMNS = ("run", "game", "seed", "steps", "minutes", "score", "best", "evaluation", "started", "state")
NUMBERS = ("seed", "steps", "minutes", "score", "best", "evaluation")


@dataclass(frozen=True)
class ListOptions(Section):
    """Options of the list."""

    root: str = path_setting(str(ROOT))
    """The folder with the folders of the runs."""

    def check(self) -> None:
        super().check()
        if Path(self.root).is_dir() and not os.access(self.root, os.R_OK | os.X_OK):
            raise SettingError("root", f"must be a folder that you may read, not {self.root!r}: name another")
        if not Path(self.root).is_dir():
            raise SettingError("root", f"must be a folder that contains runs, and there is no folder {self.root!r} here; "
                                       f"trainings write their runs into {ROOT}")


def main(argv: list[str]) -> None:
    """Print the table, and a line for each other folder."""
    options = parse(ListOptions, argv, "list", f"List the runs, newest first. {SCORES_HELP}")
    root, console = Path(options.root), Terminal()
    found, notes = [], []
    for folder in newest_first(root):
        try:
            found.append(read_run(folder))
        except RunError as error:
            notes.append(str(error))
    notes += [note_about(folder) for folder in sorted(root.iterdir()) if folder.is_dir() and not holds_run(folder)]
    if found:
        show(COLUMNS, [row(run) for run in found], console, NUMBERS)
    for note in notes or ([] if found else [f"there are no runs in {root}"]):
        say(note)


def note_about(folder: Path) -> str:
    """A line about a folder without a run."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"{folder} cannot be read"
    inside = len(newest_first(folder))
    if inside:
        return (f"{folder} holds {inside} run{'s' if inside > 1 else ''}: {program_name()} list --root "
                f"{shlex.quote(str(folder))}")
    return f"{folder} holds no run"


def row(run: Run) -> list[str]:
    """A run's row of the table."""
    return [run.folder.name, run.game.short, str(run.seed), f"{count(run.step)} of {count(run.total_steps)}",
            minutes(run.seconds), number(run.score), number(run.best), number(run.evaluation),
            f"{run.started:%Y-%m-%d %H:%M}", run.state]
