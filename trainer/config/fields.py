"""Settings as fields of dataclasses: a type, a range and a default each, checked when they are made."""

import difflib
import math
from dataclasses import Field, field, fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from trainer.errors import ConfigError


def within(default: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> Any:
    """A field with this default whose numbers lie in [low, high], or with `above` in (low, high]."""
    return field(default=default, metadata={"low": low, "high": high, "above": above})


class Section:
    """Checks every field of a dataclass against its annotation and its range."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if plain_type(one) is float and type(value) is int:
                value = float(value)
                object.__setattr__(self, one.name, value)
            check(value, one)


def check(value: Any, one: Field) -> None:
    """Raises ConfigError where a field may not have this value."""
    if not _fits(value, one):
        raise ConfigError(f"{one.name} is {value!r}; it may be {_may_be(one)}")


def plain_type(one: Field) -> Any:
    """A field's type without its `| None`."""
    return get_args(one.type)[0] if isinstance(one.type, UnionType) else one.type


def _fits(value: Any, one: Field) -> bool:
    """Whether a value has the type of a field and lies in its range."""
    if value is None:
        return isinstance(one.type, UnionType)
    kind, low, high = plain_type(one), one.metadata.get("low"), one.metadata.get("high")
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(isinstance(key, str) and _is_number(value[key]) for key in value)
    if kind in (int, float):
        fits_type = _is_number(value) and (kind is float or isinstance(value, int))
        return fits_type and low <= value <= high and not (one.metadata["above"] and value == low)
    return type(value) is kind


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _may_be(one: Field) -> str:
    """What a field may be, in words."""
    kind, low, high = plain_type(one), one.metadata.get("low"), one.metadata.get("high")
    none = "none, or " if isinstance(one.type, UnionType) else ""
    if get_origin(kind) is Literal:
        return choices(get_args(kind))
    if get_origin(kind) is dict:
        return "names of options with a number each, such as lives=3"
    if kind in (int, float):
        noun = "an integer" if kind is int else "a number"
        start = f"{'above' if one.metadata['above'] else 'from'} {low:,}"
        return f"{none}{noun} {start}" + (f" to {high:,}" if math.isfinite(high) else " up")
    return none + {bool: "true or false", str: "a text"}[kind]


def choices(values: list[Any] | tuple[Any, ...]) -> str:
    """'1', '1 or 2', '1, 2 or 3', with thousands marked."""
    words = [f"{value:,}" if isinstance(value, int) else str(value) for value in values]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def refuse_strangers(given: Any, known: set[str], prefix: str) -> None:
    """Raises ConfigError where `given` is no table, or names what is not known; prefix stands before the names."""
    if not isinstance(given, dict):
        raise ConfigError(f"the settings of {prefix.rstrip('.') or 'a run'} are {given!r}; they may be a table of "
                          "names and values")
    strangers = [name for name in given if name not in known]
    if strangers:
        near = difflib.get_close_matches(strangers[0], known, 1)
        hint = f"did you mean {prefix}{near[0]}?" if near else f"there are {', '.join(sorted(known))}"
        raise ConfigError(f"unknown setting {', '.join(prefix + name for name in strangers)}; {hint}")


def refuse_gaps(given: dict[str, Any], known: set[str], prefix: str) -> None:
    """Raises ConfigError where a known name is missing."""
    gaps = sorted(known - given.keys())
    if gaps:
        raise ConfigError(f"missing setting {', '.join(prefix + name for name in gaps)}")
