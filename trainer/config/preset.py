"""Presets: TOML files of the settings that a game is trained with; read, and written by a sweep."""

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from trainer.config.config import GYM, Config, overlay
from trainer.errors import ConfigError

# Where a run is played and written, and what it shows: of a trial's own preset, not of one that is handed on.
_HERE = {"env": {"num_threads", "num_batches"}}
_NEVER = {"run_dir", "resume", "stop_at"}


def preset(game: str) -> Config:
    """The settings that `game` is trained with: the defaults, overlaid with presets/GAME.toml where there is one.

    A game given as a path to its .pyx has its file of settings beside it: my_game.toml beside my_game.pyx. ALE's games under
    Gymnasium share one.

    Raises ConfigError when the file names a setting that does not exist or gives one a value that it may not have.
    """
    outside = game.endswith(".pyx")
    label = str(Path(game).with_suffix(".toml")) if outside else f"presets/{game}.toml"
    name = "gym_ale" if game.startswith((f"{GYM}ALE/", f"{GYM}ale_py:")) else game
    file = Path(label) if outside else resources.files("trainer.presets").joinpath(f"{name}.toml")
    if not (outside or name.isidentifier()) or not file.is_file():
        return Config(game)
    return _overlaid(game, file, label)


def preset_file(game: str, path: str) -> Config:
    """The defaults, overlaid with a preset of the user's own, which stands in the place of the game's.

    Raises ConfigError where there is no such file, and as `preset` does.
    """
    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"there is no preset at {path}; preset may be a .toml file of settings, such as a sweep's best.toml")
    return _overlaid(game, file, path)


def _overlaid(game: str, file: Any, label: str) -> Config:
    """The defaults, overlaid with a file of settings, whose name stands in front of its errors."""
    try:
        config = overlay(Config(game), tomllib.loads(file.read_text(encoding="utf-8")))
    except (ConfigError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{label}: {error}") from None
    if config.run.resume is not None:
        raise ConfigError(f"{label}: run.resume is no setting of a preset; write --resume {config.run.resume}")
    return config


def preset_text(config: Config, comment: str, *, own: bool = False) -> str:
    """The settings that differ from the defaults; a preset's file says no more.

    own: those of the run as well (seed, device, evaluation), and of this machine, such as num_threads.
    """
    default, lines = Config(config.game).to_dict(), [f"# {line}" for line in comment.splitlines()]
    for section, settings in config.to_dict().items():
        if section == "game" or (section == "run" and not own):
            continue
        left_out = _NEVER if own else _HERE.get(section, set())
        changed = {name: value for name, value in settings.items()
                   if value != default[section][name] and name not in left_out}
        if changed:
            lines += ["", f"[{section}]", *(f"{name} = {_toml(value)}" for name, value in changed.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML writes it: a text, a boolean, a number, or a table of numbers in a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)
