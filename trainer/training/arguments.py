"""Settings and other arguments of the Python API: by their names, as values or as the code itself."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envs_c.errors import did_you_mean
from envs_c.text import shown
from trainer.config import Config
from trainer.config.config import SECTIONS, full_name, overlay
from trainer.errors import ConfigError, SettingError


def require_known(settings: Iterable[str], others: Iterable[str] = ()) -> None:
    """Raises ConfigError for the first name that is no setting. others: of further arguments, which the error may suggest."""
    known = [*others, *(one.name for made in SECTIONS.values() for one in dataclasses.fields(made))]
    for name in settings:
        if "." not in full_name(name):
            raise ConfigError(f"unknown setting {name}; {did_you_mean(name, known, 0.6) or 'docs/settings.md lists them'}")


def changed(config: Config, settings: dict[str, Any]) -> Config:
    """A config with some settings changed, given by their names without a section."""
    return overlay(config, by_section(settings))


def by_section(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The values of settings, given by their names without a section."""
    changes: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        changes.setdefault(full_name(name).partition(".")[0], {})[name] = value_of(name, value)
    return changes


def text_of(argument: str, value: Any, example: str) -> str:
    """The text of a path or a RUN. Raises SettingError for another value: the text of None might be that of a run.

    example: of the argument, for the error.
    """
    if not isinstance(value, (str, Path)):
        raise SettingError(argument, f"must be a str or a Path, such as {example}, not {shown(value)}")
    return str(value)


def value_of(name: str, value: Any) -> Any:
    """A setting's value: the text of a path, and the import path of a class or a function."""
    if isinstance(value, Path):
        return str(value)
    if not callable(value):
        return value
    module, qualified = getattr(value, "__module__", None), getattr(value, "__qualname__", "<")
    if module in (None, "__main__") or "<" in qualified:
        raise SettingError(name, f"must be importable from a module, so that the run can be resumed, not {value!r}: write it "
                                 "into a file, and import it from there")
    return f"{module}:{qualified}"
