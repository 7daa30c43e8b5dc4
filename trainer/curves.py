"""curves.png: what a run did, drawn from its metrics.jsonl."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from trainer.files import write_atomically
from trainer.metrics import read_metrics
from trainer.run_folder import CONFIG

_LOSSES = {"loss_policy": "policy", "loss_value": "value", "entropy": "entropy"}
_MOST_POINTS = 2000  # a curve, so that long runs draw as fast as short ones


def draw_curves(folder: Path) -> Path:
    """Draw score, speed and losses of a run into its folder; returns the path of curves.png.

    A run without metrics gives empty axes that say so. Raises OSError when the picture cannot be written.
    """
    entries = _thinned(read_metrics(folder))
    figure = Figure(figsize=(10, 6.5), dpi=100, layout="constrained")
    by_step, by_minute, speed, losses = figure.subplots(2, 2).flat
    _plot(by_step, entries, "step", {"score_mean": None})
    _label(by_step, "Score of recent episodes", "steps", "mean score")
    _plot(by_minute, entries, "minutes", {"score_mean": None})
    _label(by_minute, "Score over time", "minutes of training", "mean score")
    _plot(speed, entries, "step", {"sps": None}, color="tab:green")
    _label(speed, "Speed", "steps", "steps a second")
    speed.yaxis.set_major_formatter(EngFormatter(sep=""))
    speed.set_ylim(bottom=0)
    _plot(losses, entries, "step", _LOSSES)
    _label(losses, "Losses and entropy", "steps", "value")
    for axes in (by_step, speed, losses):
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    figure.suptitle(_title(folder))
    picture = BytesIO()
    figure.savefig(picture, format="png")
    path = folder / "curves.png"
    write_atomically(path, [picture.getvalue()])
    return path


def _plot(axes: Axes, entries: list[dict[str, Any]], across: str, keys: dict[str, str | None], **style: str) -> None:
    """A line for each key that has values, named where it has a name."""
    for key, name in keys.items():
        points = [(entry[across], entry[key]) for entry in entries if entry.get(key) is not None]
        if points:
            marker = "." if len(points) == 1 else None
            axes.plot(*zip(*points, strict=True), label=name, linewidth=1.2, marker=marker, **style)
    if not axes.lines:
        axes.text(0.5, 0.5, "nothing recorded", transform=axes.transAxes, ha="center", va="center", color="tab:gray")
    elif any(keys.values()):
        axes.legend(frameon=False, fontsize="small")


def _label(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(alpha=0.3)


def _thinned(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every n-th entry and the last, with `minutes` added."""
    stride = len(entries) // _MOST_POINTS + 1
    chosen = entries[:-1:stride] + entries[-1:]
    return [entry | {"minutes": entry["seconds"] / 60} for entry in chosen]


def _title(folder: Path) -> str:
    """The game and the seed, where config.json tells them, and the folder's name."""
    path = folder / CONFIG
    if not path.exists():
        return folder.name
    config = json.loads(path.read_text(encoding="utf-8"))["config"]
    return f"{config['game']}, seed {config['run']['seed']}\n{folder.name}"
