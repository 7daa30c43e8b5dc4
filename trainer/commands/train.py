"""`python -m trainer GAME` and `python -m trainer --resume RUN`: the settings of a training, then the training."""

from dataclasses import replace
from pathlib import Path

from trainer.config import Config
from trainer.config.config import overlay
from trainer.config.games import checked_game, names
from trainer.config.options import PROG, parse_new, parse_training, value_of
from trainer.errors import ConfigError
from trainer.runs import find as runs

# The settings that a resumed run may change: none of them changes what it learns.
_FREE = {"env": {"num_threads"}, "policy": set(), "ppo": set(), "self_play": set(),
         "run": {"resume", "stop_at", "device", "serial", "dashboard", "checkpoint_seconds", "eval_episodes", "gif",
                 "track"}}


def main(argv: list[str]) -> None:
    game = None if argv[0].startswith("-") else argv[0]
    options = argv if game is None else argv[1:]
    resume = value_of("--resume", options)
    if game is not None:
        game = checked_game(game)
    if resume is None:
        if game is None:
            raise ConfigError(f"no game is named; write {PROG} GAME, where GAME is {names()}")
        config = parse_new(game, options)
    else:
        config = _resumed(game, options, resume)
    from trainer.training.train import train
    train(config)


def _resumed(game: str | None, options: list[str], resume: str) -> Config:
    """The settings of a saved run, with those changed that may be. Raises ConfigError for any other change."""
    if value_of("--preset", options) is not None:
        raise ConfigError("preset is of a new run; a resumed run keeps its settings: leave --preset or --resume out")
    run = runs.find(resume)
    from trainer.runs.checkpoint import latest, read_meta
    path = latest(run)
    saved = runs.config_in(path, read_meta(path))
    if game not in (None, saved.game):
        raise ConfigError(f"{resume} is a run of {saved.game}, not of {game}; leave the game out, or name {saved.game}")
    saved = overlay(saved, {"run": {"resume": str(run), "run_dir": str(path.parent), "stop_at": None}})
    config = parse_training(saved.game, options, saved)
    if Path(config.run.run_dir or saved.run.run_dir).resolve() != path.parent.resolve():
        raise ConfigError(f"run_dir is {config.run.run_dir}; a resumed run goes on in its own folder, {path.parent}")
    changed = _changed(saved, config)
    if changed:
        raise ConfigError(f"a resumed run keeps its settings, but {' and '.join(changed)}; leave "
                          f"{'them' if len(changed) > 1 else 'it'} out, or start a new run")
    return replace(config, run=replace(config.run, resume=str(run), run_dir=saved.run.run_dir))


def _changed(saved: Config, config: Config) -> list[str]:
    """In words, the settings that differ and may not."""
    before, after = saved.to_dict(), config.to_dict()
    return [f"{name} is {after[section][name]} where it was {before[section][name]}" for section in _FREE
            for name in before[section].keys() - _FREE[section] - {"run_dir"}
            if before[section][name] != after[section][name]]
