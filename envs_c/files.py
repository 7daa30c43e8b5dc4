"""Writing files: whole or not at all, checked, and never through a link that somebody else has put there."""

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

# No link is followed, and a pipe does not wait for its reader. Windows has neither.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NOT_SYNCED = (errno.EBADF, errno.EINVAL, errno.ENOTSUP)  # the errors of file systems that sync no folders
_RANDOM = 8  # bytes of a temporary file's name: processes of two machines may have one number


def user_folder(of: Callable[..., str], name: str) -> Path:
    """A folder of the user's for this program's files, such as ~/.cache/NAME. Raises FileNotFoundError if the user has no home.

    of: a function of platformdirs, such as user_cache_dir.
    """
    folder = Path("~")
    with contextlib.suppress(RuntimeError):  # of newer versions of platformdirs; older ones leave the ~
        folder = Path(of(name, appauthor=False))
    if folder.parts[0].startswith("~"):
        raise FileNotFoundError(errno.ENOENT, "HOME is not set, and the user has no home", name)
    return folder


def write_atomically(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write `chunks` to a temporary file beside `path`, sync it to the disk and rename it to `path`.

    A link at `path` is replaced, and not followed. A kill leaves the old file or the new one, and at worst a temporary file,
    `.NAME.RANDOM.tmp`; see `remove_leftovers`. After an error there is no temporary file. Raises OSError that names `path`.
    """
    write_together({path: chunks})


def write_together(files: Mapping[Path, Iterable[bytes | memoryview]]) -> None:
    """Write several files as `write_atomically` writes one: all are on the disk before the first is renamed.

    An error before that, such as a full disk, leaves every old file. Raises OSError that names the file.
    """
    temporary = {path: path.with_name(f".{path.name}.{secrets.token_hex(_RANDOM)}.tmp") for path in files}
    try:
        for path, chunks in files.items():
            with naming(path), _open(temporary[path], os.O_WRONLY | os.O_CREAT | os.O_EXCL, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        for path in files:
            with naming(path):
                os.replace(temporary[path], path)
    finally:
        for path in files:
            with contextlib.suppress(OSError):  # it was renamed, or the error above kept it from being made
                temporary[path].unlink()
    for folder in {path.parent for path in files}:
        sync_folder(folder)


def replace(made: Path, path: Path) -> None:
    """Sync a file that another program has made, and rename it to `path`: a power cut leaves it whole or not at all."""
    with made.open("r+b") as file:  # Windows syncs only what is open for writing
        os.fsync(file.fileno())
    os.replace(made, path)
    sync_folder(path.parent)


def open_new(path: Path) -> BinaryIO:
    """A new file, open for writing without a buffer. A file or a link that is there is removed first. Raises OSError."""
    path.unlink(missing_ok=True)
    return _open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "wb", buffering=0)


class Appended:
    """A file to which records are appended, each complete or not at all.

    path: of a regular file, or of one that is made; OSError for a link, a pipe and a device.
    mode: of a file that is made.
    """

    def __init__(self, path: Path, mode: int = 0o666):
        self.path = path
        self._file = _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, "ab", buffering=0, mode=mode)
        if not stat.S_ISREG(self.status().st_mode):
            self.close()
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))

    def append(self, data: bytes) -> None:
        """Write `data` at the end. After an OSError, which names the file, nothing of it is there."""
        size = self.status().st_size
        with naming(self.path):
            try:
                left = memoryview(data)
                while left:  # a disk that fills up takes a part, and refuses the rest
                    left = left[self._file.write(left):]
            except OSError:
                with contextlib.suppress(OSError):
                    os.truncate(self._file.fileno(), size)
                raise

    def status(self) -> os.stat_result:
        """What the system knows of the open file."""
        return os.fstat(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk: only then does a new name survive a power cut.

    Does nothing on Windows, which opens no folder, and on file systems that sync none, as those of some networks.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove the temporary files that killed processes left beside the files called `name`.

    name: a regular expression; only the caller writes files of this name, so no living process is writing one of them.
    """
    named = re.compile(rf"\.(?:{name})\.[0-9a-f]+\.tmp")
    for path in folder.iterdir():
        if named.fullmatch(path.name) and (path.is_symlink() or path.is_file()):
            path.unlink(missing_ok=True)


def _open(path: Path, flags: int, mode_of_file: str, *, buffering: int = -1, mode: int = 0o666) -> BinaryIO:
    """Open a file; a link in its place is an OSError."""
    return open(path, mode_of_file, buffering,
                opener=lambda name, _: os.open(name, flags | _FLAGS, mode))


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in an OSError: those of a write have no name, and those of a temporary file have another."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
