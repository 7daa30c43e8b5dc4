"""The short help of a training: `GAME --help` shows the settings that people change first, `GAME --help all` shows all."""

import ast
import inspect
import itertools
from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, get_type_hints

from tyro.conf import arg

FIRST = ("preset", "view", "options", "num_envs", "memory", "total_steps", "learning_rate", "gamma", "seed", "device",
         "run_dir", "eval_episodes")
ALL = "all"


def wants_short(argv: Sequence[str]) -> bool:
    """True if the options ask for help, and not for all of it."""
    asked = [index for index, text in enumerate(argv) if text in ("-h", "--help")]
    return bool(asked) and ALL not in argv[asked[0] + 1: asked[0] + 2]


def without_all(argv: Sequence[str]) -> list[str]:
    """The same options with `--help` in place of `--help all`."""
    return [text for index, text in enumerate(argv)
            if text != ALL or index == 0 or argv[index - 1] not in ("-h", "--help")]


def first_options(sections: Sequence[Any]) -> Any:
    """A dataclass of the settings in FIRST, with the values in `sections` as defaults and their docstrings as help.

    sections: instances of dataclasses.
    """
    found = {}
    for section in sections:
        kinds, texts = get_type_hints(type(section)), docstrings(type(section))
        found |= {one.name: (one.name, Annotated[kinds[one.name], arg(help=texts[one.name])],
                             _default(getattr(section, one.name))) for one in fields(section) if one.name in FIRST}
    return make_dataclass("FirstOptions", [found[name] for name in FIRST])()


def _default(value: Any) -> Any:
    return field(default_factory=lambda: dict(value)) if isinstance(value, dict) else field(default=value)


def docstrings(section: type) -> dict[str, str]:
    """The text below each field of a dataclass."""
    body = ast.parse(inspect.getsource(section)).body[0].body
    return {statement.target.id: inspect.cleandoc(text.value.value) for statement, text in itertools.pairwise(body)
            if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr)}
