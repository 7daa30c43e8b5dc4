"""The command line's options, made by tyro out of the dataclasses of config.py, one group of the help a section.

tyro is told three things: an optional value is written `none` or the value, large numbers are shown with `_`, and
`--options` takes NAME=VALUE pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from types import NoneType
from typing import Any, get_args, get_origin

import tyro
from tyro.conf import OmitArgPrefixes, PositionalMetavarFromFieldName
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from trainer.config.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig, overlay
from trainer.config.preset import preset, preset_file
from trainer.errors import ConfigError
from trainer.process import prints_for_job

PROG = "python -m trainer"


def _unchecked(section: type) -> type:
    """The same fields without the checks, so that a bad value raises where we print the error, not inside tyro."""
    body = {"__doc__": section.__doc__, "__post_init__": lambda self: None}
    return dataclass(frozen=True)(type(section.__name__, (section,), body))


_Env, _Policy, _PPO, _SelfPlay, _Run = map(_unchecked, (EnvConfig, PolicyConfig, PPOConfig, SelfPlayConfig, RunConfig))


@dataclass(frozen=True)
class _TrainOptions:
    preset: str | None
    """A file of settings that stands in the place of the game's preset, such as a sweep's best.toml."""
    env: _Env
    policy: _Policy
    ppo: _PPO
    self_play: _SelfPlay
    run: _Run


def parse_new(game: str, argv: Sequence[str], changes: dict[str, dict[str, Any]] | None = None) -> Config:
    """The settings of a new run: the preset of the game, or of --preset, with `changes`, then with what `argv` changes."""
    file = value_of("--preset", argv)
    start = preset(game) if file is None or file.lower() == "none" else preset_file(game, file)
    return parse_training(game, argv, overlay(start, changes or {}))


def parse_training(game: str, argv: Sequence[str], default: Config) -> Config:
    """The settings that `argv` makes out of `default`. Raises ConfigError; exits for --help and what tyro refuses."""
    sections = {"env": _Env, "policy": _Policy, "ppo": _PPO, "self_play": _SelfPlay, "run": _Run}
    unchecked = {name: made(**asdict(getattr(default, name))) for name, made in sections.items()}
    file = value_of("--preset", argv)
    source = file or "this game's preset"
    about = f"Train an agent that plays {game}. The defaults below are those of {source}."
    if default.run.resume is not None:
        about = f"Go on with a run that learns {game}. The defaults below are those of the run."
    parsed = tyro.cli(_TrainOptions, args=list(argv), default=_TrainOptions(preset=file, **unchecked),
                      description=about, prog=f"{PROG} {game}", config=(OmitArgPrefixes,), registry=_registry(),
                      console_outputs=prints_for_job())
    return Config(game, EnvConfig(**_values(parsed.env)), PolicyConfig(**_values(parsed.policy)),
                  PPOConfig(**_values(parsed.ppo)), RunConfig(**_values(parsed.run)),
                  SelfPlayConfig(**_values(parsed.self_play)))


def parse(options: type, argv: Sequence[str], verb: str, description: str):
    """The options of a verb, a dataclass of settings, out of `argv`; exits for --help and what tyro refuses."""
    return tyro.cli(options, args=list(argv), prog=f"{PROG} {verb}", registry=_registry(), description=description,
                    config=(PositionalMetavarFromFieldName,))


def parse_some(options: type, argv: Sequence[str], verb: str) -> tuple[Any, list[str]]:
    """As `parse`, and the words that are none of these options, for `parse_training`."""
    return tyro.cli(options, args=list(argv), prog=f"{PROG} {verb}", registry=_registry(), return_unknown_args=True,
                    add_help=False)


def refuse_run_options(config: Config, what: str) -> None:
    """Raises ConfigError where settings of a run of its own were given to `what`, which makes none."""
    for name in ("resume", "run_dir", "stop_at"):
        if getattr(config.run, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} is no option of {what}; leave it out")


def value_of(option: str, argv: Sequence[str]) -> str | None:
    """The text given to an option, before the full parse: which run is resumed decides what its defaults are."""
    for index, word in enumerate(argv):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and index + 1 < len(argv):
            return argv[index + 1]
    return None


def _values(section: Any) -> dict[str, Any]:
    return {one.name: getattr(section, one.name) for one in fields(section)}


def _registry() -> ConstructorRegistry:
    registry = ConstructorRegistry()
    registry.primitive_rule(_rule)
    return registry


def _rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """How texts become values of a type, and back for the help; None leaves a type to tyro."""
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
    """{"lives": 3.0} of ["lives=3"]."""
    pairs = {}
    for text in texts if texts != ["none"] else []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no option of a game; write NAME=VALUE, such as lives=3")
        pairs[name] = _float(value)
    return pairs


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no integer, such as 1024 or 50_000_000") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number, such as 0.5 or 3e-4") from None


def _shown(number: float) -> str:
    """A float without losing a digit, but without a bare .0 at its end."""
    return repr(float(number)).removesuffix(".0")


_SCALARS = {int: "N", float: "X", str: "PATH"}  # what the help calls a value; each text among the settings is a path
_CODECS = {int: (_int, "{:_}".format), float: (_float, _shown), str: (str, str)}
