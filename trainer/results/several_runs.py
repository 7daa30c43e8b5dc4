"""Scores of several runs of one game, as curves and as a table: run by run, or in groups of runs with different seeds."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from envs_c.numbers import is_stored
from envs_c.text import shown
from trainer.config.sections import OF_THE_MACHINE
from trainer.errors import RunError
from trainer.log.curves import Curve
from trainer.log.numbers import count, minutes, number
from trainer.results.groups import about, between, improvements, normalized, profiles, score_of
from trainer.runs.find import hint
from trainer.runs.metrics import METRICS, read_metrics
from trainer.runs.summary import Run, read_run

POINTS = 500  # of the mean curve of a group
_NAMED = 5  # the most runs in a message
AXES = {"steps": ("step", 1), "minutes": ("seconds", 1 / 60)}  # value of --by: the key in metrics.jsonl, and a factor


@dataclass(frozen=True)
class Member:
    """A run of the comparison."""

    label: str          # the folder's name, or its path if another run's folder has the same name
    run: Run
    across: np.ndarray  # (P,) steps or minutes
    score: np.ndarray   # (P,)


class NoScoresError(RunError):
    """None of a run's episodes has ended, or it has no metrics."""


def read(folders: Sequence[Path], by: str, optional: Collection[Path] = (),
         skipped: Callable[[str], None] = lambda line: None) -> list[Member]:
    """Read the runs in `folders`; duplicates are dropped.

    by: "steps" or "minutes", the horizontal axis.
    optional: those of `folders` that are left out if they have no scores, while two others have some.
    skipped: called with a line about those that are left out.
    Raises RunError if there are fewer than two runs, if they are of different games, or if one has no scores.
    """
    unique = {folder.resolve(): folder for folder in folders}
    if len(unique) < 2:
        named = f"only {folders[0]} is named" if folders else "none is named"
        raise RunError(f"compare needs two runs or more, and {named}; {hint()}")
    chosen = list(unique.values())
    members, without = [], []
    for folder, label in zip(chosen, labels(chosen), strict=True):
        try:
            members.append(member(folder, by, label))
        except NoScoresError:
            if folder not in optional:
                raise
            without.append(folder)
    if len(members) < 2:
        raise RunError(f"compare needs two runs or more with scores, and none of the episodes of {_these(without)} has ended: "
                       "train longer, or name other runs")
    if without:
        skipped(f"left out, since none of their episodes has ended yet: {_these(without)}")
    games: dict[str, str] = {}  # by name: a game of the user's own has another path on another machine
    for one in members:
        games.setdefault(one.run.game.short, one.label)
    if len(games) > 1:
        which = ", ".join(f"{folder} plays {game}" for game, folder in games.items())
        raise RunError(f"scores of different games cannot be compared: {which}; name runs of one game")
    return members


def _these(folders: Sequence[Path]) -> str:
    """The paths of a few folders, and the number of the others."""
    more = f" and {len(folders) - _NAMED} more" if len(folders) > _NAMED else ""
    return ", ".join(map(str, folders[:_NAMED])) + more


def labels(folders: Sequence[Path]) -> list[str]:
    """The name of each folder, or its path if two have the same name."""
    names = [folder.name or folder.resolve().name for folder in folders]  # the path . has no name
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def member(folder: Path, by: str, label: str) -> Member:
    """Read one run. Raises NoScoresError if it has no scores, and RunError."""
    run, (key, factor) = read_run(folder), AXES[by]
    entries = read_metrics(folder)
    points = [(entry[key] * factor, entry["score_mean"]) for entry in entries if entry.get("score_mean") is not None]
    if not entries and run.step:
        raise NoScoresError(f"{folder} has no scores, since it has checkpoints but no {METRICS}, as the folder of a loop of "
                            "your own: leave it out")
    if not points:
        raise NoScoresError(f"{folder} has no scores yet, since none of its episodes has ended: leave it out")
    across, score = np.array(points, float).T
    return Member(label, run, across, score)


def single(members: Sequence[Member]) -> list[Curve]:
    """One curve for each run."""
    return [Curve(member.label, member.across, member.score, None) for member in members]


def grouped(members: Sequence[Member], skipped: Callable[[str], None] = lambda line: None) -> dict[str, list[Member]]:
    """The runs by the values of the settings in which they differ, such as "gamma 0.99", each seed once in a group.

    The seed and settings without influence on the learning are ignored. Of runs with equal settings, seed and first weights,
    which are no independent samples, only the longest one counts, and of equally long ones the newest.
    skipped: called with a line about those that do not count.
    """
    settings = [_settings(member.run.config) for member in members]
    differing = [name for name in dict.fromkeys(name for one in settings for name in one)
                 if len({_values(one, [name]) for one in settings}) > 1]
    chosen = {_values(one, differing): {name: one.get(name) for name in differing} for one in settings}
    groups: dict[str, dict[str, Member]] = {values: {} for values in chosen}
    for member, one in zip(members, settings, strict=True):
        group, start = groups[_values(one, differing)], _values(member.run.config["run"], ["seed", "init_from"])
        group[start] = max(group.get(start, member), member, key=_length)
    counted = {id(member) for group in groups.values() for member in group.values()}
    if repeated := [member.run.folder for member in members if id(member) not in counted]:
        skipped(f"left out of the groups, since another run there has the same seed and settings: {_these(repeated)}")
    named = _group_labels(list(chosen.values()), members[0].run.game.short)
    return {label: list(group.values()) for label, group in zip(named, groups.values(), strict=True)}


def _length(member: Member) -> tuple[bool, int, datetime]:
    """Which of two equal runs counts: one with an evaluation, then the one with more steps, then the newer one."""
    return member.run.evaluation is not None, member.run.step, member.run.started


def _values(settings: dict[str, Any], names: Sequence[str]) -> str:
    """The values of these settings with all digits; an integer is the float of its value."""
    return json.dumps([_floats(settings.get(name)) for name in names], sort_keys=True)


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _floats(one) for name, one in value.items()}
    return float(value) if is_stored(value) else value


def _group_labels(groups: Sequence[dict[str, Any]], game: str) -> list[str]:
    """A label for each group, of the values in which they differ: short ones, with all digits if two would be the same."""
    for text in (_text, _exact):
        found = [", ".join(f"{name} {text(value)}" for name, value in one.items()) or game for one in groups]
        if len(set(found)) == len(found):
            break
    return found


def mean_curve(label: str, members: Sequence[Member]) -> Curve:
    """The mean over the runs and the sample standard deviation, interpolated linearly between the points of each run.

    The curve covers the interval in which all runs have points. Raises RunError if it is empty.
    """
    first, last = max(member.across[0] for member in members), min(member.across[-1] for member in members)
    if first > last:
        raise RunError(f"the curves of the runs with {label} do not overlap, so they have no mean: leave --group out")
    across = np.linspace(first, last, POINTS)
    scores = np.stack([np.interp(across, member.across, member.score) for member in members])
    several = len(members) > 1
    seeds = f"{len(members)} runs: mean ± standard deviation" if several else "1 run"
    return Curve(f"{label} ({seeds})", across, scores.mean(0), scores.std(0, ddof=1) if several else None)


def table(members: Sequence[Member]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table with a row for each run. human: the human-normalized score of the evaluation."""
    rows = [[member.label, str(run.seed), count(run.step), minutes(run.seconds), number(run.score), number(run.best),
             number(run.evaluation), _human([run])] for member, run in ((one, one.run) for one in members)]
    return ["run", "seed", "steps", "minutes", "score", "best", "evaluation", "human"], rows


def group_table(groups: dict[str, list[Member]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table with a row for each group: means over its runs, and ± the standard deviation of scores.

    seeds: the number of runs, which have different seeds.
    minutes: the median.
    95% interval: of the mean of `scores_of`, over the seeds, by Student's t. iqm: their interquartile mean.
    human: the mean human-normalized score of the evaluations.
    """
    rows, scores = [], scores_of(groups)
    for label, members in groups.items():
        runs = [member.run for member in members]
        facts = about(scores[label])
        rows.append([label, str(len(runs)), count(float(np.mean([run.step for run in runs]))),
                     minutes(float(np.median([run.seconds for run in runs]))),
                     *(_mean([getattr(run, name) for run in runs]) for name in ("score", "best", "evaluation")),
                     between(facts["mean_interval"]), number(facts["iqm"]), _human(runs)])
    return ["settings", "seeds", "steps", "minutes", "score", "best", "evaluation", "95% interval", "iqm", "human"], rows


def runs_of(groups: dict[str, list[Member]]) -> list[Run]:
    """The runs in the groups, without those that `grouped` left out."""
    return [member.run for members in groups.values() for member in members]


def scores_of(groups: dict[str, list[Member]]) -> dict[str, np.ndarray]:
    """The scores of each group's runs (runs,): of the evaluations, or if a run has none, of recent episodes."""
    kind = score_of(runs_of(groups))
    return {label: np.array([getattr(member.run, kind) for member in members], float) for label, members in groups.items()}


def facts(members: Sequence[Member], groups: dict[str, list[Member]] | None) -> dict[str, Any]:
    """The comparison, ready for JSON. groups: as by `grouped`, or None for a comparison run by run."""
    runs = [{"run": one.label, "seed": one.run.seed, "steps": one.run.step, "minutes": one.run.seconds / 60,
             "score": one.run.score, "best": one.run.best, "evaluation": one.run.evaluation, "protocol": one.run.protocol,
             "human_normalized": normalized(one.run, one.run.evaluation)} for one in members]
    found = {"game": members[0].run.game, "runs": runs}
    if groups is None:
        return found
    scores = scores_of(groups)
    curves = profiles(scores)
    return found | {"scores": score_of(runs_of(groups)), "improvements": improvements(scores),
                    "groups": [{"settings": label, "seeds": [one.run.seed for one in groups[label]], **about(scores[label]),
                                "profile": curves[label]} for label in groups]}


def rows(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of `facts` for a CSV file: of its groups, or else of its runs."""
    if "groups" not in facts:
        return facts["runs"]
    return [{key: value for key, value in one.items() if key != "profile"} for one in facts["groups"]]


def _human(runs: Sequence[Run]) -> str:
    """The mean human-normalized score of the runs; "-" if one has none."""
    known = [normalized(run, run.evaluation) for run in runs]
    return "-" if None in known else number(float(np.mean(known)))


def _mean(values: Sequence[float | None]) -> str:
    if None in values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.3g}" if len(values) > 1 else ""
    return number(float(np.mean(values))) + spread


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """The settings with influence on the learning, by name; of init_from, whether there is one."""
    sections = [config.get(section) for section in ("env", "policy", "ppo", "self_play")]
    free = OF_THE_MACHINE | {"sim"}
    run = config.get("run")
    another = isinstance(run, dict) and run.get("init_from") is not None
    return {"init_from": "another run" if another else None} | {
        name: value for section in sections if isinstance(section, dict) for name, value in section.items() if name not in free}


def _exact(value: Any) -> str:
    """A value with all digits; texts stand in quotes."""
    if isinstance(value, dict):
        return " ".join(f"{name}={_exact(one)}" for name, one in value.items()) or "none"
    return json.dumps(value).removesuffix(".0")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={number(one) if is_stored(one) else shown(one)}" for name, one in value.items()) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
