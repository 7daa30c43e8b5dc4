"""metrics.jsonl: one JSON object for each iteration. Each is written without a buffer, so it survives a kill."""

import json
import math
import os
from pathlib import Path
from typing import Any

from trainer.errors import RunError
from trainer.files import write_atomically

METRICS = "metrics.jsonl"


class MetricsFile:
    """metrics.jsonl of a run's folder, open for appending.

    resume_step: the step of the checkpoint to resume from; later and damaged entries are removed. None for a new run.
    `kept` has the remaining entries.
    """

    def __init__(self, folder: Path, resume_step: int | None) -> None:
        entries = read_metrics(folder) if resume_step is not None else []
        self.kept = [entry for entry in entries if isinstance(entry["seconds"], int | float)
                     and isinstance(entry["step"], int) and entry["step"] <= resume_step]
        path = folder / METRICS
        write_atomically(path, [_line(entry) for entry in self.kept])
        self._path, self._file = path, path.open("ab", buffering=0)

    def append(self, entry: dict[str, Any]) -> None:
        """Write an entry. Raises as `require_in_place`."""
        self.require_in_place()
        self._file.write(_line(entry))

    def require_in_place(self) -> None:
        """Raises RunError if the folder was removed, moved or replaced: then it no longer holds the open file."""
        try:
            in_place = os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except (FileNotFoundError, NotADirectoryError):
            in_place = False
        if not in_place:
            raise RunError(f"{self._path.parent} was removed, moved or replaced during the training, or its {METRICS} was; the "
                           "training ends: go on by --resume from the last checkpoint if the folder still exists elsewhere")

    def close(self) -> None:
        self._file.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The entries of metrics.jsonl; [] without a file. Lines damaged by a kill or a power cut are left out."""
    path, entries = folder / METRICS, []
    if not path.exists():
        return entries
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if line.endswith(b"\n") and isinstance(entry, dict) and {"step", "seconds"} <= entry.keys():
            entries.append(entry)
    return entries


def finite(value: Any) -> float | None:
    """A number as a float; None for None, and for NaN and infinities, which JSON does not have."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, allow_nan=False).encode() + b"\n"
