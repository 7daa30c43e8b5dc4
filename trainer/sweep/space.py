"""The ranges of a sweep: read from a file, checked against the settings, and drawn from.

The file is TOML; trainer/sweep/default.toml explains its format.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, get_origin

from envs_c.text import shown
from trainer.config import Config
from trainer.config.before_parse import is_given, option_of
from trainer.config.config import check_setting, overlay, setting
from trainer.config.fields import is_optional, plain_type
from trainer.config.minibatches import nearest_minibatch
from trainer.errors import ConfigError, SettingError
from trainer.files import is_file, read_toml, user_path

SECTIONS = ("env", "policy", "ppo", "self_play")
NONE = "none"  # stands for None: TOML has no null
_MOST_VALUES = 10**9  # of a range with a step
_KEYS = {"low", "high", "log", "step", "choices"}
_HOW = "write { low = 1, high = 4 }, with log = true or step = 1 if need be, or { choices = [16, 32] }"


@dataclass(frozen=True)
class Range:
    """The values of one setting: choices, or the numbers from low to high."""

    section: str
    name: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    log: bool = False
    step: float | None = None

    @property
    def is_integer(self) -> bool:
        """True if only integers are drawn."""
        return plain_type(setting(self.section, self.name)) is int

    def draw(self, trial) -> Any:
        """Draw a value with the sampler of `trial`, an optuna.Trial."""
        if self.choices:
            return trial.suggest_categorical(self.name, self.choices)
        if self.is_integer:
            return trial.suggest_int(self.name, self.low, self.high, step=self.step or 1, log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, step=self.step, log=self.log)

    def holds(self, value: Any) -> bool:
        """True if `value` can be drawn."""
        if self.choices:
            return (NONE if value is None else value) in self.choices
        if value is None or not self.low <= value <= self.high:
            return False
        return self.step is None or math.isclose((value - self.low) / self.step, round((value - self.low) / self.step))


def read_space(path: str | None) -> tuple[Range, ...]:
    """The ranges of a file, or of sweep/default.toml if path is None.

    Raises ConfigError, with the file and the setting, if the file is missing, is not TOML, or has a bad range.
    """
    file = resources.files("trainer.sweep").joinpath("default.toml") if path is None else user_path(path)
    if not is_file(file):
        raise ConfigError(f"--space must be a file of ranges such as trainer/sweep/default.toml, and there is no file {path}")
    tables = read_toml(file, str(file))
    try:
        return parse_space(tables)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def parse_space(tables: dict[str, Any]) -> tuple[Range, ...]:
    """The ranges of a file's tables. Raises ConfigError."""
    ranges = []
    for section, lines in tables.items():
        if section not in SECTIONS or not isinstance(lines, dict):
            raise ConfigError(f"the tables must be {', '.join(SECTIONS)}, not {shown(section)}")
        ranges += [_range(section, name, line) for name, line in lines.items()]
    if not ranges:
        raise ConfigError("there must be a range for at least one setting: write a table [ppo] with a line such as "
                          "learning_rate = { low = 0.0001, high = 0.01, log = true }")
    return tuple(ranges)


def searched(ranges: Sequence[Range], argv: Sequence[str]) -> tuple[tuple[Range, ...], list[str]]:
    """The ranges without those of settings that options in `argv` give, and these options.

    Raises ConfigError if no range is left.
    """
    options = {one: option_of(one.name) for one in ranges}
    fixed = [option for option in options.values() if is_given(option, argv)]
    left = tuple(one for one, option in options.items() if option not in fixed)
    if not left:
        raise ConfigError(f"{' and '.join(fixed)} must not be given, since the ranges search nothing else: leave one out, or "
                          "name a --space with more settings")
    return left, fixed


def length_of(base: Config) -> tuple[Range, ...]:
    """The range of total_steps in a cost-aware sweep that names no ranges: from a tenth of the preset's to all of them."""
    return (Range("ppo", "total_steps", low=max(base.ppo.total_steps // 10, 1), high=base.ppo.total_steps, log=True),)


def draw(ranges: tuple[Range, ...], trial, base: Config) -> Config:
    """`base` with values drawn for a trial. Raises ConfigError if they exclude each other."""
    changes: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for one in ranges:
        value = one.draw(trial)
        changes[one.section][one.name] = _value(one.section, one.name, value)
    env, ppo = {**asdict(base.env), **changes["env"]}, {**asdict(base.ppo), **changes["ppo"]}
    changes["ppo"]["minibatch"] = nearest_minibatch(env["num_envs"], ppo["horizon"], ppo["minibatch"])
    return overlay(base, changes)


def values_of(ranges: tuple[Range, ...], config: Config) -> dict[str, Any] | None:
    """The draw with the settings of `config`; None if a range does not hold its setting."""
    values = {one.name: getattr(getattr(config, one.section), one.name) for one in ranges}
    if not all(one.holds(values[one.name]) for one in ranges):
        return None
    return {name: NONE if value is None else value for name, value in values.items()}


def _range(section: str, name: str, line: Any) -> Range:
    """The range in a line of the file. Raises ConfigError."""
    kind = plain_type(setting(section, name))
    label = f"{section}.{name}"
    if get_origin(kind) is dict:
        raise ConfigError(f"{label} cannot be searched: leave it out, and give the sweep --{name} for all of its trials")
    if not isinstance(line, dict) or not line or line.keys() - _KEYS:
        raise ConfigError(f"{label} must be a range, not {shown(line)}: {_HOW}")
    if "choices" in line:
        return Range(section, name, choices=_choices(section, name, line))
    if kind not in (int, float):
        raise ConfigError(f"{label} must be {{ choices = [...] }}, since it is not a number")
    if not {"low", "high"} <= line.keys():
        raise ConfigError(f"{label} must be a range, not {shown(line)}: {_HOW}")
    for key in ("low", "high"):
        _check_value(section, name, key, line[key])
    found = Range(section, name, low=kind(line["low"]), high=kind(line["high"]), log=line.get("log", False),
                  step=line.get("step"))
    _check_numbers(label, found)
    return found


def _check_numbers(label: str, found: Range) -> None:
    """Raises ConfigError if low, high, log and step of a range exclude each other."""
    low, high, log, step = found.low, found.high, found.log, found.step
    if low > high:
        raise ConfigError(f"low of {label} must be at most high, not {low} with high {high}")
    if not isinstance(log, bool):
        raise ConfigError(f"log of {label} must be true or false, not {shown(log)}")
    if log and (low <= 0 or step is not None):
        raise ConfigError(f"log = true of {label} needs a low above 0 and no step, not low {low}"
                          + ("" if step is None else f" with step {step}"))
    kinds = int if found.is_integer else int | float
    if step is not None and (isinstance(step, bool) or not isinstance(step, kinds) or not 0 < step <= sys.float_info.max):
        raise ConfigError(f"step of {label} must be {'an integer' if found.is_integer else 'a number'} above 0, not "
                          f"{shown(step)}")
    if step is not None and high - low > _MOST_VALUES * step:
        raise ConfigError(f"step of {label} must leave at most {_MOST_VALUES:,} values from low to high, not {shown(step)}")


def _choices(section: str, name: str, line: dict[str, Any]) -> tuple[Any, ...]:
    """The choices of a line, checked. Raises ConfigError."""
    choices = line["choices"]
    if len(line) > 1 or not isinstance(choices, list) or not choices:
        raise ConfigError(f"{section}.{name} must be {{ choices = [16, 32] }} or other values in the list, not {shown(line)}")
    for choice in choices:
        _check_value(section, name, "a choice", _value(section, name, choice))
    return tuple(choices)


def _value(section: str, name: str, choice: Any) -> Any:
    """The value of a choice. "none" stays a text for settings without None, such as memory."""
    return None if choice == NONE and is_optional(setting(section, name)) else choice


def _check_value(section: str, name: str, part: str, value: Any) -> None:
    """Check a bound or a choice of a range; `part` names it in the error. Raises ConfigError."""
    label = f"{part} of {section}.{name}"
    try:
        check_setting(section, name, value)
    except SettingError as error:
        raise ConfigError(f"{label} {error.problem}") from None
    if value is None and part != "a choice":
        raise ConfigError(f"{label} must be a number, not none")
