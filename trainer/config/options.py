"""The command line's options, made by tyro from dataclasses of settings: the help has one group for each section.

Three rules for tyro: an optional value is `none` or the value, large numbers are shown with `_`, and `--options` takes
NAME=VALUE pairs. Values are checked after the parse, and texts that are no numbers stay texts until then: the error is one
line that names the requirement, not a box of tyro's. Other errors of tyro become one line too.
"""

import contextlib
import io
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, fields, replace
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import tyro
from tyro.conf import OmitArgPrefixes, Positional, PositionalMetavarFromFieldName
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from envs_c.errors import did_you_mean
from envs_c.views import DEFAULT
from trainer.config.before_parse import dashed, is_given, is_set, option_of, value_of, with_names_first, with_pairs_together
from trainer.config.config import (
    SECTIONS,
    SIZES,
    Config,
    EnvConfig,
    PolicyConfig,
    PPOConfig,
    RunConfig,
    SelfPlayConfig,
    added_options,
    overlay,
    sizes_checked_later,
)
from trainer.config.fields import Section, checked_later, plain_type
from trainer.config.games import GameName
from trainer.config.preset import Spaces, preset, preset_file
from trainer.config.sections import OF_ONE_SESSION
from trainer.config.short_help import ALL, first_options, wants_short, without_all
from trainer.errors import ConfigError
from trainer.process import prints_for_job, program_name


@dataclass(frozen=True)
class _TrainOptions:
    preset: str | None
    """A preset to use in place of the game's own, such as a sweep's best.toml."""
    trust_code: bool
    """Load the code that the run or the preset names, though no training of yours has used it: it runs with your rights."""
    env: EnvConfig
    policy: PolicyConfig
    ppo: PPOConfig
    self_play: SelfPlayConfig
    run: RunConfig


def parse_new(game: GameName, argv: Sequence[str], changes: dict[str, dict[str, Any]] | None = None, verb: str = "",
              options: type | None = None, spaces: Spaces | None = None) -> Config:
    """The settings of a new run.

    They start from the game's preset, or from the file of --preset. `changes` and then the options in `argv` change them.
    spaces: as for `preset`.
    verb, options: for messages, the verb that trains, such as "sweep ", and the dataclass of its own options.
    """
    file = value_of("--preset", argv)
    with sizes_checked_later():  # --num-envs may make a preset's minibatch fit
        if file is None or file.lower() == "none":
            start = preset(game, spaces, value_of("--view", argv) or DEFAULT, is_set("--self-play", argv))
        else:
            start = preset_file(game, file)
        start = overlay(start, changes or {})
    return parse_training(game, argv, start, verb, options)


def parse_training(game: GameName, argv: Sequence[str], default: Config, verb: str = "", options: type | None = None) -> Config:
    """The settings in `default`, changed by the options in `argv`.

    verb, options: as for `parse_new`.
    Raises ConfigError for an unknown option and for a bad value. Exits for --help.
    """
    file = value_of("--preset", argv)
    source = file or "this game's preset"
    about = f"Train an agent that plays {game}. The defaults below are those of {source}."
    if default.run.resume is not None:
        about = f"Resume a run of {game}. The defaults below are those of the run."
    start = _TrainOptions(file, False, default.env, default.policy, default.ppo, default.self_play, default.run)
    program, every = f"{program_name()} {verb}{game}", f"{program_name()} {game} --help {ALL}"
    listing = _listing(*[f"{program_name()} {verb}--help"] * bool(verb), every)
    if wants_short(argv):
        first = first_options((start, default.env, default.policy, default.ppo, default.run))
        about += f"\n\nThese are the settings that people change first; `{every}` shows all."
        _cli(type(first), ["--help"], program, default=first, description=about, console_outputs=prints_for_job())
    sections = (_TrainOptions, *SECTIONS.values(), *filter(None, [options]))
    parsed, rest = _cli(_TrainOptions, without_all(argv), program, listing, sections, default=start, description=about,
                        config=(OmitArgPrefixes,), console_outputs=prints_for_job())
    _refuse_unknown(rest, sections, listing)
    for section in (parsed.env, parsed.policy, parsed.ppo, parsed.run, parsed.self_play):
        section.check()
    env = replace(parsed.env, options=added_options(default.env.options, parsed.env.options))
    with sizes_checked_later():  # the error names the option that was given
        config = Config(game, env, parsed.policy, parsed.ppo, parsed.run, parsed.self_play)
    config.check_sizes([name for name in SIZES if is_given(option_of(name), argv)])
    return config


def parse(options: type, argv: Sequence[str], verb: str, description: str):
    """The options of a verb.

    options: a dataclass of the verb's settings; a `Section` is checked.
    Raises ConfigError for an unknown option and for a bad value. Exits for --help.
    """
    program = f"{program_name()} {verb}"
    if any(_is_positional(one) and get_origin(plain_type(one)) is tuple for one in fields(options)):
        given = [option_of(one.name) for one in fields(options) if plain_type(one) is bool]
        argv = with_names_first(argv, ["-h", "--help", *given, *(f"--no-{option[2:]}" for option in given)])
    parsed, rest = _cli(options, argv, program, sections=(options,), description=description,
                        config=(PositionalMetavarFromFieldName,))
    _refuse_unknown(rest, (options,), _listing(f"{program} --help"))
    return _checked(parsed)


def parse_some(options: type, argv: Sequence[str], verb: str) -> tuple[Any, list[str]]:
    """The options of a verb as `parse` gives them, and the other arguments, for `parse_training`."""
    parsed, rest = _cli(options, argv, f"{program_name()} {verb}", add_help=False)
    return _checked(parsed), rest


def _checked(options: Any) -> Any:
    """The same options, checked."""
    if isinstance(options, Section):
        options.check()
    return options


def _cli(options: type, argv: Sequence[str], program: str, listing: str = "", sections: Sequence[type] = (),
         **settings: Any) -> tuple[Any, list[str]]:
    """The options by tyro, not checked yet, and the unknown arguments. Exits for --help.

    listing: what lists all options, by `_listing`; "": the program with --help.
    sections: dataclasses of all options; () if the arguments may hold others.
    Raises ConfigError, in one line, if tyro prints an error: a value or an argument without a default is missing. An unknown
    option comes first: tyro may have taken what follows it for its value.
    """
    errors = io.StringIO()
    try:
        with checked_later(), contextlib.redirect_stderr(errors):
            return tyro.cli(options, args=with_pairs_together(argv), prog=program, registry=_registry(),
                            return_unknown_args=True, **settings)
    except SystemExit as ended:
        if not ended.code:
            raise
        listing = listing or _listing(f"{program} --help")
        if sections:
            known = {*_names(sections), *(f"--no-{name[2:]}" for name in _names(sections))}
            given = (dashed(text).partition("=")[0] for text in argv if re.match("--?[a-zA-Z]", text))
            _refuse_unknown([name for name in given if name not in known], sections, listing)
        raise ConfigError(f"{_sentence(errors.getvalue())}; {listing}") from None


def _listing(*commands: str) -> str:
    """The end of an error: the commands that list the options."""
    return f"{' and '.join(f'`{command}`' for command in commands)} list{'s' * (len(commands) == 1)} the options"


def _sentence(box: str) -> str:
    """The message in a box printed by tyro: the rows between its title and its first line."""
    rows = [line.strip(" │") for line in box.splitlines()[1:]]
    groups = itertools.groupby(rows, key=lambda row: bool(row.strip("─-╰╯")))
    text = " ".join(next((group for has_text, group in groups if has_text), ()))
    if found := re.search(r"Missing value for argument '([^']+)'", text):
        return f"{found[1]} needs a value"
    if found := re.match(r"Missing from .*?: ([A-Z]+) ", text):
        return f"{found[1]} is missing"
    return text


def _refuse_unknown(arguments: Sequence[str], sections: Iterable[type], listing: str) -> None:
    """Raises ConfigError if there are unknown arguments. sections: dataclasses of the known options; listing: as for `_cli`."""
    if not arguments:
        return
    unknown = next((text for text in arguments if text.startswith("-")), None)
    if unknown is None:
        raise ConfigError(f"unexpected argument {arguments[0]!r}; {listing}")
    name, names = unknown.partition("=")[0].replace("_", "-"), _names(sections)
    if name in names:
        raise ConfigError(f"unexpected argument '--' before {name}; {listing}")
    hint = did_you_mean(name, names, 0.7)
    raise ConfigError(f"unknown option {name}; {hint}{' ' if hint else ''}{listing}")


def _names(sections: Iterable[type]) -> list[str]:
    """The options of dataclasses."""
    return [option_of(one.name) for section in sections for one in fields(section) if not _is_positional(one)]


def _is_positional(field: Field) -> bool:
    """True for an argument without a name on the command line."""
    return Positional[str].__metadata__[0] in getattr(field.type, "__metadata__", ())


def refuse_run_options(config: Config, verb: str) -> None:
    """Raises ConfigError if settings of a single run were given to a verb that does not make one.

    verb: its name, and the reason, for the message.
    """
    for name in sorted(OF_ONE_SESSION):
        if getattr(config.run, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} is no option of {verb}; leave it out")


def _registry() -> ConstructorRegistry:
    registry = ConstructorRegistry()
    registry.primitive_rule(_rule)
    return registry


def _rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Conversion of texts to values of a type, and back for the help. None for types left to tyro."""
    kinds = get_args(info.type)
    if get_origin(info.type) is Literal:
        return _spec(f"{{{','.join(kinds)}}}", str, str)
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
            str_from_instance=lambda value: [f"{key}={_option_text(one)}" for key, one in value.items()] or ["none"])
    return None


def _spec(metavar: str, parse: Callable[[str], Any], show: Callable[[Any], str]) -> PrimitiveConstructorSpec:
    return PrimitiveConstructorSpec(nargs=1, metavar=metavar, instance_from_str=lambda texts: parse(texts[0]),
                                    is_instance=lambda value: True, str_from_instance=lambda value: [show(value)])


def _pairs(texts: list[str]) -> dict[str, float | str] | str:
    """{"lives": 3.0, "map_name": "8x8"} for ["lives=3", "map_name=8x8"]; the text itself if it has another form."""
    if not texts:
        return ""
    pairs = [text.partition("=") for text in texts if texts != ["none"]]
    options = {name: _option(value) for name, equals, value in pairs if name and equals and value}
    return options if len(options) == len(pairs) else " ".join(texts)


def _option(text: str) -> float | str:
    """The value of a game's option: a number, true or false, or a text. "7" in quotes is a text too."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else _float(text)


def _option_text(value: float | str) -> str:
    """The inverse of `_option`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value if _option(value) == value else f'"{value}"'
    return _shown(value)


def _int(text: str) -> int | str:
    """The integer, or the text itself if it is none."""
    try:
        return int(text)
    except ValueError:
        return text


def _float(text: str) -> float | str:
    """The number, or the text itself if it is none."""
    try:
        return float(text)
    except ValueError:
        return text


def _shown(number: float) -> str:
    """All digits of a float, without ".0" at its end."""
    return repr(float(number)).removesuffix(".0")


_SCALARS = {int: "N", float: "X", str: "TEXT"}  # placeholders in the help
_CODECS = {int: (_int, "{:_}".format), float: (_float, _shown), str: (str, str)}
