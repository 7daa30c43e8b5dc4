"""What earlier builds left behind that a new one must not take: C files that were cut short, modules without sources.

Standard library only; setup.py calls it.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def translation(folder: Path) -> Iterator[None]:
    """Around a translation by Cython into `folder`. If the one before it did not end, its files are removed first.

    A file that was cut short is newer than its source, so Cython and the compiler would take it. A marker beside `folder` stays
    if the process is interrupted or killed; SystemExit, an error in a source, is an end: all files that are there are whole.
    """
    marker = folder.with_name(f"{folder.name}.unfinished")
    if marker.exists():
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    try:
        yield
    except SystemExit:
        marker.unlink()
        raise
    marker.unlink()


def remove_orphans(built: Path, variants: tuple[str, ...]) -> None:
    """Remove from the folder of a wheel's contents each file whose source is gone; setuptools would pack it.

    built: the folder with the packages, beside whose sources this process runs.
    variants: names of folders that the sources do not have.
    """
    for file in [file for file in built.rglob("*") if file.is_file()]:
        source = Path(*(part for part in file.relative_to(built).parts if part not in variants))
        if file.suffix in (".so", ".pyd"):
            source = source.with_name(f"{source.name.partition('.')[0]}.pyx")
        if not source.exists():
            file.unlink()
