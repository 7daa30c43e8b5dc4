"""Classes and functions of the user's own, given in a setting by import path: "package.module:Name"."""

import contextlib
import importlib
import inspect
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from trainer.errors import SettingError, TrainerError


def find(setting: str, path: str, arguments: tuple[str, ...]) -> Callable[..., Any]:
    """Import the class or function of an import path.

    setting: name of the setting, for error messages.
    path: "package.module:Name".
    arguments: names of the caller's keyword arguments.

    Raises SettingError if the module cannot be imported, has no such name, or the object does not accept the arguments.
    """
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        raise SettingError(setting, "must be named by its module and its class or function, such as my_package.my_module:Small"
                                    f", not {path!r}")
    module = _import(setting, path, name)
    try:
        found = operator.attrgetter(attribute)(module)
    except AttributeError as error:
        raise SettingError(setting, f"{path!r}: {_file(name) or name} has no {attribute}") from error
    if not callable(found):
        raise SettingError(setting, f"{path!r} must be a class or a function, not {describe(found)}")
    try:
        inspect.signature(found).bind(**dict.fromkeys(arguments))
    except (TypeError, ValueError) as error:
        raise SettingError(setting, f"{path!r} must accept the keyword arguments {', '.join(arguments)}: {error}") from error
    return found


def _import(setting: str, path: str, name: str) -> ModuleType:
    """Import the module `name` of an import path. Raises SettingError."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SettingError(setting, f"{path!r}: importing {name} failed: {error}") from error
        raise SettingError(setting, f"{path!r}: there is no module {error.name}; it must be in the current folder, in "
                                    "a folder of PYTHONPATH, or installed") from error
    except Exception as error:  # any error of the user's code
        raise SettingError(setting, f"{path!r}: importing {name} raised {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def user_errors(setting: str, path: str, doing: str) -> Iterator[None]:
    """Turn errors of the user's code into a SettingError that names the innermost line of the user's file.

    doing: the failed action, such as "being called with a tensor of shape (2, 6)".
    """
    try:
        yield
    except TrainerError:
        raise
    except Exception as error:
        file = _file(path.partition(":")[0])
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f" ({file}, line {lines[-1]})" if lines else ""
        raise SettingError(setting, f"{path!r}: {doing} raised {type(error).__name__}: {error}{place}") from error


def describe(value: Any) -> str:
    """A value and its type, for error messages."""
    return "None" if value is None else f"the {type(value).__name__} {value!r}"


def _file(module: str) -> str | None:
    """The file of an imported module."""
    return getattr(sys.modules[module], "__file__", None)
