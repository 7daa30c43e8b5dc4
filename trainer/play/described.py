"""Evaluations as text: a small table, with a row for each."""

from typing import Any

from trainer.log.text import plain
from trainer.runs.evaluation import every, text

_COLUMNS = ("actions", "sticky", "no-ops", "episodes", "mean", "95% interval", "median", "min", "max", "length", "truncated")


def describe(summary: dict[str, Any]) -> str:
    """A heading with the rules of the scores, and a table of all evaluations in a summary of `evaluate.together`.

    no-ops is the most frames of NOOP at the start of an episode, length the mean number of its steps, truncated the
    number of episodes that a limit of steps ended. Episodes that are equal count once in the interval, and are then named.
    """
    return "\n".join([f"evaluation: {_rules(summary)}", *plain(_COLUMNS, [_row(one) for one in every(summary)], _COLUMNS[1:])])


def _rules(summary: dict[str, Any]) -> str:
    """What the scores of all rows are."""
    used = summary.get("protocol")
    return text(summary) if used is None else f"raw scores to game over{_limit(used['time_limit'])}"


def _limit(steps: int | None) -> str:
    return f" or step {steps:,}" if steps else ""


def _row(summary: dict[str, Any]) -> list[str]:
    """The cells of one evaluation."""
    used = summary.get("protocol") or {"actions": "unknown", "sticky": None}
    own = used["sticky"] is None
    sticky, no_ops = ("own", "own") if own else (f"{used['sticky']:g}", str(used.get("noop_max") or 0))
    low_high, episodes, different = summary["mean_interval"], summary["episodes"], summary["different_episodes"]
    return [used["actions"], sticky, no_ops, f"{episodes}" if different == episodes else f"{episodes} ({different} different)",
            f"{summary['mean']:.4g}", "of one: none" if low_high is None else f"{low_high[0]:.4g} to {low_high[1]:.4g}",
            f"{summary['median']:.4g}", f"{summary['min']:g}", f"{summary['max']:g}", f"{summary['mean_length']:.0f}",
            str(summary["truncated"])]
