"""`python -m trainer report RUN ...`: one page about a run, or about several side by side."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from envs_c.text import say
from trainer.commands import RUN_HELP, SCORES_HELP
from trainer.config.fields import Section, matching
from trainer.config.options import parse
from trainer.errors import ConfigError
from trainer.files import require_folder
from trainer.runs.find import find_folders, hint


@dataclass(frozen=True)
class ReportOptions(Section):
    """Options of a report."""

    run: Annotated[Positional[tuple[str, ...]], arg(metavar="RUN ...", help_behavior_hint="", help=f"One run or more; each "
                                                    f"is {RUN_HELP}. The beginning of several names means all of these runs.")]
    out: str | None = matching(None, r"(?i).*\.html?", "a file that ends in .html", path=True)
    """The page, a .html. none: report.html in the run's folder, or for several runs in this one."""

    def check(self) -> None:
        super().check()
        if self.out is not None:
            require_folder("out", self.out)


def main(argv: list[str]) -> None:
    """Write the page."""
    options = parse(ReportOptions, argv, "report", "Write one HTML page about a run, or about several side by side: curves, "
                    "evaluations with intervals, settings, the film, machine and versions. It needs no other file. "
                    f"{SCORES_HELP}")
    folders = list({path.resolve(): path for name in options.run for path in find_folders(name)}.values())
    if not folders:
        raise ConfigError(f"RUN is missing; {hint()}")
    from trainer.results.report import REPORT, write_report
    path = Path(options.out) if options.out else folders[0] / REPORT if len(folders) == 1 else Path(REPORT)
    write_report(folders, path)
    say(f"{path}: {f'{len(folders)} runs' if len(folders) > 1 else folders[0]}")
