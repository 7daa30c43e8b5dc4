"""The table of a bench: for each game and protocol the statistics over its seeds, printed and written as CSV and JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial

from envs_c.files import write_atomically
from envs_c.text import say
from trainer.config import EnvConfig
from trainer.files import writing
from trainer.log.console import Terminal
from trainer.log.numbers import count, number
from trainer.log.text import show
from trainer.results import statistics
from trainer.results.groups import FEWEST, about, between, bootstrap
from trainer.results.output import csv_text
from trainer.results.published import SOURCE, published
from trainer.runs.evaluation import no_ops, noted, text
from trainer.sweep.folder import MAY_WRITE
from trainer.sweep.tasks import Task

CSV, JSON = "results.csv", "results.json"
_COLUMNS = ("game", "sticky", "no-ops", "actions", "seeds", "mean", "95% interval", "iqm", "human", "minutes", "steps")


def write_table(folder: Path, tasks: Sequence[Task], results: Mapping[str, FrozenTrial],
                settings: Mapping[str, EnvConfig]) -> None:
    """Print the table of the finished trainings, and write results.csv and results.json into `folder`.

    settings: of each task's environments; a game with options is another one than its cartridge.
    """
    rows = table(tasks, results, settings)
    totals = normalized(rows)
    show(_COLUMNS, [_shown(row) for row in rows], Terminal(), right=_COLUMNS[4:])
    for one in totals:
        say(f"human-normalized, {one['games']} games, sticky {one['sticky']:g}, {no_ops(one)}, {one['actions']} actions: "
            f"interquartile mean {number(one['iqm'])} ({_interval(one['iqm_interval'])})")
    for line in sorted({row["protocol"] for row in rows}):
        say(f"protocol: {line}")
    if any(row["human_normalized"] is not None for row in rows):
        say(f"human: 0 for random play, 1 for the human of {SOURCE}")
    with writing(folder, MAY_WRITE):
        write_atomically(folder / CSV, [csv_text(rows).encode()])
        write_atomically(folder / JSON, [json.dumps({"rows": rows, "human_normalized": totals}, indent=2).encode(), b"\n"])
    say(f"{folder / CSV}, {folder / JSON}: the same with all digits, and the score of each seed")


def table(tasks: Sequence[Task], results: Mapping[str, FrozenTrial],
          settings: Mapping[str, EnvConfig]) -> list[dict[str, Any]]:
    """A row for each game, sticky probability and kind of actions, ready for JSON."""
    rows = []
    for game, sticky in dict.fromkeys((task.game, task.sticky) for task in tasks):
        done = [(task, results[task.name].user_attrs) for task in tasks
                if (task.game, task.sticky) == (game, sticky) and task.name in results]
        for kind in range(max((len(facts["evaluations"]) for _, facts in done), default=0)):
            known = [(task, facts) for task, facts in done if len(facts["evaluations"]) > kind]
            rows.append(_row(known, kind, settings[known[0][0].name]))
    return rows


def _row(done: Sequence[tuple[Task, dict[str, Any]]], kind: int, env: EnvConfig) -> dict[str, Any]:
    """The statistics of one kind of evaluation over the seeds of a game, all with the settings `env`."""
    game, cartridge = done[0][0].game, published(done[0][0].game, env.options)
    evaluations = [noted(facts["evaluations"][kind], env.noop_max) for _, facts in done]
    scores = np.array([one["mean"] for one in evaluations], float)
    facts = about(scores)
    used = evaluations[0].get("protocol") or {}
    return {"game": game.short, "sticky": done[0][0].sticky, "noop_max": used.get("noop_max"),
            "actions": used.get("actions", ""), "seeds": [task.seed for task, _ in done],
            "scores": scores.tolist(), **facts,
            "human_normalized": None if cartridge is None else cartridge.normalized(facts["mean"]),
            "minutes": float(np.median([one["minutes"] for _, one in done])),
            "steps": float(np.mean([one["steps"] for _, one in done])), "protocol": text(evaluations[0])}


def normalized(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Human-normalized scores over all games that have them, for each protocol with at least two such games."""
    found = []
    protocols = ("sticky", "noop_max", "actions")
    for protocol in dict.fromkeys(tuple(row[name] for name in protocols) for row in rows):
        chosen = [row for row in rows if tuple(row[name] for name in protocols) == protocol
                  and row["human_normalized"] is not None]
        scores = [published(row["game"], {}).normalized(np.array(row["scores"])) for row in chosen]
        if len(scores) > 1:
            found.append({**dict(zip(protocols, protocol, strict=True)), "games": len(scores), "iqm": statistics.iqm(scores),
                          "iqm_interval": bootstrap(statistics.iqm, scores)})
    return found


def _interval(found: Sequence[float] | None) -> str:
    """The interval of the interquartile mean over several games in words."""
    return f"no interval: it needs {FEWEST} seeds or more of each game" if found is None else f"95% interval {between(found)}"


def _shown(row: Mapping[str, Any]) -> list[str]:
    """A row of the printed table."""
    sticky, no_ops = ("-" if row[name] is None else f"{row[name]:g}" for name in ("sticky", "noop_max"))
    return [row["game"], sticky, no_ops, row["actions"], str(row["runs"]),
            number(row["mean"]), between(row["mean_interval"]), number(row["iqm"]), number(row["human_normalized"]),
            f"{row['minutes']:.1f}", count(row["steps"])]
