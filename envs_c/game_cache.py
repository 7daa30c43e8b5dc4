"""The cache of compiled games: a folder in which only this user may write.

`python -m envs_c cache` prints where it is and how large; `--clear` empties it.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from envs_c.errors import InvalidArgument
from envs_c.files import user_folder

HASH = 20           # hexadecimal digits: the name of a folder of the cache, which holds one compiled game
SCRATCH = "build-"  # prefix of folders of the cache in which a game is being compiled
OTHERS = stat.S_IWGRP | stat.S_IWOTH  # write permissions of all users but the owner
ANOTHER = "let ENVS_C_CACHE name another folder"  # advice


def folder() -> Path:
    """The folder of compiled games: ENVS_C_CACHE, or envs_c in the user's cache folder (~/.cache on Linux).

    Raises InvalidArgument if neither is known.
    """
    if named := os.environ.get("ENVS_C_CACHE"):
        return Path(named)
    try:
        return user_folder(platformdirs.user_cache_dir, "envs_c")
    except FileNotFoundError as error:
        raise InvalidArgument(f"the cache of compiled games has no place: {error.strerror}; {ANOTHER}") from None


def size() -> int:
    """Size of the cache in bytes. Files that another process removes meanwhile are passed over."""
    total = 0
    for parent, _, names in os.walk(folder()):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_size
    return total


def clear() -> None:
    """Remove all compiled games. Games in use keep working."""
    for entry in folder().iterdir() if folder().is_dir() else ():
        if entry.is_dir() and (is_entry(entry.name) or entry.name.startswith(SCRATCH)):
            with contextlib.suppress(FileNotFoundError):  # another process removes it too
                shutil.rmtree(entry)


def is_entry(name: str) -> bool:
    """True if a folder of this name in the cache holds a compiled game."""
    return len(name) == HASH and set(name) <= set("0123456789abcdef")


@contextlib.contextmanager
def scratch_in(parent: Path) -> Iterator[Path]:
    """A new folder of the cache, in which something is compiled; it is removed afterwards. Raises InvalidArgument."""
    try:
        folder = tempfile.TemporaryDirectory(dir=parent, prefix=SCRATCH)
    except OSError as error:
        raise InvalidArgument(f"the cache of compiled games, {parent}, cannot be written to: {error.strerror}; {ANOTHER}"
                              ) from None
    with folder as name:
        yield Path(name)


def make_private(path: Path) -> None:
    """Make `path`, which only this user may write, or check that it is one. Raises InvalidArgument."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InvalidArgument(f"the cache of compiled games, {path}, cannot be made: {error.strerror}; {ANOTHER}"
                              ) from None
    check_private(path.resolve(), stat.S_ISDIR)


def check_private(path: Path, kind) -> None:
    """Raise InvalidArgument unless `path` belongs to this user, others cannot write to it, and it is no link.

    kind: stat.S_ISDIR or stat.S_ISREG.
    """
    if fault := fault_of(path, kind):
        raise InvalidArgument(f"the cache of compiled games must be yours, and only you may write to it, but {path} {fault}: "
                              "remove it, or let ENVS_C_CACHE name a folder of mode 700")


def fault_of(path: Path, kind) -> str:
    """The reason why others could change `path`, such as "belongs to user 0"; "" without one. kind: as in `check_private`."""
    facts = path.lstat()
    return ("is a link, or no folder or file as expected" if not kind(facts.st_mode) else
            "" if not hasattr(os, "geteuid") else  # Windows has other permissions
            f"belongs to user {facts.st_uid}" if facts.st_uid != os.geteuid() else
            f"has the mode {stat.S_IMODE(facts.st_mode):o}" if facts.st_mode & OTHERS else "")
