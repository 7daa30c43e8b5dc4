"""`python -m trainer compare RUN RUN ...`: the scores of several runs in one picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console

from trainer.commands.arguments import Runs, require_folder
from trainer.config.fields import Section, matching
from trainer.config.games import GameName
from trainer.config.options import parse
from trainer.log.text import show
from trainer.runs.find import find, folder_of


@dataclass(frozen=True)
class CompareOptions(Section):
    """Options of a comparison."""

    run: Runs
    out: str = matching("compare.png", r"(?i).*\.png", "a file that ends in .png", path=True)
    """The picture, a .png."""
    by: Literal["steps", "minutes"] = "steps"
    """Horizontal axis of the picture."""
    group: bool = False
    """Draw runs with equal settings and different seeds as one curve: their mean and standard deviation."""

    def check(self) -> None:
        super().check()
        require_folder("out", self.out)


def main(argv: list[str]) -> None:
    """Draw the picture and print a table."""
    options = parse(CompareOptions, argv, "compare", "Draw the scores of several runs of one game into one picture.")
    folders = [folder_of(find(name)) for name in options.run]
    from trainer.log.compare import group_table, grouped, mean_curve, read, single, table
    from trainer.log.curves import draw_comparison
    members = read(folders, options.by)
    if options.group:
        groups = grouped(members)
        columns, rows = group_table(groups)
        curves = [mean_curve(label, group) for label, group in groups.items()]
    else:
        columns, rows = table(members)
        curves = single(members)
    draw_comparison(curves, Path(options.out), options.by, GameName.parse(members[0].run.game).short)
    show(columns, rows, Console(), columns[1:])
    print(f"{options.out}: the curves")
