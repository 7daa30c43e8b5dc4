"""`python -m trainer GAME` and `python -m trainer --resume RUN`: the settings of a training, then the training."""

from dataclasses import replace
from pathlib import Path

from trainer.commands.arguments import admitted_training, game_of
from trainer.config import Config
from trainer.config.config import overlay
from trainer.config.options import parse_new, parse_training, value_of
from trainer.config.sections import FREE_ON_RESUME
from trainer.errors import ConfigError
from trainer.runs.find import find, hint


def main(argv: list[str]) -> None:
    """Train a new agent, or resume a run."""
    named = not argv[0].startswith("-")
    options = argv[1:] if named else argv
    resume = value_of("--resume", options)
    if resume is None and "--resume" in options:
        raise ConfigError(f"--resume needs a RUN, such as last; {hint()}")
    game = game_of(argv, "") if named or resume is None else None
    config = parse_new(game, options) if resume is None else _resumed(game, options, resume)
    with admitted_training(config, game, options):
        from trainer.training.train import train
        train(config)


def _resumed(game: str | None, options: list[str], resume: str) -> Config:
    """The settings of a saved run, changed by free options. Raises ConfigError for any other change."""
    if value_of("--preset", options) is not None:
        raise ConfigError("--preset is for new runs, and a resumed run keeps its settings: leave --preset or --resume out")
    run = find(resume)
    from trainer.runs.checkpoint import latest, read_config
    path = latest(run)
    saved = read_config(path)
    if game not in (None, saved.game):
        raise ConfigError(f"{resume} is a run of {saved.game}, not of {game}; leave the game out, or name {saved.game}")
    saved = overlay(saved, {"run": {"resume": str(run), "run_dir": str(path.parent), "stop_at": None}})
    config = parse_training(saved.game, options, saved)
    if Path(config.run.run_dir or saved.run.run_dir).resolve() != path.parent.resolve():
        raise ConfigError(f"--run-dir must be {path.parent}, the folder of the resumed run, not {config.run.run_dir}; leave "
                          "it out")
    changed = _changed(saved, config)
    if changed:
        raise ConfigError(f"a resumed run keeps its settings, but {' and '.join(changed)}; leave "
                          f"{'them' if len(changed) > 1 else 'it'} out, or start a new run")
    return replace(config, run=replace(config.run, resume=str(run), run_dir=saved.run.run_dir))


def _changed(saved: Config, config: Config) -> list[str]:
    """The changed settings, without free ones, as text."""
    before, after = saved.to_dict(), config.to_dict()
    free = FREE_ON_RESUME | {"run_dir"}  # run_dir: the same folder, perhaps written differently
    return [f"--{name.replace('_', '-')} is {after[section][name]} and was {before[section][name]}"
            for section, settings in before.items() if section != "game"
            for name in settings.keys() - free if settings[name] != after[section][name]]
