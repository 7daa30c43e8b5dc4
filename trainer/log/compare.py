"""Scores of several runs beside one another, run by run or in groups that differ in nothing but the seed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainer.errors import RunError
from trainer.log.figures import count, number
from trainer.runs.find import HINT, Run, read_run, short_name
from trainer.runs.metrics import read_metrics

POINTS = 500  # of a group's mean curve
AXES = {"steps": ("step", 1), "minutes": ("seconds", 1 / 60)}  # what --by says: the metric's key, and its factor


@dataclass(frozen=True)
class Curve:
    """A line of the picture: score against steps or minutes."""

    label: str
    across: np.ndarray            # (P,) steps or minutes
    score: np.ndarray             # (P,) mean of recent episodes, or over a group's runs the mean of these
    deviation: np.ndarray | None  # (P,) over a group's runs; None for a single run


@dataclass(frozen=True)
class Member:
    """A run that is compared."""

    label: str          # its folder's name, or the whole path where others have that name, too
    run: Run
    across: np.ndarray  # (P,) steps or minutes
    score: np.ndarray   # (P,)


def read(folders: Sequence[Path], by: str) -> list[Member]:
    """The runs, in the order given. Raises RunError where they cannot be compared, with what stands in the way."""
    unique = {folder.resolve(): folder for folder in folders}
    if len(unique) < 2:
        named = f"only {folders[0]} is named" if folders else "none is named"
        raise RunError(f"compare takes two runs or more, and {named}; {HINT}")
    names = Counter(folder.name for folder in unique.values())
    members = [member(folder, by, folder.name if names[folder.name] == 1 else str(folder)) for folder in unique.values()]
    games: dict[str, str] = {}
    for one in members:
        games.setdefault(one.run.game, one.label)
    if len(games) > 1:
        which = ", ".join(f"{folder} plays {short_name(game)}" for game, folder in games.items())
        raise RunError(f"scores of different games cannot be compared: {which}; name runs of one game")
    return members


def member(folder: Path, by: str, label: str) -> Member:
    """One run; by: steps or minutes. Raises RunError where it has no scores."""
    run, (key, factor) = read_run(folder), AXES[by]
    points = [(entry[key] * factor, entry["score_mean"]) for entry in read_metrics(folder)
              if entry.get("score_mean") is not None]
    if not points:
        raise RunError(f"{folder} has no scores yet: no episode has ended in it; leave it out")
    across, score = np.array(points, float).T
    return Member(label, run, across, score)


def single(members: Sequence[Member]) -> list[Curve]:
    """A curve a run."""
    return [Curve(member.label, member.across, member.score, None) for member in members]


def grouped(members: Sequence[Member]) -> dict[str, list[Member]]:
    """The runs by what their settings differ in, the seed and what does not change the learning left out."""
    settings = [_settings(member.run.config) for member in members]
    differing = [name for name in dict.fromkeys(name for one in settings for name in one)
                 if len({json.dumps(one.get(name), sort_keys=True) for one in settings}) > 1]
    groups: dict[str, list[Member]] = {}
    for member, one in zip(members, settings, strict=True):
        label = ", ".join(f"{name} {_said(one.get(name))}" for name in differing) or short_name(member.run.game)
        groups.setdefault(label, []).append(member)
    return groups


def mean_curve(label: str, members: Sequence[Member]) -> Curve:
    """The mean over runs and the sample standard deviation, where all of them were under way; straight lines between points.

    Raises RunError where there is no such stretch.
    """
    first, last = max(member.across[0] for member in members), min(member.across[-1] for member in members)
    if first > last:
        raise RunError(f"the runs with {label} share no stretch to take the mean over; leave --group out")
    across = np.linspace(first, last, POINTS)
    scores = np.stack([np.interp(across, member.across, member.score) for member in members])
    several = len(members) > 1
    seeds = f"{len(members)} runs: mean ± standard deviation" if several else "1 run"
    return Curve(f"{label} ({seeds})", across, scores.mean(0), scores.std(0, ddof=1) if several else None)


def table(members: Sequence[Member]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows that tell of each run."""
    rows = [[member.label, str(run.seed), count(run.step), f"{run.seconds / 60:.1f}", number(run.score), number(run.best),
             number(run.evaluation)] for member, run in ((one, one.run) for one in members)]
    return ["run", "seed", "steps", "minutes", "score", "best", "evaluation"], rows


def group_table(groups: dict[str, list[Member]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows that tell of each group: means over its runs, scores ± their standard deviation where it has several."""
    rows = []
    for label, members in groups.items():
        there = [member.run for member in members]
        rows.append([label, " ".join(str(run.seed) for run in there), count(float(np.mean([run.step for run in there]))),
                     f"{np.mean([run.seconds for run in there]) / 60:.1f}",
                     *(_mean([getattr(run, name) for run in there]) for name in ("score", "best", "evaluation"))])
    return ["settings", "seeds", "steps", "minutes", "score", "best", "evaluation"], rows


def _mean(values: Sequence[float | None]) -> str:
    if None in values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.3g}" if len(values) > 1 else ""
    return number(float(np.mean(values))) + spread


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """The settings that change what is learned, by name."""
    sections = [config.get(section) for section in ("env", "policy", "ppo", "self_play")]
    free = ("num_threads", "num_batches")
    return {name: value for section in sections if isinstance(section, dict) for name, value in section.items()
            if name not in free}


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={number(one)}" for name, one in value.items()) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
