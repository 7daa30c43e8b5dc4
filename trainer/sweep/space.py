"""What a sweep searches: a file of ranges, checked against the settings, and a trial's draw out of it.

The file is TOML, a table a section of the settings (any but run), a line a setting; sweep/default.toml tells how one is
written.
"""

import math
import tomllib
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from types import UnionType
from typing import Any, get_origin

from trainer.config import Config
from trainer.config.config import check_setting, overlay, setting
from trainer.config.fields import plain_type
from trainer.errors import ConfigError

SECTIONS = ("env", "policy", "ppo", "self_play")
NONE = "none"  # TOML has no null; the command line writes it like this, too
_KEYS = {"low", "high", "log", "step", "choices"}
_HOW = "write { low = 1, high = 4 }, with log = true or step = 1 if need be, or { choices = [16, 32] }"


@dataclass(frozen=True)
class Range:
    """What one setting is drawn from: choices, or the numbers from low to high."""

    section: str
    name: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    log: bool = False
    step: float | None = None

    @property
    def whole(self) -> bool:
        """Whether only integers are drawn."""
        return plain_type(setting(self.section, self.name)) is int

    def draw(self, trial) -> Any:
        """A value from the trial's sampler (an optuna.Trial)."""
        if self.choices:
            return trial.suggest_categorical(self.name, self.choices)
        if self.whole:
            return trial.suggest_int(self.name, self.low, self.high, step=self.step or 1, log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, step=self.step, log=self.log)

    def holds(self, value: Any) -> bool:
        """Whether a value could have been drawn."""
        if self.choices:
            return (NONE if value is None else value) in self.choices
        if value is None or not self.low <= value <= self.high:
            return False
        return self.step is None or math.isclose((value - self.low) / self.step, round((value - self.low) / self.step))


def read_space(path: str | None) -> tuple[Range, ...]:
    """The ranges of a file, or of sweep/default.toml.

    Raises ConfigError that names the file and the line's setting where it is missing, no TOML, or asks for what may not be.
    """
    file = resources.files("trainer.sweep").joinpath("default.toml") if path is None else Path(path)
    label = path or "sweep/default.toml"
    if not file.is_file():
        raise ConfigError(f"there is no file of ranges at {path}; space may be one such as trainer/sweep/default.toml")
    try:
        return parse_space(tomllib.loads(file.read_text(encoding="utf-8")))
    except (ConfigError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{label}: {error}") from None


def parse_space(tables: dict[str, Any]) -> tuple[Range, ...]:
    """The ranges of a file's tables. Raises ConfigError."""
    ranges = []
    for section, lines in tables.items():
        if section not in SECTIONS or not isinstance(lines, dict):
            raise ConfigError(f"{section!r} is no section that can be searched; there are {', '.join(SECTIONS)}, a table each")
        ranges += [_range(section, name, line) for name, line in lines.items()]
    if not ranges:
        raise ConfigError("it names no setting; write a table [ppo] with a line such as "
                          "learning_rate = { low = 0.0001, high = 0.01, log = true }")
    return tuple(ranges)


def draw(ranges: tuple[Range, ...], trial, base: Config) -> Config:
    """`base` with a trial's values. Raises ConfigError where they do not go together."""
    changes: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for one in ranges:
        value = one.draw(trial)
        changes[one.section][one.name] = _value(one.section, one.name, value)
    env, ppo = {**asdict(base.env), **changes["env"]}, {**asdict(base.ppo), **changes["ppo"]}
    changes["ppo"]["minibatch"] = nearest_minibatch(env["num_envs"], ppo["horizon"], ppo["minibatch"])
    return overlay(base, changes)


def nearest_minibatch(num_envs: int, horizon: int, wanted: int) -> int:
    """The minibatch nearest to `wanted` by its ratio among those that divide num_envs * horizon into whole sequences."""
    sizes = (count * horizon for count in range(1, num_envs + 1) if num_envs % count == 0)
    return min(sizes, key=lambda size: abs(math.log(size / wanted)))


def values_of(ranges: tuple[Range, ...], config: Config) -> dict[str, Any] | None:
    """The draw that gives `config`'s own settings, or None where the ranges do not hold them."""
    values = {one.name: getattr(getattr(config, one.section), one.name) for one in ranges}
    if not all(one.holds(values[one.name]) for one in ranges):
        return None
    return {name: NONE if value is None else value for name, value in values.items()}


def _range(section: str, name: str, line: Any) -> Range:
    kind = plain_type(setting(section, name))
    where = f"{section}.{name}"
    if get_origin(kind) is dict:
        raise ConfigError(f"{where} cannot be searched; leave it out, and hand the sweep --{name} for all of its trials")
    if not isinstance(line, dict) or not line or line.keys() - _KEYS:
        raise ConfigError(f"{where} is {line!r}; {_HOW}")
    if "choices" in line:
        return Range(section, name, choices=_choices(section, name, line))
    if kind not in (int, float):
        raise ConfigError(f"{where} has no low and high, being no number; write {{ choices = [...] }}")
    if not {"low", "high"} <= line.keys():
        raise ConfigError(f"{where} is {line!r}; {_HOW}")
    for key in ("low", "high"):
        _checked(section, name, key, line[key])
    low, high, log, step = kind(line["low"]), kind(line["high"]), line.get("log", False), line.get("step")
    if low > high:
        raise ConfigError(f"{where} has low {low} above its high {high}; swap them")
    if not isinstance(log, bool):
        raise ConfigError(f"{where} has log {log!r}; it may be true or false")
    if log and (low <= 0 or step is not None):
        raise ConfigError(f"{where} has log = true, which goes with a low above 0 and without a step; it has low {low}"
                          + ("" if step is None else f" and step {step}"))
    if step is not None and (isinstance(step, bool) or not isinstance(step, int if kind is int else int | float)
                             or not step > 0):
        raise ConfigError(f"{where} has step {step!r}; it may be {'an integer' if kind is int else 'a number'} above 0")
    return Range(section, name, low=low, high=high, log=log, step=step)


def _choices(section: str, name: str, line: dict[str, Any]) -> tuple[Any, ...]:
    choices = line["choices"]
    if len(line) > 1 or not isinstance(choices, list) or not choices:
        raise ConfigError(f"{section}.{name} is {line!r}; choices stand alone, and are a list such as [16, 32]")
    for choice in choices:
        _checked(section, name, "a choice", _value(section, name, choice))
    return tuple(choices)


def _value(section: str, name: str, choice: Any) -> Any:
    """What a choice stands for: none is a text of its own for some settings, such as memory."""
    return None if choice == NONE and isinstance(setting(section, name).type, UnionType) else choice


def _checked(section: str, name: str, what: str, value: Any) -> None:
    try:
        check_setting(section, name, value)
    except ConfigError as error:
        raise ConfigError(f"{what} of {section}.{name}: {error}") from None
    if value is None and what != "a choice":
        raise ConfigError(f"{what} of {section}.{name} is none; it may be a number")
