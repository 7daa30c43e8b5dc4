"""Files: paths given by the user, checked reading, and the errors of writing; envs_c/files.py writes.

A file may be damaged, of another program, or made to do harm: reading parses text and copies bytes, and never runs code.
"""

import contextlib
import errno
import json
import os
import stat
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from envs_c.text import shown
from trainer.errors import ConfigError, FileError, SettingError

LARGEST_JSON, LARGEST_TOML = 64 << 20, 1 << 20  # bytes
_LONGEST_NAME, _LONGEST_PATH = 255, 4095        # bytes, of Linux
_DEEP = "nested too deeply"


def user_path(text: str) -> Path:
    """A path as the user wrote it, with ~ replaced. Raises FileError if no file can have this path."""
    require_text(text)
    try:
        path = Path(text).expanduser()
        names = [os.fsencode(part) for part in path.parts]
    except RuntimeError:
        raise FileError(f"the path {shown(text)} begins with the home folder of an unknown user") from None
    if "\0" in text:
        raise FileError(f"the path {shown(text)} must not contain the character NUL")
    if max(map(len, names), default=0) > _LONGEST_NAME or len(os.fsencode(path)) > _LONGEST_PATH:
        raise FileError(f"the path {shown(text)} is too long")
    return path


def require_text(path: str) -> None:
    """Raises FileError if a path cannot be in this locale's encoding, or not in UTF-8."""
    try:
        os.fsencode(path)
        path.encode()
    except UnicodeEncodeError:
        if sys.getfilesystemencoding() != "utf-8":
            raise FileError(f"the path {shown(path)} must be in {sys.getfilesystemencoding()}, the encoding of this locale: "
                            "set PYTHONUTF8=1") from None
        raise FileError(f"the path {shown(path)} must be in UTF-8") from None


def is_file(path: Path) -> bool:
    """True if `path` is a file. Raises FileError if this cannot be known, such as in a folder without permission."""
    try:
        return path.is_file()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None


def read_file(path: Path, largest: int) -> bytes:
    """The content of a regular file of at most `largest` bytes. Raises OSError, also for a larger file, and as `open_file`."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise OSError(errno.EFBIG, f"it has {size:,} bytes, and at most {largest:,} are read", str(path))
        return file.read()


def open_file(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading.

    follow: False to refuse a link.
    Raises OSError, also for a folder, and for a pipe or a device, which may have no end.
    """
    flags = os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)  # a pipe does not wait for its writer
    file = open(path, "rb", opener=lambda name, given: os.open(name, given | flags))  # noqa: SIM115, returned open
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises OSError as `read_file`, and ValueError if it is not JSON or nested too deeply."""
    try:
        return json.loads(read_file(path, LARGEST_JSON))
    except RecursionError:
        raise ValueError(_DEEP) from None


def read_toml(path: Path, label: str) -> dict[str, Any]:
    """The content of a TOML file of settings. Raises ConfigError that names it by `label`."""
    try:
        return tomllib.loads(read_file(path, LARGEST_TOML).decode("utf-8-sig"))  # some editors write a mark before the text
    except OSError as error:
        raise ConfigError(f"cannot read {label}: {error.strerror}") from None
    except RecursionError:
        raise ConfigError(f"{label}: {_DEEP}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{label}: must be a text in UTF-8, and its byte {error.start:,} is not") from None
    except ValueError as error:
        raise ConfigError(f"{label}: {error}") from None


def may_write(folder: Path) -> bool:
    """True if this user may make files in a folder. A disk may still be full."""
    return os.access(folder, os.W_OK | os.X_OK)


def require_folder(option: str, file: str | Path) -> None:
    """Raise SettingError if the folder of an output file does not exist or may not be written, or if the file is a folder
    or a link."""
    folder = Path(file).parent
    if not folder.is_dir():
        raise SettingError(option, f"must be in a folder that exists, not {str(folder)!r}: make it first")
    if not may_write(folder):
        raise SettingError(option, f"must be in a folder that you may write to, not {str(folder)!r}: name another")
    if Path(file).is_dir():
        raise SettingError(option, f"must be a file, not the folder {str(file)!r}: name a file in it, or another")
    if Path(file).is_symlink():
        raise SettingError(option, f"must be a file, not the link {str(file)!r}, which would be replaced: name the file to "
                                   "which it points, or another")


@contextlib.contextmanager
def writing(path: str | Path, advice: str) -> Iterator[None]:
    """Turn an OSError into a FileError: "cannot write PATH: REASON; ADVICE". It names the file if PATH is its folder."""
    try:
        yield
    except OSError as error:
        inside = isinstance(error.filename, str) and Path(error.filename).parent == Path(path)
        raise FileError(f"cannot write {error.filename if inside else path}: {error.strerror or error}; {advice}") from None
