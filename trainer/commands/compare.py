"""`python -m trainer compare RUN RUN ...`: the scores of several runs in one picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from tyro.conf import Positional

from trainer.config.options import parse
from trainer.errors import ConfigError
from trainer.log import text as tables
from trainer.runs import find as runs


@dataclass(frozen=True)
class CompareOptions:
    """Which runs are compared, and how."""

    run: Positional[tuple[str, ...]]
    """Two runs or more: folders, checkpoints, beginnings of folders' names under runs, or last."""
    out: str = "compare.png"
    """The picture, a .png."""
    by: Literal["steps", "minutes"] = "steps"
    """What the scores are drawn against."""
    group: bool = False
    """Draw runs that differ in nothing but the seed as one curve: their mean and standard deviation."""

    def check(self):
        """Raises ConfigError for a value that it may not have."""
        if not self.out.lower().endswith(".png"):
            raise ConfigError(f"out is {self.out!r}; it may be a file that ends in .png")
        if not Path(self.out).parent.is_dir():
            raise ConfigError(f"the picture's folder {str(Path(self.out).parent)!r} is not there; make it first")


def main(argv: list[str]) -> None:
    options = parse(CompareOptions, argv, "compare", "Draw the scores of several runs of one game into one picture.")
    options.check()
    folders = [runs.folder_of(runs.find(name)) for name in options.run]
    from trainer.log import compare
    from trainer.log.curves import draw_comparison
    members = compare.read(folders, options.by)
    if options.group:
        groups = compare.grouped(members)
        columns, rows = compare.group_table(groups)
        curves = [compare.mean_curve(label, group) for label, group in groups.items()]
    else:
        columns, rows = compare.table(members)
        curves = compare.single(members)
    draw_comparison(curves, Path(options.out), options.by, runs.short_name(members[0].run.game))
    tables.show(columns, rows, Console(), columns[1:])
    print(f"{options.out}: the curves")
