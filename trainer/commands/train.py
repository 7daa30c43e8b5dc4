"""`python -m trainer GAME` and `python -m trainer --resume RUN`: the settings of a training, then the training."""

import sys
from pathlib import Path
from shlex import quote

from envs_c.text import say
from trainer.commands.arguments import admitted_training, game_of, spaces_for
from trainer.config import Config
from trainer.config.before_parse import dashed, option_of, value_of
from trainer.config.games import GameName
from trainer.config.options import parse_new, parse_training
from trainer.errors import ConfigError
from trainer.process import program_name
from trainer.runs.find import find, hint


def main(argv: list[str]) -> None:
    """Train a new agent, or resume a run."""
    named = not argv[0].startswith("-")
    options = argv[1:] if named else argv
    resume = value_of("--resume", options)
    if resume is None and any(dashed(text) == "--resume" for text in options):
        raise ConfigError(f"--resume needs a RUN, such as last; {hint()}")
    resume = None if resume is not None and resume.lower() == "none" else resume
    game = game_of(argv, "") if named or resume is None else None
    config = parse_new(game, options, spaces=spaces_for(game, options)) if resume is None else _resumed(game, options, resume)
    with admitted_training(config, game, options):
        if resume is not None:
            _say_other_game(find(resume), config)
        from trainer.training.train import train
        train(config)


def _say_other_game(run: Path, config: Config) -> None:
    """Say it if the run's config.json is that of another game. Nothing is said before the run is refused."""
    from trainer.runs.checkpoint import latest
    from trainer.runs.same_game import other_game
    if line := other_game(latest(run), config.game):
        say(f"{line}; this training writes it anew", file=sys.stderr)


def _resumed(game: GameName | None, options: list[str], resume: str) -> Config:
    """The settings of a saved run, changed by free options. Raises ConfigError for any other change."""
    if value_of("--preset", options) is not None:
        raise ConfigError("--preset is for new runs, and a resumed run keeps its settings: leave --preset or --resume out")
    run = find(resume)
    from trainer.runs.checkpoint import latest
    from trainer.runs.resume import resumed_config, saved_config
    path = latest(run)
    saved = saved_config(path, run, game, lambda game, run: f"{program_name()} {quote(game)} --resume {quote(run)}")
    return resumed_config(path, saved, parse_training(saved.game, options, saved), option_of)
