"""Arguments read and ordered before tyro parses them: some of them decide the defaults of the others.

As in the parse, the last one of several holds, and the name of an option may be written with underscores.
"""

from collections.abc import Collection, Sequence
from typing import Any


def value_of(option: str, argv: Sequence[str]) -> str | None:
    """The value of an option such as --preset or --resume; None if it is not there."""
    found = None
    for index, text in enumerate(argv):
        name, equals, value = dashed(text).partition("=")
        if name == option and (equals or index + 1 < len(argv)):
            found = value if equals else argv[index + 1]
    return found


def is_set(option: str, argv: Sequence[str]) -> bool:
    """True if an option without a value is on: the last of --NAME and --no-NAME."""
    given = [text for text in map(dashed, argv) if text in (option, f"--no-{option[2:]}")]
    return bool(given) and given[-1] == option


def is_given(option: str, argv: Sequence[str]) -> bool:
    """True if an option is in the arguments, with a value or without one, also as --no-NAME."""
    return any(dashed(text).partition("=")[0] in (option, f"--no-{option[2:]}") for text in argv)


def option_of(setting: str) -> str:
    """The option of a setting on the command line: --num-envs for num_envs."""
    return f"--{setting.replace('_', '-')}"


def written(value: Any) -> str:
    """A setting's value as the user writes it: none for None, and a text without quotes unless it is empty."""
    return "none" if value is None else value if isinstance(value, str) and value else repr(value)


def dashed(text: str) -> str:
    """An argument with dashes in an option's name: --reward-transform=a_b:c for --reward_transform=a_b:c."""
    name, equals, value = text.partition("=")
    return (name.replace("_", "-") if name.startswith("--") else name) + equals + value


def with_names_first(argv: Sequence[str], flags: Collection[str]) -> list[str]:
    """The arguments with those that belong to no option in front, since tyro would keep only those before the first option.

    flags: the options without a value.
    """
    names, rest, takes = [], [], False  # takes: the argument is the value of the option before it
    for text in argv:
        if takes or text.startswith("-"):
            takes = not takes and "=" not in text and dashed(text) not in flags
            rest.append(text)
        else:
            names.append(text)
    return [*names, *rest]


def with_pairs_together(argv: Sequence[str]) -> list[str]:
    """The arguments with the NAME=VALUE pairs of several --options behind one, since tyro would keep those of the last."""
    pairs, rest, taken = [], [], False
    for text in argv:
        name, equals, value = dashed(text).partition("=")
        if name == "--options":
            taken = True
            pairs += [value] if equals else []
        elif taken and not text.startswith("-"):
            pairs.append(text)
        else:
            taken = False
            rest.append(text)
    return [*rest, "--options", *pairs] if len(rest) < len(argv) else rest
