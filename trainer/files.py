"""Files that are either wholly there or not there at all, whenever the process is killed."""

import os
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write `chunks` to a temporary file beside `path`, onto the disk, then give it that name.

    A kill at any moment leaves the old file or the new one, at worst with a temporary file that `remove_leftovers`
    clears. Raises OSError, with nothing left behind.
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
    """Put a folder's entries onto the disk: a new name survives a power cut only after this."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of runs that were killed while writing."""
    for leftover in folder.glob(".*.tmp"):
        leftover.unlink(missing_ok=True)
