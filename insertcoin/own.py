"""Imports `envs_c`, `bridge` and `trainer` from the folder that holds `insertcoin`.

Python looks for a package in the working folder, the script's folder and PYTHONPATH first. A file trainer.py of the user's
there would be imported in the package's place. After `bind("trainer")` the name belongs to our package, also for the imports
inside it. Until then the user's file can be imported, and then `bind` raises an error.

Standard library only, no imports from this package, syntax of any Python 3: trainer/__main__.py loads this file by its path.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

FOLDER = Path(__file__).absolute().parents[1]


class _Beside:
    """A finder of top-level packages: those of these names in `FOLDER`."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of the package `name`; None for another module."""
        return PathFinder.find_spec(name, [str(FOLDER)]) if name in self.names else None


def bind(*names: str) -> None:
    """Import packages of ours by name, whatever else has this name on sys.path.

    Raises ImportError if another module of one of these names is imported already.
    """
    finder = _Beside(names)
    sys.meta_path.insert(0, finder)
    try:
        for name in names:
            _check(name, import_module(name).__file__)
    finally:
        sys.meta_path.remove(finder)


def _check(name: str, file: str | None) -> None:
    if file is None or Path(file).parent.resolve() != (FOLDER / name).resolve():
        raise ImportError(f"insertcoin needs its own package {name}, but the name is taken by {file or 'a folder'}, which was "
                          "imported before: rename that file", name=name)
