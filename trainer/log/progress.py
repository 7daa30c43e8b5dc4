"""The progress of a running session: its speed and stage shares, smoothed over the last seconds, and its score so far."""

import itertools
import math
from collections.abc import Sequence

STAGES = {"time_env": "environments", "time_copy": "copy", "time_forward": "forward", "time_sample": "sample",
          "time_learn": "learn", "time_other": "other"}
_MEMORY = 10.0  # seconds; an iteration this old counts 1/e of a new one in the speed and the stage shares
_HISTORY = 256  # points of the score history


class Progress:
    """The state of a session after its newest iteration.

    start_step: first step of this session.
    goal: last step of this session.
    """

    def __init__(self, start_step: int, goal: int) -> None:
        self.step = start_step
        self.goal = goal
        self.last: dict[str, float | None] = {}  # newest value of each metric; None only before its first value
        self.history = History()    # of the score
        self.entropies = History()  # of the policy
        self._steps = self._seconds = 0.0
        self._stages = dict.fromkeys(STAGES, 0.0)

    def update(self, step: int, seconds: float, metrics: dict[str, float | None]) -> None:
        """Add an iteration.

        step: the step at its end.
        seconds: its duration.
        """
        fade = math.exp(-seconds / _MEMORY)
        self._steps = self._steps * fade + step - self.step
        self._seconds = self._seconds * fade + seconds
        for stage in STAGES:
            self._stages[stage] = self._stages[stage] * fade + (metrics.get(stage) or 0.0)
        self.step = step
        self.last.update({key: value for key, value in metrics.items() if value is not None or key not in self.last})
        self.history.add(metrics.get("score_mean"))
        self.entropies.add(metrics.get("entropy"))

    @property
    def sps(self) -> float:
        """Recent steps per second."""
        return self._steps / self._seconds if self._seconds > 0 else 0.0

    @property
    def done(self) -> float:
        """Finished part of the way to the goal, 0 to 1."""
        return min(self.step / self.goal, 1.0)

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds until the goal; None before the speed is known."""
        return max(self.goal - self.step, 0) / self.sps if self.sps > 0 else None

    @property
    def shares(self) -> dict[str, float]:
        """Recent share of the time, 0 to 1, by name of the stage."""
        total = sum(self._stages.values())
        return {name: self._stages[stage] / total if total > 0 else 0.0 for stage, name in STAGES.items()}


class History:
    """A curve of any length, stored as at most 256 points: when they are full, neighbours are averaged."""

    def __init__(self) -> None:
        self.points: list[float] = []
        self._stride, self._pending = 1, []

    def add(self, value: float | None) -> None:
        """Add a value; None adds nothing."""
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
    """A curve of at most `width` characters; the lowest point gets the first glyph, the highest the last."""
    points = _averaged(points, min(width, len(points)))
    if not points:
        return ""
    low, high = min(points), max(points)
    scale = (len(glyphs) - 1) / (high - low) if high > low else 0.0
    return "".join(glyphs[round((point - low) * scale)] for point in points)


def _averaged(points: Sequence[float], groups: int) -> list[float]:
    """`points` cut into `groups` runs of neighbours; the mean of each."""
    bounds = [index * len(points) // groups for index in range(groups + 1)] if groups else [0]
    return [sum(points[low:high]) / (high - low) for low, high in itertools.pairwise(bounds)]
