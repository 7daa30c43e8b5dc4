"""Atomic files: a killed process leaves either the old or the new content."""

import os
import re
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write `chunks` to a temporary file beside `path`, sync it to the disk and rename it to `path`.

    A kill leaves the old file or the new one, and at worst a temporary file, `.NAME.PID.tmp`; see `remove_leftovers`. After
    an OSError there is no temporary file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk: only then does a new name survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove the temporary files that killed processes left beside the files called `name`.

    name: a regular expression; only the caller writes files of this name, so no living process is writing one of them.
    """
    named = re.compile(rf"\.(?:{name})\.\d+\.tmp")
    for path in folder.iterdir():
        if named.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)
