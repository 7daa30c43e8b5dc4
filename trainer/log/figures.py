"""The figures that a person watches while a run goes on: smoothed over the last seconds, and as short texts."""

import itertools
import math
from collections.abc import Sequence

STAGES = {"time_env": "environments", "time_copy": "copy", "time_forward": "forward", "time_sample": "sample",
          "time_learn": "learn", "time_other": "other"}
_MEMORY = 10.0  # seconds after which an iteration counts for 1/e in the speed and the stages' shares
_HISTORY = 256  # points of the score's history


class Figures:
    """What the iterations so far amount to.

    start_step: where this session started; goal: the step where it ends.
    """

    def __init__(self, start_step: int, goal: int) -> None:
        self.step = start_step
        self.goal = goal
        self.last: dict[str, float | None] = {}  # the newest value of each metric, that of a score while there is none
        self.history = History()
        self._steps = self._seconds = 0.0
        self._stages = dict.fromkeys(STAGES, 0.0)

    def update(self, step: int, seconds: float, metrics: dict[str, float | None]) -> None:
        """Take in an iteration that ended at `step` and took `seconds`."""
        fade = math.exp(-seconds / _MEMORY)
        self._steps = self._steps * fade + step - self.step
        self._seconds = self._seconds * fade + seconds
        for stage in STAGES:
            self._stages[stage] = self._stages[stage] * fade + (metrics.get(stage) or 0.0)
        self.step = step
        self.last.update({key: value for key, value in metrics.items() if value is not None or key not in self.last})
        self.history.add(metrics.get("score_mean"))

    @property
    def sps(self) -> float:
        """Steps a second of late."""
        return self._steps / self._seconds if self._seconds > 0 else 0.0

    @property
    def done(self) -> float:
        """The part of the way to the goal that is behind, 0 to 1."""
        return min(self.step / self.goal, 1.0)

    @property
    def seconds_left(self) -> float | None:
        """None while the speed is not known."""
        return max(self.goal - self.step, 0) / self.sps if self.sps > 0 else None

    @property
    def shares(self) -> dict[str, float]:
        """The part of the time that each stage took of late, 0 to 1, by the stage's name."""
        total = sum(self._stages.values())
        return {name: self._stages[stage] / total if total > 0 else 0.0 for stage, name in STAGES.items()}


class History:
    """A curve of any length kept as at most 256 points: when full, neighbours are averaged."""

    def __init__(self) -> None:
        self.points: list[float] = []
        self._stride, self._pending = 1, []

    def add(self, value: float | None) -> None:
        if value is None:
            return
        self._pending.append(value)
        if len(self._pending) < self._stride:
            return
        self.points.append(sum(self._pending) / self._stride)
        self._pending.clear()
        if len(self.points) == _HISTORY:
            self.points = _averaged(self.points, _HISTORY // 2)
            self._stride *= 2


def sparkline(points: Sequence[float], width: int, glyphs: str = "▁▂▃▄▅▆▇█") -> str:
    """A curve in `width` characters at most, from its lowest to its highest point."""
    points = _averaged(points, min(width, len(points)))
    if not points:
        return ""
    low, high = min(points), max(points)
    scale = (len(glyphs) - 1) / (high - low) if high > low else 0.0
    return "".join(glyphs[round((point - low) * scale)] for point in points)


def number(value: float | None) -> str:
    """A figure in four digits or so: 123.4, -0.01235, 1.2e-07; - for None."""
    return "-" if value is None else f"{value:.4g}"


def count(value: float) -> str:
    """A count in three digits: 950, 231K, 1.31M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if value >= 0.9995 * size:
            digits = value / size
            return f"{digits:.{2 if digits < 9.995 else 1 if digits < 99.95 else 0}f}{unit}"
    return f"{value:.0f}"


def duration(seconds: float | None) -> str:
    """12s, 3m12s, 1h04m, 2d03h; - for None."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    for unit, size, below, small in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // small:02d}{below}"
    return f"{whole}s"


def _averaged(points: Sequence[float], groups: int) -> list[float]:
    """`points` in `groups` runs of neighbours, each averaged."""
    bounds = [index * len(points) // groups for index in range(groups + 1)] if groups else [0]
    return [sum(points[low:high]) / (high - low) for low, high in itertools.pairwise(bounds)]
