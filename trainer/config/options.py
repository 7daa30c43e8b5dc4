"""The command line's options, made by tyro from dataclasses of settings: the help has one group for each section.

Three rules for tyro: an optional value is `none` or the value, large numbers are shown with `_`, and `--options` takes
NAME=VALUE pairs. Values are checked after the parse: their errors are then ours and not tyro's.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args, get_origin

import tyro
from tyro.conf import OmitArgPrefixes, PositionalMetavarFromFieldName
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from trainer.config.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig, overlay
from trainer.config.fields import Section, checked_later
from trainer.config.preset import preset, preset_file
from trainer.config.sections import OF_ONE_SESSION
from trainer.errors import ConfigError
from trainer.process import prints_for_job, program_name

RANK_0_SECONDS = 2.0  # for rank 0 to print tyro's error


@dataclass(frozen=True)
class _TrainOptions:
    preset: str | None
    """A preset to use in place of the game's own, such as a sweep's best.toml."""
    env: EnvConfig
    policy: PolicyConfig
    ppo: PPOConfig
    self_play: SelfPlayConfig
    run: RunConfig


def parse_new(game: str, argv: Sequence[str], changes: dict[str, dict[str, Any]] | None = None) -> Config:
    """The settings of a new run.

    They start from the game's preset, or from the file of --preset. `changes` and then the options in `argv` change them.
    """
    file = value_of("--preset", argv)
    start = preset(game) if file is None or file.lower() == "none" else preset_file(game, file)
    return parse_training(game, argv, overlay(start, changes or {}))


def parse_training(game: str, argv: Sequence[str], default: Config) -> Config:
    """The settings in `default`, changed by the options in `argv`.

    Raises ConfigError for a bad value. Exits for --help and for options rejected by tyro.
    """
    file = value_of("--preset", argv)
    source = file or "this game's preset"
    about = f"Train an agent that plays {game}. The defaults below are those of {source}."
    if default.run.resume is not None:
        about = f"Resume a run of {game}. The defaults below are those of the run."
    start = _TrainOptions(file, default.env, default.policy, default.ppo, default.self_play, default.run)
    with checked_later(), _after_rank_0():
        parsed = tyro.cli(_TrainOptions, args=list(argv), default=start, description=about, prog=f"{program_name()} {game}",
                          config=(OmitArgPrefixes,), registry=_registry(), console_outputs=prints_for_job())
    for section in (parsed.env, parsed.policy, parsed.ppo, parsed.run, parsed.self_play):
        section.check()
    return Config(game, parsed.env, parsed.policy, parsed.ppo, parsed.run, parsed.self_play)


def parse(options: type, argv: Sequence[str], verb: str, description: str):
    """The options of a verb.

    options: a dataclass of the verb's settings; a `Section` is checked.
    Raises ConfigError for a bad value. Exits for --help and for options rejected by tyro.
    """
    with checked_later():
        parsed = tyro.cli(options, args=list(argv), prog=f"{program_name()} {verb}", registry=_registry(),
                          description=description, config=(PositionalMetavarFromFieldName,))
    return _checked(parsed)


def parse_some(options: type, argv: Sequence[str], verb: str) -> tuple[Any, list[str]]:
    """The options of a verb as `parse` gives them, and the other arguments, for `parse_training`."""
    with checked_later():
        parsed, rest = tyro.cli(options, args=list(argv), prog=f"{program_name()} {verb}", registry=_registry(),
                                return_unknown_args=True, add_help=False)
    return _checked(parsed), rest


def _checked(options: Any) -> Any:
    """The same options, checked."""
    if isinstance(options, Section):
        options.check()
    return options


@contextlib.contextmanager
def _after_rank_0() -> Iterator[None]:
    """Delay the exit of other ranks: torchrun stops a job at the first exit, and only rank 0 prints tyro's error."""
    try:
        yield
    except SystemExit:
        if not prints_for_job():
            time.sleep(RANK_0_SECONDS)
        raise


def refuse_run_options(config: Config, what: str) -> None:
    """Raises ConfigError if settings of a run were given to `what`, a verb without runs."""
    for name in sorted(OF_ONE_SESSION):
        if getattr(config.run, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} is no option of {what}; leave it out")


def value_of(option: str, argv: Sequence[str]) -> str | None:
    """The value of an option, read before the full parse: the defaults depend on --preset and --resume."""
    for index, text in enumerate(argv):
        if text.startswith(f"{option}="):
            return text.partition("=")[2]
        if text == option and index + 1 < len(argv):
            return argv[index + 1]
    return None


def _registry() -> ConstructorRegistry:
    registry = ConstructorRegistry()
    registry.primitive_rule(_rule)
    return registry


def _rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Conversion of texts to values of a type, and back for the help. None for types left to tyro."""
    kinds = get_args(info.type)
    if info.type in _SCALARS:
        return _spec(_SCALARS[info.type], *_CODECS[info.type])
    if NoneType in kinds and kinds[0] in _SCALARS:
        parse, show = _CODECS[kinds[0]]
        return _spec(_SCALARS[kinds[0]], lambda text: None if text.lower() == "none" else parse(text),
                     lambda value: "none" if value is None else show(value))
    if get_origin(info.type) is dict:
        return PrimitiveConstructorSpec(
            nargs="*", metavar="NAME=VALUE ...", instance_from_str=_pairs,
            is_instance=lambda value: isinstance(value, dict),
            str_from_instance=lambda value: [f"{key}={_shown(number)}" for key, number in value.items()] or ["none"])
    return None


def _spec(metavar: str, parse: Callable[[str], Any], show: Callable[[Any], str]) -> PrimitiveConstructorSpec:
    return PrimitiveConstructorSpec(nargs=1, metavar=metavar, instance_from_str=lambda texts: parse(texts[0]),
                                    is_instance=lambda value: True, str_from_instance=lambda value: [show(value)])


def _pairs(texts: list[str]) -> dict[str, float]:
    """{"lives": 3.0} for ["lives=3"]."""
    pairs = {}
    for text in texts if texts != ["none"] else []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"an option of a game must be NAME=VALUE, such as lives=3, not {text!r}")
        pairs[name] = _float(value)
    return pairs


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an integer, such as 1024 or 50_000_000") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number, such as 0.5 or 3e-4") from None


def _shown(number: float) -> str:
    """All digits of a float, without ".0" at its end."""
    return repr(float(number)).removesuffix(".0")


_SCALARS = {int: "N", float: "X", str: "TEXT"}  # placeholders in the help
_CODECS = {int: (_int, "{:_}".format), float: (_float, _shown), str: (str, str)}
