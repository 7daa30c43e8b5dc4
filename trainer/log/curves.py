"""Pictures of curves: curves.png of one run, drawn from its metrics.jsonl, and the scores of several runs in one picture."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from envs_c.files import write_atomically
from trainer.errors import ConfigError
from trainer.files import writing
from trainer.runs.folder import CONFIG
from trainer.runs.metrics import ADVICE, read_metrics
from trainer.runs.summary import read_run

_LOSSES = {"loss_policy": "Policy loss", "loss_value": "Value loss", "entropy": "Entropy of the policy"}  # titles
_STYLES = ("-", "--", ":", "-.")  # for the first ten curves, the next ten, ...
_MOST_POINTS = 2000  # per curve; long runs then draw as fast as short ones
_NAMED = 20  # curves in a legend at most: more names would fill the picture
# Of the six axes of curves.png, as parts of the picture. A layout that matplotlib computes takes as long as the drawing.
_MARGINS = {"left": 0.075, "right": 0.985, "top": 0.87, "bottom": 0.08, "wspace": 0.34, "hspace": 0.36}


@dataclass(frozen=True)
class Curve:
    """A curve of `draw_comparison`: score against steps or minutes."""

    label: str
    across: np.ndarray            # (P,) steps or minutes
    score: np.ndarray             # (P,) mean of recent episodes; for a group its mean over the runs
    deviation: np.ndarray | None  # (P,) standard deviation over the runs of a group; None for a single run


def draw_curves(folder: Path) -> Path:
    """Draw score, speed and losses of the run in `folder` into its curves.png; returns the path.

    The axes of a run without metrics are empty and say so. Raises FileError if the picture cannot be written.
    """
    entries = _thinned(read_metrics(folder))
    figure = Figure(figsize=(14, 6.5), dpi=100)
    by_step, by_minute, speed, *losses = figure.subplots(2, 3, gridspec_kw=_MARGINS).flat
    _plot(by_step, entries, "step", "score_mean")
    _label(by_step, "Score of recent episodes", "steps", "mean score")
    _plot(by_minute, entries, "minutes", "score_mean")
    _label(by_minute, "Score over time", "minutes of training", "mean score")
    _plot(speed, entries, "step", "sps", color="tab:green")
    _label(speed, "Speed", "steps", "steps per second")
    speed.yaxis.set_major_formatter(EngFormatter(sep=""))
    speed.set_ylim(bottom=0)
    for axes, (key, title) in zip(losses, _LOSSES.items(), strict=True):
        _plot(axes, entries, "step", key, color="tab:purple")
        _label(axes, title, "steps", "value")
    for axes in (by_step, speed, *losses):
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    figure.suptitle(_plain(_title(folder)))
    path = folder / "curves.png"
    with writing(path, ADVICE):
        _save(figure, path)
    return path


def draw_comparison(curves: Sequence[Curve], path: Path, by: str, game: str,
                    profiles: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Draw the scores of several runs, or groups of runs, into one PNG file.

    by: "steps" or "minutes", the horizontal axis.
    game: name in the title.
    profiles: performance profiles for axes of their own, of trainer.results.groups.profiles.
    Raises ConfigError if the picture cannot be written.
    """
    figure = Figure(figsize=(14 if profiles else 9, 5.5), dpi=100, layout="constrained")
    axes, *more = figure.subplots(1, 2 if profiles else 1, squeeze=False).flat
    if profiles:
        _draw_profiles(more[0], profiles)
    for index, curve in enumerate(curves):
        style = {"color": f"C{index % 10}", "linestyle": _STYLES[index // 10 % len(_STYLES)]}
        stride = len(curve.across) // _MOST_POINTS + 1
        chosen = [*range(0, len(curve.across) - 1, stride), len(curve.across) - 1]
        marker = "." if len(curve.across) == 1 else None
        axes.plot(curve.across[chosen], curve.score[chosen], label=_plain(curve.label), linewidth=1.4, marker=marker,
                  **style)
        if curve.deviation is not None:
            axes.fill_between(curve.across, curve.score - curve.deviation, curve.score + curve.deviation, alpha=0.2,
                              linewidth=0, color=style["color"])
    across = {"steps": "steps", "minutes": "minutes of training"}[by]
    _label(axes, f"{_plain(game)}: score of recent episodes", across, "mean score")
    if by == "steps":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlim(left=0)
    _apart_from_the_frame(axes)
    _legend(axes)
    try:
        _save(figure, path)
    except OSError as error:
        raise ConfigError(f"cannot write the picture {path}: {error.strerror or error}; choose another file with "
                          "--out") from None


def _draw_profiles(axes: Axes, profiles: Mapping[str, Mapping[str, Any]]) -> None:
    """The performance profile of each group and its 95% band; the legend names groups of too few runs for a band."""
    for label, one in profiles.items():
        few = "" if one["band"] is not None else " (few runs: no band)"
        line, = axes.plot(one["at"], one["above"], label=_plain(label) + few, linewidth=1.4)
        if one["band"] is not None:
            axes.fill_between(one["at"], *one["band"], alpha=0.2, linewidth=0, color=line.get_color())
    _label(axes, "Performance profile", "score", "part of the runs with a higher score")
    axes.set_ylim(-0.03, 1.03)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Name the first curves in a legend, and say how many have no name there."""
    lines = axes.get_lines()
    if len(lines) > _NAMED:
        axes.plot([], [], " ", label=f"and {len(lines) - _NAMED} more")
    axes.legend(handles=[*lines[:_NAMED], *axes.get_lines()[len(lines):]], frameon=False, fontsize="small")


def _apart_from_the_frame(axes: Axes) -> None:
    """Leave room below and above the curves: a curve at 0 would lie on the frame."""
    low, high = axes.dataLim.intervaly
    room = 0.05 * float(high - low) or 0.5
    if math.isfinite(low - room) and math.isfinite(high + room):
        axes.set_ylim(low - room, high + room)


def _plain(text: str) -> str:
    """A text as it is: matplotlib takes text between two $ as a formula, and names no curve whose label begins with _."""
    return (f" {text}" if text.startswith("_") else text).replace("$", r"\$")


def _save(figure: Figure, path: Path) -> None:
    picture = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about letters that the font does not have, such as Chinese ones: they become boxes
        figure.savefig(picture, format="png")
    write_atomically(path, [picture.getvalue()])


def _plot(axes: Axes, entries: list[dict[str, Any]], across: str, key: str, **style: str) -> None:
    """Draw a metric as a line, or note that it has no values."""
    points = [(entry[across], entry[key]) for entry in entries if entry.get(key) is not None]
    if points:
        marker = "." if len(points) == 1 else None
        axes.plot(*zip(*points, strict=True), linewidth=1.2, marker=marker, **style)
    else:
        axes.text(0.5, 0.5, "nothing recorded", transform=axes.transAxes, ha="center", va="center", color="tab:gray")


def _label(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(alpha=0.3)


def _thinned(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every n-th entry and the last one, with `minutes` added."""
    stride = len(entries) // _MOST_POINTS + 1
    chosen = entries[:-1:stride] + entries[-1:]
    return [entry | {"minutes": entry["seconds"] / 60} for entry in chosen]


def _title(folder: Path) -> str:
    """Game and seed, if the folder has a config.json, and the folder's name. Raises RunError if the file is damaged."""
    if not (folder / CONFIG).exists():
        return folder.name
    run = read_run(folder)
    return f"{run.game}, seed {run.seed}\n{folder.name}"
