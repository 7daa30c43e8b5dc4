"""Arguments of several verbs."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from envs_c.errors import did_you_mean
from trainer.commands import RUN_HELP, VERBS
from trainer.config import Config, EnvConfig
from trainer.config.before_parse import is_set, option_of, value_of
from trainer.config.config import sizes_checked_later
from trainer.config.fields import Section
from trainer.config.games import GameName, checked_game, names, place_of, whole
from trainer.config.options import parse_some
from trainer.config.preset import Spaces, follows_from_spaces
from trainer.config.sections import SEEDS
from trainer.errors import CheckpointError, ConfigError, SettingError
from trainer.process import program_name
from trainer.runs import trust
from trainer.runs.folder import CONFIG, refuse_links

Run = Annotated[Positional[str], arg(help=f"{RUN_HELP[0].upper()}{RUN_HELP[1:]}.")]
Runs = Annotated[Positional[tuple[str, ...]], arg(metavar="RUN ...", help_behavior_hint="", help=f"Two runs or more; each is "
                                                  f"{RUN_HELP}. The beginning of several names means all of these runs.")]
ALONE = ("--resume", "--help", "--version")  # options of the command line without a GAME
DEVICE = arg(help="Device of the policy: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU.")
GREEDY = arg(help="Always take the most likely action, instead of sampling.")


@dataclass(frozen=True, kw_only=True)
class CodeOptions(Section):
    """Options that let the code of a run be loaded."""

    trust_code: bool = False
    """Load the code that the run names, though no training of yours has used it: it runs with your rights."""
    game: str | None = None
    """The run's game, to load it if it is code: a .pyx, gym:FILE.py:NAME or gym:MODULE:NAME. If its file has moved, the new
    place."""
    wrap: str | None = None
    """The run's wrappers, to load them."""
    encoder: str | None = None
    """The run's encoder, to load it if it is an import path."""
    observation_transform: str | None = None
    """The run's observation transform, to load it."""
    memory: str | None = None
    """The run's memory, to load it if it is an import path."""
    heads: str | None = None
    """The run's heads, to load them if they are an import path."""


@contextlib.contextmanager
def admitted_run(run: Path, options: CodeOptions, *, begun: bool = False) -> Iterator[None]:
    """Let the code that a run names be loaded in this context, if it is allowed.

    begun: True if a run before its first checkpoint will do; its config.json has the settings.
    Raises TrustError if it is not, SettingError if an option names other code than the run, CheckpointError, and RunError if
    the run's folder holds a link.
    """
    from trainer.runs.checkpoint import latest, read_config
    from trainer.runs.summary import read_run
    try:
        path = latest(run)
    except CheckpointError:
        path = run / CONFIG
        if not (begun and path.is_file()):
            raise
    refuse_links(path.parent)
    config = read_run(run).settings if path.name == CONFIG else read_config(path)
    named_game = None if options.game is None else whole(options.game)
    config = replace(config, game=place_of(config.game, named_game))
    settings = {"game": config.game, "wrap": config.env.wrap}
    settings |= {setting: getattr(config.policy, setting) for setting in trust.OF_THE_POLICY}
    given = {setting: name for setting in settings if (name := getattr(options, setting)) is not None}
    if named_game is not None:
        given["game"] = named_game
    for setting, name in given.items():
        if name != settings[setting]:
            raise SettingError(setting, f"must be {settings[setting]}, which the run has, not {name}: leave it out, or choose "
                                        "another run")
    named = {*given.values(), *given.get("wrap", "").split(",")}
    with trust.admitted(config, path, trust_code=options.trust_code, named=named):
        yield


@contextlib.contextmanager
def admitted_training(config: Config, game: GameName | None, argv: Sequence[str], *,
                       trains: bool = True) -> Iterator[list[str]]:
    """Let the code of a training be loaded in this context, if it is allowed; gives the arguments in `argv` that allow code.

    game: on the command line; None if it is not there.
    argv: the options on the command line.
    trains: False if the training keeps nothing; then the code is not remembered.
    Raises TrustError if the code is not allowed.
    """
    options = [option_of(setting) for setting in ("wrap", *trust.OF_THE_POLICY, *trust.OF_THE_LEARNING, "track")]
    given = {option: value for option in options if (value := value_of(option, argv))}
    listed = [path for option in ("--track", "--wrap") for path in given.get(option, "").split(",")]
    named = {*given.values(), *listed, *([game] if game else [])}
    trust_code = is_set("--trust-code", argv)
    with trust.admitted(config, config.run.resume or config.run.run_dir or "the preset", trust_code=trust_code, named=named,
                        learns=True, trains=trains, game_option=""):
        yield [f"{option}={value}" for option, value in given.items() if ":" in value] + ["--trust-code"] * trust_code


def spaces_for(game: GameName, argv: Sequence[str], *, trains: bool = True) -> Spaces | None:
    """The facts that decide the preset of an environment of Gymnasium, which is made once for it; None for other games.

    argv: the options on the command line; those of the environment may change its spaces.
    trains: as for `admitted_training`: the code runs here for the first time.
    Raises ConfigError if it cannot be made, and TrustError as `admitted_training`.
    """
    file = value_of("--preset", argv) or "none"
    if not follows_from_spaces(game) or file.lower() != "none":
        return None
    env, _ = parse_some(EnvConfig, argv, game)
    with sizes_checked_later():  # they fit the preset, which is not known yet
        config = Config(game, env)
    with admitted_training(config, game, argv, trains=trains):
        from trainer.environments import spaces_of
        return spaces_of(game, env)


def game_of(argv: list[str], command: str) -> GameName:
    """The game at the head of `argv`.

    command: the arguments before it, for the error message, such as "profile ".
    Raises ConfigError if there is no game, or no such game.
    """
    if not argv or argv[0].startswith("-"):
        hint = did_you_mean(argv[0].partition("=")[0], ALONE, 0.7) if argv and not command else ""
        raise ConfigError(f"GAME is missing: write {program_name()} {command}GAME, where GAME is {names()}"
                          + (f"; {hint}" if hint else ""))
    return checked_game(argv[0], () if command else VERBS)


def from_one_checkpoint(config: Config) -> Config:
    """The config with the path of the checkpoint in `init_from`: each of many trainings would find another one by `last`.

    Raises RunError and CheckpointError if there is none.
    """
    if config.run.init_from is None:
        return config
    from trainer.training.initial import resolved
    return resolved(config)


def refuse_large_seed(seed: int, count: int) -> None:
    """Raises SettingError unless `count` seeds from `seed` on are all seeds of a run."""
    if seed + count > SEEDS:
        raise SettingError("seed", f"must be at most {SEEDS - count:,} for {count:,} seeds, not {seed:,}")
