"""Statistics of groups of runs: interquartile mean, intervals over the seeds, profiles, and comparisons of two groups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trainer.log.numbers import number
from trainer.process import program_name
from trainer.results import statistics
from trainer.results.published import SOURCE, published
from trainer.runs.summary import Run

POINTS = 101  # of a performance profile
FEWEST = 5    # runs of a group, for an interval by the bootstrap: of fewer it is much too narrow


def score_of(runs: Sequence[Run]) -> str:
    """The score that represents each run: "evaluation", or "score", that of recent episodes, if a run has no evaluation."""
    return "score" if any(run.evaluation is None for run in runs) else "evaluation"


def about(scores: np.ndarray) -> dict[str, Any]:
    """The statistics of the scores (runs,) of one group, ready for JSON.

    Intervals are None for a single run, and that of the interquartile mean for fewer than FEWEST.
    """
    return {"runs": len(scores),
            "mean": statistics.mean([scores]), "mean_interval": statistics.student_interval(scores),
            "iqm": statistics.iqm([scores]), "iqm_interval": bootstrap(statistics.iqm, [scores]),
            "median": statistics.median([scores]), "min": float(scores.min()), "max": float(scores.max())}


def bootstrap(statistic: Callable[..., np.ndarray | float],
              *groups: statistics.Scores) -> list[float] | list[list[float]] | None:
    """The 95% interval of a statistic of the groups' scores, by the bootstrap; None if a game has fewer than FEWEST runs."""
    few = min(len(game) for scores in groups for game in scores) < FEWEST
    return None if few else statistics.interval(statistic, *groups)


def profiles(groups: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """The performance profile of each group with its 95% band (None for few runs), at common scores from the lowest to the
    highest."""
    every = np.concatenate(list(groups.values()))
    at = np.linspace(every.min(), every.max(), POINTS)
    found = {}
    for label, scores in groups.items():
        band = bootstrap(lambda sample: statistics.profile(sample, at), [scores])
        found[label] = {"at": at.tolist(), "above": statistics.profile([scores], at).tolist(), "band": band}
    return found


def improvements(groups: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """The probability of improvement of the better over the worse group, for each pair of groups.

    One run against one gives none: it would be 0 or 1 whatever the settings are. Few runs on a side give no interval.
    """
    labels, found = list(groups), []
    for index, one in enumerate(labels):
        for other in labels[index + 1:]:
            if len(groups[one]) == len(groups[other]) == 1:
                continue
            chance = statistics.improvement([groups[one]], [groups[other]])
            better, worse = (one, other) if chance >= 0.5 else (other, one)
            found.append({"better": better, "worse": worse,
                          "probability": statistics.improvement([groups[better]], [groups[worse]]),
                          "interval": bootstrap(statistics.improvement, [groups[better]], [groups[worse]])})
    return found


def normalized(run: Run, score: float | None) -> float | None:
    """The human-normalized score; None for a game without published scores, or whose options are changed."""
    row = published(run.game, run.config.get("env", {}).get("options") or {})
    return None if row is None or score is None else row.normalized(score)


def between(interval: Sequence[float] | None) -> str:
    """An interval as text: "12.5 to 14"; "-" for None."""
    return "-" if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def sentence(pair: Mapping[str, Any]) -> str:
    """An entry of `improvements` as a line of text."""
    known = (f"no interval: it needs {FEWEST} runs or more of each" if pair["interval"] is None else
             f"95% interval {between(pair['interval'])}")
    return (f"probability that a run with {pair['better']} beats one with {pair['worse']}: {number(pair['probability'])} "
            f"({known})")


def warnings(runs: Sequence[Run]) -> list[str]:
    """A line if the runs were evaluated under different protocols, and one if the game of one name is in different files."""
    protocols = sorted({run.protocol for run in runs if run.evaluations})
    if len(protocols) < 2:
        return _other_files(runs)
    return [f"careful: the evaluations have {len(protocols)} protocols, so their scores do not compare: evaluate each run "
            f"under the same one with `{program_name()} eval RUN --sticky P --noop-max N`", *_other_files(runs)]


def _other_files(runs: Sequence[Run]) -> list[str]:
    games = list(dict.fromkeys(run.game for run in runs))
    if len(games) < 2:
        return []
    return [f"careful: {games[0].short} is {' and '.join(games)}: their scores compare only if it is the same game"]


def notes(runs: Sequence[Run]) -> list[str]:
    """Lines below a table of statistics: the score that they are of, its protocol, and the source of published scores."""
    lines = [{"evaluation": "statistics of the mean score of each run's evaluation", "score": "statistics of each run's recent "
              "episodes of the training, since not every run has an evaluation"}[score_of(runs)]]
    if score_of(runs) == "evaluation":
        lines[0] += ": " + "; ".join(sorted({run.protocol for run in runs}))
    lines += warnings(runs) if score_of(runs) == "evaluation" else _other_files(runs)
    if any(normalized(run, 0.0) is not None for run in runs):
        lines.append(f"human: 0 for random play, 1 for the human of {SOURCE}")
    return lines
