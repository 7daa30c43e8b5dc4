"""`python -m envs_c new NAME`: write a small game that compiles, plays and keeps the contract, as a start for another one."""

import importlib.metadata
import keyword
import shutil
import sys
from pathlib import Path
from string import Template

from gymnasium.envs.registration import registry

from envs_c import catalog
from envs_c.errors import InvalidArgument
from envs_c.files import write_atomically
from envs_c.outside import expanded

TEMPLATES = Path(__file__).parent / "template"
FILES = {"game.pyx.txt": "{name}.pyx", "game.toml.txt": "{name}.toml", "test_game.py.txt": "test_{name}.py",
         "setup.py.txt": "setup.py"}


def new(name: str, folder: str | Path = ".") -> Path:
    """Write a new game.

    name: its name: lower-case letters, digits and _.
    folder: the folder to make a folder `name` in.

    Returns the new folder. Raises InvalidArgument, and writes nothing, if the name is not allowed or taken, or if the folder
    exists.
    """
    if not (name.isidentifier() and name.islower() and name.isascii()):
        raise InvalidArgument(f"a game's name must be lower-case letters, digits and _, as in my_game, not {name!r}")
    if name in catalog.games() or name in ("envs_c", "bridge", "trainer"):
        raise InvalidArgument(f"the name {name!r} is taken; choose a name other than {', '.join(catalog.games())}")
    fault = unusable(name)
    if fault:
        raise InvalidArgument(f"a game's name must be no name that Python knows, but {name!r} is {fault}; choose another name")
    title = "".join(part.capitalize() for part in name.split("_"))
    if f"Arcade/{title}-v0" in registry:
        raise InvalidArgument(f"the name {name!r} gives the title {title!r}, which another game has; choose another name")
    target = expanded(folder) / name
    if target.exists():
        raise InvalidArgument(f"{target} exists already; choose another name or --dir, or remove it")
    words = {"name": name, "Title": title}
    texts = {file.format(name=name): Template((TEMPLATES / source).read_text(encoding="utf-8")).substitute(words)
             for source, file in FILES.items()}
    target.mkdir(parents=True)
    try:
        for file, text in texts.items():
            write_atomically(target / file, [text.encode()])
    except BaseException:  # such as a full disk, or Ctrl-C: the same command works later
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def unusable(name: str) -> str:
    """What a name is to Python, if a module and a package of this name would hide it or could not be imported; else ""."""
    if keyword.iskeyword(name):
        return "a keyword of Python"
    if name in sys.stdlib_module_names:
        return "a module of Python's library"
    if name in importlib.metadata.packages_distributions():
        return "an installed package"
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "an installed package"
