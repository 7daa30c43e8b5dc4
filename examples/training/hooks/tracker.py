"""A tracker of your own: it receives the metrics of a run.

    insertcoin cartpole --track examples.training.hooks.tracker:Csv
"""

import csv
from pathlib import Path
from typing import Any

COLUMNS: list[str] = ["step", "score_mean", "loss_policy", "loss_value", "entropy"]


class Csv:
    """Writes some of the metrics to metrics.csv in the run's folder."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume_step: int | None) -> None:
        self._file = (folder / "metrics.csv").open("w" if resume_step is None else "a", newline="", encoding="utf-8")
        self._rows = csv.DictWriter(self._file, COLUMNS, extrasaction="ignore")
        if resume_step is None:
            self._rows.writeheader()

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        """Write a row."""
        self._rows.writerow({"step": step, **metrics})

    def close(self) -> None:
        """End the session."""
        self._file.close()
