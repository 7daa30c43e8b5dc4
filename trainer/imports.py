"""Classes and functions of the user's own, given in a setting by import path: "package.module:Name".

`located` finds the files of a module without running any of them; in `watched` each file of such modules is checked, by its
contents, before it runs.
"""

import contextlib
import csv
import functools
import hashlib
import importlib
import importlib.util
import inspect
import operator
import os
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from bridge.errors import raised
from trainer.errors import SettingError, TrainerError

OWN_PACKAGES = ("envs_c", "bridge", "trainer", "insertcoin")


def find(setting: str, path: str, arguments: tuple[str, ...], positional: int = 0) -> Callable[..., Any]:
    """Import the class or function of an import path.

    setting: name of the setting, for error messages.
    path: "package.module:Name".
    arguments: names of the caller's keyword arguments.
    positional: number of the caller's arguments before them.

    Raises SettingError if the module cannot be imported, has no such name, or the object does not accept the arguments.
    """
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        raise SettingError(setting, "must be named by its module and its class or function, such as my_package.my_module:Small"
                                    f", not {path!r}")
    module = load(setting, path, name)
    try:
        found = operator.attrgetter(attribute)(module)
    except AttributeError as error:
        raise SettingError(setting, f"{path!r}: {_file(name) or name} has no {attribute}") from error
    if not callable(found):
        raise SettingError(setting, f"{path!r} must be a class or a function, not {describe(found)}")
    try:
        inspect.signature(found).bind(*[None] * positional, **dict.fromkeys(arguments))
    except (TypeError, ValueError) as error:
        if positional:
            raise SettingError(setting, f"{path!r} must accept {positional} argument: {error}") from error
        raise SettingError(setting, f"{path!r} must accept the keyword arguments {', '.join(arguments)}: {error}") from error
    return found


def load(setting: str, path: str, name: str) -> ModuleType:
    """Import the module `name` of an import path. Raises SettingError."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SettingError(setting, f"{path!r}: importing {name} failed: {error}") from error
        raise not_found(setting, path, error.name) from error
    except TrainerError:  # of `watched`
        raise
    except (Exception, SystemExit) as error:  # any error of the user's code
        raise SettingError(setting, f"{path!r}: importing {name} {raised(error)}") from error


def not_found(setting: str, path: str, module: str) -> SettingError:
    """The error about a module that does not exist."""
    return SettingError(setting, f"{path!r}: there is no module {module}; it must be in the current folder, in a folder of "
                                 "PYTHONPATH, or installed")


@contextlib.contextmanager
def user_errors(setting: str, path: str, doing: str, file: str | None = None) -> Iterator[None]:
    """Turn errors of the user's code into a SettingError that names the innermost line of the user's file.

    doing: the failed action, such as "being called with a tensor of shape (2, 6)".
    file: the user's file; None for that of the module in `path`.
    """
    try:
        yield
    except TrainerError:
        raise
    except (Exception, SystemExit) as error:
        place = line_of(error, file or _file(path.partition(":")[0]))
        raise SettingError(setting, f"{path!r}: {doing} {raised(error)}{place}") from error


def line_of(error: BaseException, file: str | None) -> str:
    """The innermost line of a file that an error passed, such as " (my_file.py, line 3)"; "" if it passed none."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({file}, line {lines[-1]})" if lines else ""


def describe(value: Any) -> str:
    """A value and its type, for error messages."""
    return "None" if value is None else f"the {type(value).__name__} {value!r}"


def _file(module: str) -> str | None:
    """The file of an imported module."""
    return getattr(sys.modules[module], "__file__", None)


def located(name: str) -> list[ModuleSpec]:
    """The specs of the packages of a module and of the module itself, which run in this order if it is imported.

    Nothing is imported. Raises ModuleNotFoundError.
    """
    importlib.invalidate_caches()
    specs, path, parts = [], None, name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        try:
            spec = _search(part, path)
        except KeyError:  # of importlib: a folder without __init__.py in a package that is not imported
            spec = _namespace(part, path)
        if spec is None:
            raise ModuleNotFoundError(f"there is no module {part}", name=part)
        specs.append(spec)
        path = spec.submodule_search_locations or ()
    return specs


def _namespace(name: str, path: Sequence[str] | None) -> ModuleSpec:
    """The spec of a package without a file. path: the folders of the package that holds it."""
    folders = (Path(place, name.rpartition(".")[2]) for place in path or ())
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder) for folder in folders if folder.is_dir()]
    return spec


def has_package(name: str) -> bool:
    """True if a package can be imported. A mere folder of its name, such as the wandb/ that wandb writes, is none."""
    spec = importlib.util.find_spec(name)
    return spec is not None and (spec.origin is not None or spec.submodule_search_locations is None)


def digest_of(spec: ModuleSpec) -> str | None:
    """The SHA-256 of a module's file; None without one, as for a namespace, a built-in module or one in a .zip."""
    file = _file_of(spec)
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def runs_code(spec: ModuleSpec) -> bool:
    """False for a package without a file."""
    return spec.loader is not None and (spec.has_location or spec.submodule_search_locations is None)


def is_installed(spec: ModuleSpec) -> bool:
    """True for a module in a folder of installed packages, in Python's own, or in our packages, and for one that was installed
    into a folder of PYTHONPATH (`pip install --target`, as on clusters)."""
    folders = [*(Path(__file__).parents[1] / name for name in OWN_PACKAGES), *site.getsitepackages(),
               site.getusersitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))]
    file = _file_of(spec)
    return file is not None and (any(file.resolve().is_relative_to(Path(folder).resolve()) for folder in folders)
                                 or any(file.resolve() in _recorded(folder) for folder in _named_folders()))


def _named_folders() -> list[Path]:
    """The folders that PYTHONPATH names by absolute paths, without the working folder, which may be a stranger's."""
    named = [Path(name).resolve() for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(name).is_absolute()]
    return [folder for folder in named if folder != Path.cwd()]


@functools.cache
def _recorded(folder: Path) -> frozenset[Path]:
    """The Python files of the packages that pip has installed into a folder, by their RECORDs."""
    found = set()
    for record in folder.glob("*.dist-info/RECORD"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            names = [row[0] for row in csv.reader(record.read_text(encoding="utf-8").splitlines()) if row]
            found.update(folder / name for name in names if name.endswith(".py"))
    return frozenset(found)


@contextlib.contextmanager
def watched(names: Sequence[str], check: Callable[[str, str | None], None], files: Sequence[str] = ()) -> Iterator[None]:
    """Check each file that runs because of the modules `names`, unless it is installed: they, their packages, and other modules
    found in the same folders, or in those of `files`.

    check: called with the file and its SHA-256 (None if it is no plain file) before it runs; raises to refuse it. A Python file
        then runs from the bytes that were hashed: neither the file nor its __pycache__ is read again.
    """
    folders = [Path(file).resolve().parent for file in files]
    for name in names:
        top = located(name)[0]
        places = top.submodule_search_locations or ([top.origin] if top.has_location else [])
        folders += [Path(place).resolve().parent for place in places]
    watch = _Watch({name.partition(".")[0] for name in names}, folders, check)
    sys.meta_path.insert(0, watch)
    try:
        yield
    finally:
        sys.meta_path.remove(watch)


class _Watch(MetaPathFinder):
    """The finder of `watched`. names: of top-level modules and packages."""

    def __init__(self, names: set[str], folders: list[Path], check: Callable[[str, str | None], None]):
        self.names, self.folders, self.check = names, folders, check

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        spec = _search(fullname, path)
        if spec is None or not spec.has_location or not self._covers(spec) or is_installed(spec):
            return None
        data = None if (file := _file_of(spec)) is None else file.read_bytes()
        self.check(spec.origin, None if data is None else hashlib.sha256(data).hexdigest())
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = _FromBytes(fullname, spec.origin, data)
        return spec

    def _covers(self, spec: ModuleSpec) -> bool:
        place = Path(spec.origin).resolve()
        return spec.name.partition(".")[0] in self.names or any(place.is_relative_to(folder) for folder in self.folders)


class _FromBytes(SourceFileLoader):
    """Loads a module from the bytes of its source."""

    def __init__(self, fullname: str, path: str, data: bytes):
        super().__init__(fullname, path)
        self.data = data

    def get_code(self, fullname):
        return self.source_to_code(self.data, self.path)


def _search(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """The spec of a module; path: the folders of its package. Nothing is imported."""
    if spec := getattr(sys.modules.get(name), "__spec__", None):
        return spec
    found = (finder.find_spec(name, path) for finder in sys.meta_path if not isinstance(finder, _Watch))
    return next((spec for spec in found if spec is not None), None)


def _file_of(spec: ModuleSpec) -> Path | None:
    return Path(spec.origin) if spec.has_location and spec.origin and Path(spec.origin).is_file() else None
