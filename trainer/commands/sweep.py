"""`python -m trainer sweep GAME`: search the settings that a game is learned best with."""

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from trainer.config.games import checked_game, names
from trainer.config.options import PROG, parse, parse_new, parse_some, refuse_run_options
from trainer.errors import ConfigError, SweepError

ABOUT = """\
Train an agent many times, with settings that Optuna draws, and tell which were best: a table, pictures, and a preset.

The options of training are taken, too, and hold for all trials: --total-steps says what a trial may cost. The same command
again goes on, and in another process, or with the same --storage on another machine, it joins."""


@dataclass(frozen=True)
class SweepOptions:
    """What is searched, and where it is kept."""

    trials: int = 50
    """Trials in all, over all processes and sittings. One that was interrupted does not count."""
    name: str | None = None
    """What the sweep is called. none: as the game is."""
    space: str | None = None
    """A .toml file of the ranges to search. none: trainer/sweep/default.toml, which tells how one is written."""
    storage: str | None = None
    """Where the trials are kept: a database's URL, or journal:FILE in a folder that machines share. none: OUT/sweep.db."""
    out: str | None = None
    """The sweep's folder, for its trials' runs and its report. none: runs/sweep-NAME."""
    startup: int = 10
    """Trials drawn at random at first; none is pruned before as many have finished."""
    prune: bool = True
    """End a trial whose score falls behind the median of the finished ones at the same step."""
    minutes: float | None = None
    """End, as pruned, a trial that has trained for longer than this."""
    report: bool = False
    """Run nothing, and tell of what there is: sweep NAME --report."""

    def check(self):
        """Raises ConfigError for a value that it may not have."""
        if self.trials < 1:
            raise ConfigError(f"trials is {self.trials}; it may be an integer from 1 up")
        if self.startup < 1:
            raise ConfigError(f"startup is {self.startup}; it may be an integer from 1 up")
        if self.minutes is not None and not self.minutes > 0:
            raise ConfigError(f"minutes is {self.minutes}; it may be none, or a number above 0")
        if self.name is not None and not re.fullmatch(r"[\w.-]+", self.name):
            raise ConfigError(f"name is {self.name!r}; it may be letters, digits, and any of _ . -")
        if self.out is not None and Path(self.out).exists() and not Path(self.out).is_dir():
            raise ConfigError(f"out is {self.out!r}, which is a file; it may be a folder, or the name of a new one")


def main(argv: list[str]) -> None:
    if {"-h", "--help"} & set(argv):
        parse(SweepOptions, ["--help"], "sweep GAME", ABOUT)
    if not argv or argv[0].startswith("-"):
        raise ConfigError(f"no game is named; write {PROG} sweep GAME, where GAME is {names()}")
    if importlib.util.find_spec("optuna") is None:
        raise SweepError("a sweep needs optuna: pip install 'insertcoin[sweep]'")
    options, rest = parse_some(SweepOptions, argv[1:], "sweep GAME")
    options.check()
    if options.report:
        _report(argv[0], options, rest)
        return
    game = checked_game(argv[0])
    name = options.name or _plain(game)
    from trainer.sweep.space import read_space
    ranges = read_space(options.space)
    base = parse_new(game, rest, {"run": {"gif": False, "dashboard": False}})
    refuse_run_options(base, "a sweep, whose trials are runs of their own")
    if base.run.eval_episodes == 0:
        raise ConfigError("eval_episodes is 0; it may be an integer from 1 up, since an evaluation's mean is a trial's score")
    from trainer.sweep.study import default_storage
    from trainer.sweep.sweep import Plan, run_sweep
    folder = _folder(name, options)
    run_sweep(Plan(base, ranges, folder, options.trials, options.startup, options.prune, options.minutes), name,
              options.storage or default_storage(folder))


def _report(word: str, options: SweepOptions, rest: list[str]) -> None:
    """Tell of a sweep that is named by `word`, or by --name."""
    if rest:
        raise ConfigError(f"{' '.join(rest)}: a report takes no options of training; leave them out")
    name = options.name or _plain(word)
    folder = _folder(name, options)
    from trainer.sweep.report import write_report
    from trainer.sweep.study import DATABASE, default_storage, load_study, open_storage, storage_errors
    if options.storage is None and not (folder / DATABASE).is_file():
        others = sorted(path.parent.name.removeprefix("sweep-") for path in Path("runs").glob(f"sweep-*/{DATABASE}"))
        raise SweepError(f"there is no sweep at {folder}; " + (f"there is {', '.join(others)}" if others else
                         f"begin one by {PROG} sweep GAME, or name its --out or --storage"))
    url = options.storage or default_storage(folder)
    with storage_errors(url):
        write_report(load_study(open_storage(url), name), folder)


def _folder(name: str, options: SweepOptions) -> Path:
    return Path(options.out or f"runs/sweep-{name}")


def _plain(game: str) -> str:
    """A game's name without what a folder may not have."""
    return re.sub(r"[^\w.-]+", "_", Path(game).stem)
