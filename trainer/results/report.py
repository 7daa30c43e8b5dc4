"""report.html: one page about a run, or about several side by side. It is made of the runs' files and needs no other file."""

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from envs_c.files import write_atomically
from envs_c.views import DEFAULT
from trainer.config import Config
from trainer.config.preset import preset
from trainer.errors import TrainerError
from trainer.files import read_file, read_json, writing
from trainer.log.numbers import count, duration, number
from trainer.results import html
from trainer.results.groups import improvements, notes, sentence
from trainer.results.several_runs import group_table, grouped, labels, read, runs_of, scores_of
from trainer.results.svg import COLOURS, Line, chart
from trainer.runs.evaluation import text
from trainer.runs.folder import CONFIG
from trainer.runs.metrics import ADVICE, read_metrics
from trainer.runs.summary import Run, read_run

REPORT, FILM = "report.html", "episode.gif"
LARGEST_FILM, LARGEST_FILMS = 6 << 20, 24 << 20  # bytes of a film, and of all films of a page; others are only named
# Charts: title, metric, and the horizontal axis.
_CHARTS = (("Score of recent episodes", "score_mean", "steps"), ("Score over time", "score_mean", "minutes"),
           ("Speed, steps per second", "sps", "steps"), ("Policy loss", "loss_policy", "steps"),
           ("Value loss", "loss_value", "steps"), ("Entropy of the policy", "entropy", "steps"))
_SECTIONS = ("env", "policy", "ppo", "self_play", "run")


def write_report(folders: Sequence[Path], path: Path, *, ended: bool = False) -> None:
    """Write the report of the runs in `folders`. Raises RunError if a run's files are damaged, and FileError.

    ended: the runs have ended, though their training still holds their folders.
    """
    content = page(folders, ended=ended)
    with writing(path, ADVICE if ended else "name a file elsewhere with --out"):  # a training has no --out
        write_atomically(path, [content])


def page(folders: Sequence[Path], *, ended: bool = False) -> bytes:
    """The page about the runs in `folders`; arguments as for `write_report`."""
    runs = dict(zip(labels(folders), map(read_run, folders), strict=True))
    if ended:
        runs = {label: replace(run, running=False) for label, run in runs.items()}
    games = list(dict.fromkeys(run.game.short for run in runs.values()))
    title = f"{', '.join(games)}: {next(iter(runs)) if len(runs) == 1 else f'{len(runs)} runs'}"
    body = [f"<h1>{html.escape(', '.join(games))}</h1>\n", f'<p class="dim">{html.escape(_line(runs))}</p>\n', _summary(runs),
            html.section("Evaluation", _evaluations(runs)), html.section("Over the seeds", *_statistics(runs, folders)),
            html.section("Curves", *_curves(runs)), html.section("Film", _films(runs)),
            html.section("Settings", _settings(runs)), html.section("Machine and versions", _machines(runs))]
    return html.page(title, "".join(body))


def _line(runs: dict[str, Run]) -> str:
    """A line below the heading."""
    label, run = next(iter(runs.items()))
    return f"{label}, seed {run.seed}, started {run.started:%Y-%m-%d %H:%M}" if len(runs) == 1 else f"{len(runs)} runs"


def _summary(runs: dict[str, Run]) -> str:
    """The main numbers: boxes for one run, a table for several."""
    if len(runs) > 1:
        columns = ("run", "game", "seed", "state", "steps", "minutes", "score", "best", "evaluation")
        rows = [(label, run.game.short, run.seed, run.state, count(run.step), f"{run.seconds / 60:.1f}", _digits(run.score),
                 _digits(run.best), _digits(run.evaluation)) for label, run in runs.items()]
        return html.table(columns, rows, columns[4:])
    run = next(iter(runs.values()))
    facts = {"state": run.state, "steps": f"{count(run.step)} of {count(run.total_steps)}", "training": duration(run.seconds),
             "recent score": _digits(run.score), "best score": _digits(run.best), "evaluation": _digits(run.evaluation)}
    boxes = "".join(f'<div class="fact"><b>{html.escape(value)}</b><span>{html.escape(name)}</span></div>'
                    for name, value in facts.items())
    return f'<div class="facts">{boxes}</div>\n'


def _evaluations(runs: dict[str, Run]) -> str:
    """A table of all evaluations, and their protocols."""
    rows, protocols = [], {}
    for label, run in runs.items():
        for one in run.evaluations:
            used = one.get("protocol") or {"actions": "unknown", "sticky": None, "noop_max": None}
            protocols[text(one)] = None
            more = (_digits(one.get(name)) for name in ("median", "min", "max", "mean_length", "truncated"))
            ends = one.get("mean_interval")
            rows.append((label, used["actions"], number(used["sticky"]), number(used.get("noop_max")), _digits(one["mean"]),
                         "-" if ends is None else f"{_digits(ends[0])} to {_digits(ends[1])}", *more, _episodes(one)))
    columns = ("run", "actions", "sticky", "no-ops", "mean", "95% interval", "median", "min", "max", "length", "truncated",
               "episodes")
    if not rows:
        return '<p class="none">There is no evaluation yet.</p>'
    first = 0 if len(runs) > 1 else 1  # one run needs no column of names
    notes_below = "".join(f'<p class="dim">{html.escape(line)}</p>\n' for line in protocols)
    return html.table(columns[first:], [row[first:] for row in rows], columns[2:]) + notes_below


def _episodes(summary: dict[str, Any]) -> str:
    """The number of an evaluation's episodes, and how many are different, if some are equal and it was noted."""
    episodes = summary.get("episodes", "-")
    different = summary.get("different_episodes", episodes)
    return str(episodes) if different == episodes else f"{episodes} ({different} different)"


def _statistics(runs: dict[str, Run], folders: Sequence[Path]) -> list[str]:
    """The statistics of groups of runs of one game; empty if there is nothing to compare.

    Runs without a score are left out and named, as by `compare`.
    """
    if sum(run.score is not None for run in runs.values()) < 2 or len({run.game.short for run in runs.values()}) > 1:
        return []
    skipped: list[str] = []
    groups = grouped(read(folders, "steps", folders, skipped.append), skipped.append)
    columns, rows = group_table(groups)
    lines = [*skipped, *map(sentence, improvements(scores_of(groups))), *notes(runs_of(groups))]
    return [html.table(columns, rows, columns[2:]), *(f'<p class="dim">{html.escape(line)}</p>\n' for line in lines)]


def _curves(runs: dict[str, Run]) -> list[str]:
    """The charts, below a legend if there are several runs."""
    every = [_lines(label, read_metrics(run.folder)) for label, run in runs.items()]  # the entries of one run at a time
    names = "".join(f'<li><i class="c{index % COLOURS}"></i>{html.escape(label)}</li>' for index, label in enumerate(runs))
    charts = []
    for (title, key, across), lines in zip(_CHARTS, zip(*every, strict=True), strict=True):
        drawn = chart(lines, "minutes of training" if across == "minutes" else "steps", f"{title} against {across}",
                      number if across == "minutes" else count, zero=key == "sps")
        charts.append(f'<div class="chart"><h3>{html.escape(title)}</h3>{drawn}</div>\n')
    return [f'<ul class="legend">{names}</ul>\n' if len(runs) > 1 else "", f'<div class="charts">{"".join(charts)}</div>\n']


def _lines(label: str, entries: Sequence[dict[str, Any]]) -> list[Line]:
    """A run's curve in each chart."""
    return [_curve(label, entries, key, across) for _, key, across in _CHARTS]


def _curve(label: str, entries: Sequence[dict[str, Any]], key: str, across: str) -> Line:
    """The points of a metric, in the order of the steps."""
    points = sorted((entry["seconds"] / 60 if across == "minutes" else entry["step"], entry[key])
                    for entry in entries if entry.get(key) is not None)
    return Line(label, [point[0] for point in points], [point[1] for point in points])


def _films(runs: dict[str, Run]) -> str:
    """The films of the runs, inside the page; a larger one is named."""
    parts, left = [], LARGEST_FILMS
    for label, run in runs.items():
        path = run.folder / FILM
        try:
            film = read_file(path, min(LARGEST_FILM, left))
        except FileNotFoundError:
            continue
        except OSError as error:
            parts.append(f'<p class="none">{html.escape(f"{path} is not in this page: {error.strerror}")}</p>\n')
            continue
        if not film.startswith(b"GIF8"):
            parts.append(f'<p class="none">{html.escape(f"{path} is no GIF")}</p>\n')
            continue
        left -= len(film)
        parts.append(f'<figure><img alt="{html.escape(f"a film of {label}")}" src="data:image/gif;base64,'
                     f'{base64.b64encode(film).decode()}"><figcaption>{html.escape(_caption(label, run))}</figcaption>'
                     '</figure>\n')
    return f'<div class="films">{"".join(parts)}</div>\n' if parts else ""


def _caption(label: str, run: Run) -> str:
    """The line below a film. A run of an earlier version did not note the score that the film shows."""
    score = run.evaluations[0].get("film_score") if run.evaluations else None
    return label if score is None else f"{label}: an episode that scored {_digits(score)} ({run.protocol})"


def _settings(runs: dict[str, Run]) -> str:
    """The settings that are not the preset's, or that differ between the runs; all of them in a part that opens.

    Without a preset to read they stand beside the defaults.
    """
    start, every = _preset(next(iter(runs.values()))), {label: _flat(run.config) for label, run in runs.items()}
    names = list(dict.fromkeys(name for settings in every.values() for name in settings))
    usual, heading = _flat(start.to_dict()), "default" if start == Config(start.game) else "preset"
    rows = [(name, *(_shown(settings.get(name)) for settings in every.values()), _shown(usual.get(name))) for name in names]
    columns = ("setting", *(every if len(runs) > 1 else ("value",)), heading)
    changed = [row for row in rows if len(set(row[1:])) > 1]
    return html.table(columns, changed) + html.details("All settings", html.table(columns, rows))


def _preset(run: Run) -> Config:
    """The settings of the run's game, view and kind of play without any change. Defaults, if there is no preset to read.

    That of most of Gymnasium's environments follows from their spaces, which no file of a run has.
    """
    view, alone = run.config.get("env", {}).get("view"), run.config.get("self_play", {}).get("self_play")
    try:
        return preset(run.game, view=view if isinstance(view, str) else DEFAULT, self_play=alone is True)
    except TrainerError:
        return Config(run.game)


def _machines(runs: dict[str, Run]) -> str:
    """The facts about each session's machine and versions, the newest session of each run first."""
    parts = []
    for label, run in runs.items():
        try:
            sessions = [one for one in read_json(run.folder / CONFIG)["sessions"] if isinstance(one, dict)]
        except (OSError, ValueError, TypeError, LookupError):
            sessions = []
        for number_of, session in reversed(list(enumerate(sessions, 1))):
            facts = session.get("facts")
            rows = [("started", session.get("started")), ("from step", session.get("from_step")),
                    *(facts.items() if isinstance(facts, dict) else ())]
            part = html.table(("fact", "value"), rows)
            newest = number_of == len(sessions) and len(runs) == 1
            parts.append(part if newest else html.details(f"{label}, session {number_of} of {len(sessions)}", part))
    return "".join(parts)


def _digits(value: float | None) -> str:
    """A number with all digits before the point: 26,832 and not 2.683e+04."""
    return number(value) if value is None or not 1e3 <= abs(value) < 1e12 else f"{value:,.0f}"


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of all sections by name."""
    return {name: value for section in _SECTIONS if isinstance(config.get(section), dict)
            for name, value in config[section].items()}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items()) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
