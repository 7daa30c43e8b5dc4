"""Presets: TOML files with the settings for a game. Read here, and written for a sweep."""

from dataclasses import fields, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, NamedTuple

import tomli_w

from envs_c.errors import InvalidArgument
from envs_c.views import DEFAULT, VIEWS
from trainer.config.config import Config, full_name, overlay
from trainer.config.games import GameName, find_game
from trainer.config.sections import OF_ONE_SESSION, OF_THE_MACHINE, EnvConfig
from trainer.errors import ConfigError, SettingError
from trainer.files import is_file, read_toml, user_path


class Spaces(NamedTuple):
    """The facts that decide the preset of an environment of Gymnasium; `spaces_of` in trainer/environments.py finds them.

    kind: pictures to observe, or else the kind of the actions.
    numbers: True if the observations have numbers that can be normalized.
    """

    kind: Literal["discrete", "continuous", "pictures"]
    numbers: bool


def follows_from_spaces(game: GameName) -> bool:
    """True if the preset of a game follows from its spaces: for environments of Gymnasium, but ALE's."""
    return game.is_gym and not game.is_ale


def preset(game: GameName, spaces: Spaces | None = None, view: str = DEFAULT, self_play: bool = False) -> Config:
    """The settings of a game: the defaults, changed by presets/GAME.toml if there is one.

    For a game of this package with a view that has a preset of its own, presets/VIEW.toml, only the environments' settings come
    from there: VIEW.toml changes some of them, and has the policy and the learning for all games; presets/GAME_VIEW.toml, if
    there is one, changes these.
    A cartridge of the console has presets/atari_ram.toml, and for a view with pictures presets/atari.toml.
    With self_play presets/GAME_self_play.toml, if there is one, changes the preset for features.

    A game given as a path to its .pyx has its preset beside it: my_game.toml beside my_game.pyx. ALE's games under
    Gymnasium share one preset; other environments of Gymnasium have the one for their spaces.

    spaces: of an environment of Gymnasium; None for the defaults.

    Raises ConfigError if the file names an unknown setting or gives a setting a bad value.
    """
    if game.is_cartridge:
        return _with_file(Config(game), "atari" if view in VIEWS and VIEWS[view].picture else "atari_ram")
    label = str(user_path(game).with_suffix(".toml")) if game.is_file else f"presets/{game}.toml"
    if spaces is not None and follows_from_spaces(game):
        label = f"presets/gym_{spaces.kind}.toml"
        config = _overlaid(Config(game), _file(f"gym_{spaces.kind}"), label)
        return overlay(config, {} if spaces.numbers else {"policy": {"normalize_observations": False}})
    stem = "gym_ale" if game.is_ale else game
    file = Path(label) if game.is_file else _file(stem)
    exists = (game.is_file or stem.isidentifier()) and file.is_file()
    config = _overlaid(Config(game), file, label) if exists else Config(game)
    if game.is_file or game.is_gym:
        return config
    if view in VIEWS and _file(view).is_file():
        return _for_view(config, view)
    return _with_file(config, f"{game}_self_play") if self_play else config


def _file(stem: str) -> Traversable:
    """presets/STEM.toml."""
    return resources.files("trainer.presets").joinpath(f"{stem}.toml")


def _with_file(config: Config, stem: str) -> Config:
    """The settings, changed by presets/STEM.toml if there is one."""
    file = _file(stem)
    return _overlaid(config, file, f"presets/{stem}.toml") if file.is_file() else config


def _for_view(config: Config, view: str) -> Config:
    """The settings for a view of a game; config: those of its preset."""
    made, default = Config(config.game), EnvConfig()
    for stem in (view, f"{config.game}_{view}"):
        made = _with_file(made, stem)
    return overlay(made, {"env": {one.name: getattr(config.env, one.name) for one in fields(EnvConfig)
                                  if getattr(made.env, one.name) == getattr(default, one.name)}})


def preset_file(game: GameName, path: str) -> Config:
    """The defaults, changed by the user's own preset at `path`; the game's preset is not read.

    A file of this package that changes another one, such as presets/breakout_pixels.toml, stands for the whole preset.
    Raises ConfigError if there is no such file or the game has no such options, and as `preset` does.
    """
    file = user_path(path)
    if not is_file(file):
        found = f"{path!r} is a folder" if file.is_dir() else f"there is no {path!r}"
        raise SettingError("preset", f"must be a .toml file of settings, such as a sweep's best.toml; {found}")
    whole = _package_preset(file)
    config = _overlaid(Config(game), file, str(file)) if whole is None else replace(whole, game=game)
    if config.env.options and not game.is_gym:
        try:
            find_game(game).check_options(config.env.options)
        except InvalidArgument as error:
            raise ConfigError(f"{file}: {error}") from None
    return config


def _package_preset(file: Path) -> Config | None:
    """The preset that `file` ends, if it is presets/GAME_VIEW.toml or presets/GAME_self_play.toml; else None."""
    with resources.as_file(resources.files("trainer.presets")) as folder:
        if file.resolve().parent != folder.resolve():
            return None
    for ending in ("self_play", *filter(lambda view: _file(view).is_file(), VIEWS)):
        if (game := file.stem.removesuffix(f"_{ending}")) != file.stem:
            return preset(GameName(game), view=ending if ending in VIEWS else DEFAULT, self_play=ending not in VIEWS)
    return None


def _overlaid(start: Config, file: Path | Traversable, label: str) -> Config:
    """The settings in `start`, changed by a preset; errors begin with `label`."""
    tables = read_toml(file, label)
    try:
        config = overlay(start, tables)
    except SettingError as error:
        raise ConfigError(f"{label}: {error.renamed(full_name)}") from None
    except ConfigError as error:
        raise ConfigError(f"{label}: {error}") from None
    if config.run.resume is not None:
        raise ConfigError(f"{label}: run.resume is no setting of a preset; write --resume {config.run.resume}")
    return config


def preset_text(config: Config, comment: str, *, own: bool = False) -> str:
    """A preset with all settings different from the defaults.

    comment: written at the top, each line behind "# ".
    own: also write the settings of the run (seed, device, evaluation) and of this machine, such as num_threads.
    """
    default, tables = Config(config.game).to_dict(), {}
    for section, settings in config.to_dict().items():
        if section == "game" or (section == "run" and not own):
            continue
        left_out = OF_ONE_SESSION if own else OF_ONE_SESSION | OF_THE_MACHINE
        changed = {name: value for name, value in settings.items()
                   if value != default[section][name] and name not in left_out}
        if changed:
            tables[section] = changed
    return "".join(f"# {line}\n" for line in comment.splitlines()) + ("\n" if tables else "") + tomli_w.dumps(tables)
