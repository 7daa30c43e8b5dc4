"""Settings as fields of dataclasses: each has a type, a range and a default. `Section` checks them.

The sections of a run's settings and the options of each verb are Sections.
"""

import contextlib
import math
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import Field, field, fields
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from envs_c.errors import did_you_mean
from envs_c.numbers import is_boolean, is_integer, is_number, plain
from envs_c.text import shown
from trainer.errors import ConfigError, FileError, SettingError
from trainer.files import user_path

_checks_later: ContextVar[bool] = ContextVar("checks_later", default=False)


def within(default: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> Any:
    """A field for numbers in [low, high]; with `above` in (low, high]."""
    return field(default=default, metadata={"low": low, "high": high, "above": above})


def matching(default: Any, pattern: str, requirement: str, *, path: bool = False) -> Any:
    """A field for texts matching a regular expression.

    requirement: the end of the error message, such as "auto or cpu" in "device must be auto or cpu, not 'tpu'".
    path: the text is a path, see `path_setting`.
    """
    return field(default=default, metadata={"pattern": pattern, "requirement": requirement, "path": path})


def path_setting(default: str | None = None) -> Any:
    """A field for the path of a file or a folder. A check replaces ~ in its value."""
    return field(default=default, metadata={"path": True})


class Section:
    """Base of dataclasses of settings: checks every field against its type and range when an object is made."""

    def __post_init__(self) -> None:
        if not _checks_later.get():
            self.check()

    def check(self) -> None:
        """Raises SettingError for the first bad value. Subclasses add checks of several settings."""
        for one in fields(self):
            value = getattr(self, one.name)
            check(value, one)
            object.__setattr__(self, one.name, _kept(value, one))
            if one.metadata.get("path") and value is not None:
                object.__setattr__(self, one.name, _expanded(one.name, value))


@contextlib.contextmanager
def checked_later() -> Iterator[None]:
    """In this context new Sections are not checked; the caller calls `check` afterwards.

    tyro needs this: it prints the errors of constructors in its own format.
    """
    token = _checks_later.set(True)
    try:
        yield
    finally:
        _checks_later.reset(token)


def check(value: Any, one: Field) -> None:
    """Raises SettingError if a field must not have this value."""
    if not _fits(value, one):
        text = shown(value)
        if type(value) is float and plain_type(one) is float:
            text = text.removesuffix(".0")  # the user may have written an integer
        raise SettingError(one.name, f"must be {requirement(one)}, not {text}")


def _kept(value: Any, one: Field) -> Any:
    """A checked value as the settings keep it: Python's numbers, which go into JSON, and floats where floats are asked for."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return float(value) if plain_type(one) is float and value is not None else plain(value)


def _expanded(name: str, value: str) -> str:
    """The path in a setting, with ~ replaced. Raises SettingError if no file can have it."""
    try:
        expanded = str(user_path(value))
    except FileError as error:
        raise SettingError(name, f"must be a path: {error}") from None
    return expanded if value.startswith("~") else value  # as the user wrote it, such as "runs/"


def plain_type(one: Field) -> Any:
    """A field's type without `| None` and without annotations."""
    kind = get_args(one.type)[0] if get_origin(one.type) is Annotated else one.type
    return get_args(kind)[0] if isinstance(kind, UnionType) else kind


def is_optional(one: Field) -> bool:
    """True if a field may be None."""
    return isinstance(one.type, UnionType)


def _fits(value: Any, one: Field) -> bool:
    """True if a value has the type of a field and lies in its range."""
    if value is None:
        return is_optional(one)
    kind = plain_type(one)
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(isinstance(key, str) for key in value) and all(
            isinstance(part, str) or is_boolean(part) or is_number(part) for part in value.values())
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(isinstance(text, str) for text in value)
    if kind in (int, float):
        low, high, above = _range(one)
        fits_type = is_number(value) and (kind is float or is_integer(value))
        return fits_type and low <= value <= high and not (above and value == low)
    return type(plain(value)) is kind and ("pattern" not in one.metadata or bool(re.fullmatch(one.metadata["pattern"], value)))


def _range(one: Field) -> tuple[float, float, bool]:
    """The lowest and the highest number of a field, and True if the lowest is excluded."""
    return one.metadata.get("low", -math.inf), one.metadata.get("high", math.inf), one.metadata.get("above", False)


def requirement(one: Field) -> str:
    """The values of a field as text, such as "none, or a number from 0 to 1"."""
    kind, none = plain_type(one), "none, or " if is_optional(one) else ""
    if "requirement" in one.metadata:
        return none + one.metadata["requirement"]
    if get_origin(kind) is Literal:
        return none + choices(get_args(kind))
    if get_origin(kind) is dict:
        return "names of options, each once and with a value, such as lives=3 or map_name=8x8"
    if kind in (int, float):
        return f"{none}{'an integer' if kind is int else 'a number'}{_range_text(*_range(one))}"
    return none + {bool: "true or false", str: "a text"}.get(kind, "texts")


def _range_text(low: float, high: float, above: bool) -> str:
    if above:
        return f" above {low:,}" + (f" and at most {high:,}" if math.isfinite(high) else "")
    if math.isfinite(high):
        return f" from {low:,} to {high:,}"
    return f" of at least {low:,}" if math.isfinite(low) else ""


def choices(values: list[Any] | tuple[Any, ...]) -> str:
    """'1', '1 or 2', '1, 2 or 3'; large numbers get commas."""
    texts = [f"{value:,}" if isinstance(value, int) else str(value) for value in values]
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def refuse_unknown(given: Any, known: set[str], prefix: str) -> None:
    """Raises ConfigError if `given` is not a dict or has an unknown key. prefix: written before the names, such as "ppo."."""
    if not isinstance(given, dict):
        raise ConfigError(f"the settings of {prefix.rstrip('.') or 'a run'} must be a table of names and values, not "
                          f"{shown(given)}")
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known, 0.6) or f"the settings are {', '.join(sorted(known))}"
        raise ConfigError(f"unknown setting {', '.join(prefix + name for name in unknown)}; {hint}")


def refuse_missing(given: dict[str, Any], known: set[str], prefix: str) -> None:
    """Raises ConfigError if a known key is missing."""
    missing = sorted(known - given.keys())
    if missing:
        raise ConfigError(f"missing setting {', '.join(prefix + name for name in missing)}")
