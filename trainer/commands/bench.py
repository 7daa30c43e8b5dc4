"""`python -m trainer bench GAME...`: many seeds of one or several games at once, and a table of their results."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from envs_c import install
from trainer import imports
from trainer.commands.arguments import admitted_training, from_one_checkpoint, game_of, refuse_large_seed, spaces_for
from trainer.commands.eval import no_ops_setting, numbers_setting
from trainer.commands.sweep import name_setting
from trainer.config import Config
from trainer.config.before_parse import is_given
from trainer.config.fields import Section, path_setting, within
from trainer.config.games import GameName
from trainer.config.no_ops import NO_OPS
from trainer.config.options import parse, parse_new, parse_some, refuse_run_options
from trainer.errors import ConfigError, SettingError, SweepError

ABOUT = """\
Train games with many seeds, each training on a core of its own, and print a table: means, interquartile means and their 95%
intervals over the seeds, for sampled and for greedy actions, without and with sticky actions.

The options of training are accepted too and hold for all trainings; --seed is the first seed. The same command continues a
bench that was stopped: a finished training is not run again. In a second process, or with the same --storage on another machine
with the same folder, it joins the bench."""


@dataclass(frozen=True)
class BenchOptions(Section):
    """Options of a bench."""

    seeds: int = within(10, 1, 100_000)
    """Trainings of each game and each probability of sticky actions, with seeds that follow each other."""
    jobs: int = within(0, 0, 4096)
    """Trainings of this process at once. 0: one for each core. They share the cores evenly."""
    sticky: str | None = numbers_setting("0,0.25")
    """Probabilities of sticky actions, in training and evaluation, each with all seeds. none: that of the preset. Self-play
    has no sticky actions."""
    noop_max: int | None = no_ops_setting(NO_OPS)
    """Without sticky actions an episode starts with up to this many frames of NOOP, in training and evaluation, if the game
    has this action. none: that of the preset, which holds with sticky actions in any case."""
    name: str = name_setting("bench")
    """Name of the bench in its storage."""
    storage: str | None = None
    """Storage of what is done: a database's URL, or journal:FILE in a shared folder. none: OUT/bench.db. With a journal only
    its own machine notices that a process has died: give the same command there."""
    out: str | None = path_setting()
    """The bench's folder, for its runs and its table. none: runs/NAME."""

    def check(self) -> None:
        super().check()
        if self.out is not None and Path(self.out).exists() and not Path(self.out).is_dir():
            raise SettingError("out", f"must be a folder or the name of a new one, not the file {self.out!r}")

    @property
    def stickies(self) -> tuple[float, ...]:
        """The numbers in `sticky`, each once."""
        return tuple(dict.fromkeys(map(float, self.sticky.split(",")))) if self.sticky else ()


def main(argv: list[str]) -> None:
    """Run trainings and print the table."""
    if {"-h", "--help"} & set(argv):
        parse(BenchOptions, ["--help"], "bench GAME...", ABOUT)
    if not imports.has_package("optuna"):
        raise SweepError(f"a bench needs optuna: {install.hint('sweep')}")
    first = next((index for index, text in enumerate(argv) if text.startswith("-")), len(argv))
    games = list(dict.fromkeys(game_of([text], "bench ") for text in argv[:first])) or [game_of(argv, "bench ")]
    options, rest = parse_some(BenchOptions, argv[first:], "bench GAME...")
    configs, quiet = {}, {"run": {"gif": False, "dashboard": False, "track": "none"}}
    for game in games:
        configs[game] = parse_new(game, rest, quiet, "bench ", BenchOptions, spaces_for(game, rest))
        refuse_run_options(configs[game], "a bench, whose trainings have runs of their own")
    if configs[games[0]].run.eval_episodes == 0:
        raise ConfigError("--eval-episodes must be an integer of at least 1, not 0: the mean of the evaluation is the score of "
                          "a training")
    if any(config.self_play.self_play for config in configs.values()) and is_given("--sticky", argv) and any(options.stickies):
        raise SettingError("sticky", f"must be 0 in self-play, not {options.sticky}: each step is one player's move")
    refuse_large_seed(configs[games[0]].run.seed, options.seeds)
    _run(options, {game: from_one_checkpoint(config) for game, config in configs.items()}, rest)


def _run(options: BenchOptions, configs: dict[GameName, Config], rest: list[str]) -> None:
    """Run the bench, with the code of all its games admitted."""
    from trainer.sweep.bench import Plan, run_bench
    from trainer.sweep.storage import default_storage
    folder = Path(options.out or f"runs/{options.name}")
    with contextlib.ExitStack() as admitted:
        consent = [option for game, config in configs.items()
                   for option in admitted.enter_context(admitted_training(config, game, rest))]
        plan = Plan(configs, options.stickies, options.seeds, options.jobs, folder, tuple(dict.fromkeys(consent)),
                    options.noop_max)
        run_bench(plan, options.name, default_storage(folder, "bench.db") if options.storage is None else options.storage)
