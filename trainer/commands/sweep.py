"""`python -m trainer sweep GAME`: search for the best settings for a game."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs_c import install
from envs_c.text import say
from trainer import imports
from trainer.commands.arguments import admitted_training, from_one_checkpoint, game_of, refuse_large_seed, spaces_for
from trainer.config import Config
from trainer.config.before_parse import is_given
from trainer.config.fields import Section, matching, path_setting, within
from trainer.config.games import GameName, whole
from trainer.config.options import parse, parse_new, parse_some, refuse_run_options
from trainer.errors import ConfigError, SettingError, SweepError
from trainer.process import program_name

ABOUT = """\
Train an agent many times, with settings drawn by Optuna, and report the best: a table, pictures, and a preset.

The options of training are accepted too and hold for all trials: a setting given as an option is not searched. --total-steps
limits the cost of a trial; --cost-aware searches for it, too. The same command continues a sweep that was stopped. In a second
process, or with the same --storage on another machine, it joins the sweep."""


def name_setting(default: str | None) -> Any:
    """A field for the name of a sweep or a bench, which is a part of the name of its folder."""
    return matching(default, r"(?!\.+\Z)[\w.-]+", "letters, digits, and any of _ . -, and not only dots")


@dataclass(frozen=True)
class SweepOptions(Section):
    """Options of a sweep."""

    trials: int = within(50, 1)
    """Trials of all processes and sessions together. Interrupted trials do not count."""
    name: str | None = name_setting(None)
    """Name of the sweep. none: the name of the game."""
    space: str | None = path_setting()
    """A .toml file of the ranges to search. none: trainer/sweep/default.toml, which explains the format."""
    storage: str | None = None
    """Storage of the trials: a database's URL, or journal:FILE in a shared folder. none: OUT/sweep.db."""
    out: str | None = path_setting()
    """The sweep's folder, for its trials' runs and its report. none: runs/sweep-NAME."""
    startup: int = within(10, 1)
    """Trials at first, the preset's settings and others drawn at random; none is pruned before this number have finished."""
    prune: bool = True
    """End a trial if its score is below the median of the finished trials at the same step."""
    minutes: float | None = within(None, 0, above=True)
    """Prune a trial after this many minutes of training, of each seed."""
    seeds: int = within(1, 1, 1000)
    """Trainings of a trial, with seeds that follow each other. Its score is their mean."""
    cost_aware: bool = False
    """Search for high scores and for few minutes of training at once: the Pareto front. No trial is pruned for its score."""
    report: bool = False
    """Run no trial; report the existing ones: sweep NAME --report."""

    def check(self) -> None:
        super().check()
        if self.out is not None and Path(self.out).exists() and not Path(self.out).is_dir():
            raise SettingError("out", f"must be a folder or the name of a new one, not the file {self.out!r}")


def main(argv: list[str]) -> None:
    """Run trials and report them."""
    if {"-h", "--help"} & set(argv):
        parse(SweepOptions, ["--help"], "sweep GAME", ABOUT)
    if not imports.has_package("optuna"):
        raise SweepError(f"a sweep needs optuna: {install.hint('sweep')}")
    if "--report" in argv and not argv[0].startswith("-"):
        _report(argv)
        return
    game = game_of(argv, "sweep ")
    options, rest = parse_some(SweepOptions, argv[1:], "sweep GAME")
    name = options.name or _plain(game)
    from trainer.sweep.space import length_of, read_space, searched
    ranges, fixed = searched(read_space(options.space), rest)
    quiet = {"gif": False, "dashboard": False, "eval_greedy": False}
    base = parse_new(game, rest, {"run": quiet}, "sweep ", SweepOptions, spaces_for(game, rest))
    _refuse(base, options, argv)
    base = from_one_checkpoint(base)
    if options.cost_aware and options.space is None and not is_given("--total-steps", rest):
        ranges += length_of(base)
    from trainer.sweep.plan import Plan
    from trainer.sweep.storage import default_storage
    from trainer.sweep.sweep import run_sweep
    folder = _folder(name, options)
    if fixed:
        say(f"sweep {name}: not searched, since your options hold for all trials: {', '.join(fixed)}")
    with admitted_training(base, game, rest) as consent:
        plan = Plan(base, ranges, folder, options.trials, options.startup, options.prune, options.minutes, tuple(consent),
                    options.seeds, options.cost_aware)
        run_sweep(plan, name, default_storage(folder) if options.storage is None else options.storage)


def _refuse(base: Config, options: SweepOptions, argv: list[str]) -> None:
    """Raises ConfigError for settings that no sweep has, and for options that exclude each other."""
    refuse_run_options(base, "a sweep, whose trials have runs of their own")
    if base.run.eval_episodes == 0:
        raise ConfigError("--eval-episodes must be an integer of at least 1, not 0: the mean of the evaluation is the score of "
                          "a trial")
    refuse_large_seed(base.run.seed, options.seeds)
    if options.cost_aware and options.prune and is_given("--prune", argv):
        raise ConfigError("--prune must not be given with --cost-aware, which prunes no trial for its score: leave one out")


def _report(argv: list[str]) -> None:
    """Report a sweep, by the first argument or by --name."""
    options, rest = parse_some(SweepOptions, argv[1:], "sweep GAME")
    if rest:
        raise ConfigError(f"--report does not accept options of training: leave {' '.join(rest)} out")
    name = options.name or _plain(whole(argv[0]))
    folder = _folder(name, options)
    from trainer.sweep.folder import refuse_other
    from trainer.sweep.report import write_report
    from trainer.sweep.storage import default_storage, is_there, open_storage, shown, storage_errors
    from trainer.sweep.study import load_study
    if options.storage is None:
        url, place = default_storage(folder), f"at {folder}; {_others()}"
    else:
        url = options.storage
        place = f"in the storage {shown(url)}: name the --storage of its first command"
    if not is_there(url):
        raise SweepError(f"there is no sweep {place}")
    with storage_errors(url):
        study = load_study(open_storage(url), name)
        refuse_other(folder, lambda: study)
        write_report(study, folder)


def _others() -> str:
    """The sweeps in the folder runs, or how to begin one, for an error message."""
    from trainer.sweep.storage import DATABASE
    others = sorted(path.parent.name.removeprefix("sweep-") for path in Path("runs").glob(f"sweep-*/{DATABASE}"))
    return f"there is {', '.join(others)}" if others else (
        f"begin one with {program_name()} sweep GAME, or name its --out or --storage")


def _folder(name: str, options: SweepOptions) -> Path:
    return Path(options.out or f"runs/sweep-{name}")


def _plain(game: GameName) -> str:
    """A game's name, with _ for characters not allowed in that of a sweep; a .pyx or a cartridge without folder and ending."""
    own = game.is_file or game.cartridge_file is not None
    return re.sub(r"[^\w.-]+", "_", Path(game).stem if own else Path(game).name)
