"""metrics.jsonl: one JSON object for each iteration. Each is written without a buffer, so it survives a kill, and is complete
or not there: a disk that is full for a while costs the training, and no entry of it."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envs_c.files import Appended, write_atomically
from envs_c.numbers import is_stored
from trainer.errors import RunError
from trainer.files import open_file, writing
from trainer.runs.folder import steps_saved

METRICS = "metrics.jsonl"
ADVICE = "make room, let your user write there, and go on from the last checkpoint with --resume"
_LONGEST_LINE = 1 << 20       # bytes; a longer line is damaged


class MetricsFile:
    """metrics.jsonl of a run's folder, open for appending.

    resume_step: the step of the checkpoint to resume from; `cut` removes later and damaged entries. None for a new run.
    `kept` has the remaining entries. Until `cut` the file stays as it was, and new entries are held in memory.
    """

    def __init__(self, folder: Path, resume_step: int | None) -> None:
        entries = read_metrics(folder) if resume_step is not None else []
        self.kept = [entry for entry in entries if entry["step"] <= resume_step]
        self._later_saved = resume_step is not None and max(steps_saved(folder), default=0) > resume_step
        self._held: list[bytes] | None = []  # lines; None after `cut`
        self._path = folder / METRICS
        with writing(self._path, ADVICE):
            self._file = Appended(self._path)

    def begin(self) -> None:
        """`cut`, unless the folder has checkpoints of later steps: these and their entries stay until the next save."""
        if not self._later_saved:
            self.cut()

    def cut(self) -> None:
        """Remove the later and damaged entries, once, and write those that were held. Raises as `append`."""
        self.require_in_place()
        if self._held is None:
            return
        with writing(self._path, ADVICE):
            self._file.close()  # Windows replaces no open file
            write_atomically(self._path, [*map(_line, self.kept), *self._held])
            self._file = Appended(self._path)
        self._held = None

    def append(self, entry: dict[str, Any]) -> None:
        """Write an entry. Raises as `require_in_place`, and FileError if it cannot be written; then nothing of it is there."""
        self.require_in_place()
        if self._held is not None:
            self._held.append(_line(entry))
            return
        with writing(self._path, ADVICE):
            self._file.append(_line(entry))

    def require_in_place(self) -> None:
        """Raises RunError if the folder was removed, moved or replaced: then it no longer holds the open file."""
        try:
            in_place = os.path.samestat(self._file.status(), self._path.stat())
        except (FileNotFoundError, NotADirectoryError):
            in_place = False
        if not in_place:
            raise RunError(f"{self._path.parent} was removed, moved or replaced during the training, or its {METRICS} was; the "
                           "training ends: resume it from its last checkpoint if the folder still exists elsewhere")

    def close(self) -> None:
        self._file.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The entries of metrics.jsonl; [] without a file. Lines damaged by a kill or a power cut are left out.

    Raises RunError if the file cannot be read, or if another program wrote it.
    """
    path = folder / METRICS
    try:
        with open_file(path) as file:
            lines = list(iter(lambda: file.readline(_LONGEST_LINE), b""))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; move it away, and the curves begin again") from None
    entries = entries_of(lines)
    torn = lines and lines[0].startswith(b"{") and not lines[0].endswith(b"\n")  # by a kill during the first iteration
    if lines and not entries and not torn:
        raise RunError(f"{path} is damaged, or was written by another program; move it away")
    return entries


def entries_of(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The entries in lines of metrics.jsonl; damaged lines are left out."""
    entries = []
    for line in lines:
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and _is_valid(entry):
            entries.append(entry)
    return entries


def _is_valid(entry: dict[str, Any]) -> bool:
    """True if an entry has a step, its seconds, and only numbers that can be computed with."""
    step, seconds = entry.get("step"), entry.get("seconds")
    return (type(step) is int and 0 <= step < 2**63 and is_stored(seconds) and seconds >= 0
            and all(value is None or is_stored(value) for value in entry.values()))


def finite(value: Any) -> float | None:
    """A number as a float; None for None, for NaN and infinities, which JSON does not have, and for one above LARGEST."""
    if value is None:
        return None
    value = float(value)
    return value if is_stored(value) else None


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, allow_nan=False).encode() + b"\n"
