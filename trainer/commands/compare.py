"""`python -m trainer compare RUN RUN ...`: the scores of several runs in one picture, a table, and statistics over seeds."""

import itertools
import json as json_module
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from envs_c.text import say
from trainer.commands import SCORES_HELP
from trainer.commands.arguments import Runs
from trainer.config.fields import Section, matching
from trainer.config.options import parse
from trainer.errors import SettingError
from trainer.files import require_folder
from trainer.log.console import Terminal
from trainer.log.text import show
from trainer.runs.find import find_folders


@dataclass(frozen=True)
class CompareOptions(Section):
    """Options of a comparison."""

    run: Runs
    out: str = matching("compare.png", r"(?i).*\.png", "a file that ends in .png", path=True)
    """The picture, a .png."""
    by: Literal["steps", "minutes"] = "steps"
    """Horizontal axis of the picture."""
    group: bool = False
    """Take runs with equal settings and different seeds as one: mean curves, and statistics over the seeds."""
    json: bool = False
    """Print one JSON object with all numbers instead of the table."""
    csv: bool = False
    """Print the table as CSV, with all digits."""

    def check(self) -> None:
        super().check()
        require_folder("out", self.out)
        if self.json and self.csv:
            raise SettingError("csv", "must be left out with --json: choose one of them")


def main(argv: list[str]) -> None:
    """Draw the picture and print a table."""
    options = parse(CompareOptions, argv, "compare", "Draw the scores of several runs of one game into one picture. With "
                    "--group also statistics over seeds: interquartile means, performance profiles and probabilities of "
                    "improvement (Agarwal et al. 2021), of groups of five runs or more with bootstrap intervals. "
                    f"{SCORES_HELP}")
    found = list(map(find_folders, options.run))
    one_by_one = {folders[0].resolve() for folders in found if len(folders) == 1}
    folders = list(itertools.chain(*found))
    by_beginning = [folder for folder in folders if folder.resolve() not in one_by_one]
    from trainer.log.curves import draw_comparison
    from trainer.results import several_runs
    from trainer.results.groups import notes, profiles, sentence, warnings
    from trainer.results.output import csv_text
    skipped = partial(say, file=sys.stderr)
    members = several_runs.read(folders, options.by, by_beginning, skipped)
    groups = several_runs.grouped(members, skipped) if options.group else None
    curves = (several_runs.single(members) if groups is None
              else [several_runs.mean_curve(label, one) for label, one in groups.items()])
    draw_comparison(curves, Path(options.out), options.by, members[0].run.game.short,
                    None if groups is None else profiles(several_runs.scores_of(groups)))
    facts = several_runs.facts(members, groups)
    if options.json:
        print(json_module.dumps(facts | {"picture": options.out}))
    elif options.csv:
        print(csv_text(several_runs.rows(facts)), end="")
    else:
        columns, rows = several_runs.table(members) if groups is None else several_runs.group_table(groups)
        show(columns, rows, Terminal(), columns[1:])
        lines = (warnings([one.run for one in members]) if groups is None
                 else [*map(sentence, facts["improvements"]), *notes(several_runs.runs_of(groups))])
        for line in lines:
            say(line)
        say(f"{options.out}: the curves")
