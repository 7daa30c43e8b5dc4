"""Settings of a run that is resumed: which may change, and how."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trainer.config import Config
from trainer.config.before_parse import written
from trainer.config.config import overlay
from trainer.config.games import GameName, path_of, place_of
from trainer.config.sections import FREE_ON_RESUME
from trainer.errors import ConfigError, RunError
from trainer.files import is_file
from trainer.runs import checkpoint


def saved_config(path: Path, run: Path, game: GameName | None, command: Callable[[str, str], str]) -> Config:
    """The settings of a saved run, to be resumed.

    path: the checkpoint.
    run: the run as it was found, a folder or this checkpoint.
    game: the user's; it may name another place of the game's file.
    command: command(game, run) goes on with this run of this game, as text for the user.
    Raises RunError if the file of its game does not exist any more, and ConfigError if `game` is another one.
    """
    config = checkpoint.read_config(path)
    config = replace(config, game=place_of(config.game, game))
    if config.game.has_file and not is_file(path_of(config.game)):
        again = str(config.game).replace(str(path_of(config.game)), f"FOLDER/{path_of(config.game).name}")
        raise RunError(f"{run} cannot go on: game file '{path_of(config.game)}' does not exist; put it back there, name its "
                       f"new place ({command(again, str(run))}), or begin a new run of it with these weights: "
                       f"--init-from {shlex.quote(str(run))}")
    if game not in (None, config.game):
        raise ConfigError(f"{run} is a run of {config.game}, not of {game}; leave the game out, or name {config.game}")
    return overlay(config, {"run": {"resume": str(run), "run_dir": str(path.parent), "stop_at": None}})


def resumed_config(path: Path, saved: Config, config: Config, option: Callable[[str], str]) -> Config:
    """The settings with which a run goes on.

    path: the checkpoint.
    saved: the result of `saved_config`.
    config: the same with changes.
    option: the name of a setting as the user writes it.

    The steps may become more, also after the end: schedules then go on as if the run had been started with the new number.
    Raises ConfigError for any other change of a setting that is not free.
    """
    if Path(config.run.run_dir or path.parent).resolve() != path.parent.resolve():
        raise ConfigError(f"{option('run_dir')} must be {path.parent}, the folder of the resumed run, not {config.run.run_dir}"
                          "; leave it out")
    changed = _changed(saved, config, option)
    if changed:
        raise ConfigError(f"a resumed run keeps its settings, but {' and '.join(changed)}; leave "
                          f"{'them' if len(changed) > 1 else 'it'} out, or start a new run")
    if config.ppo.total_steps != saved.ppo.total_steps:
        done = checkpoint.progress(path, checkpoint.read_meta(path))["iteration"] * saved.batch_steps
        if config.ppo.total_steps <= done:
            raise ConfigError(f"{option('total_steps')} must be above {done:,}, the steps of the resumed run so far, not "
                              f"{config.ppo.total_steps:,}")
    return replace(config, run=replace(config.run, resume=saved.run.resume, run_dir=saved.run.run_dir))


def _changed(saved: Config, config: Config, option: Callable[[str], str]) -> list[str]:
    """The changed settings, without free ones, as text."""
    before, after = saved.to_dict(), config.to_dict()
    free = FREE_ON_RESUME | {"run_dir"}  # run_dir: the same folder, perhaps written differently
    return [f"{option(name)} is {written(after[section][name])} and was {written(before[section][name])}"
            for section, settings in before.items() if section != "game"
            for name in settings.keys() - free if settings[name] != after[section][name]]
