"""evaluation.json of a run: the scores of its evaluations, each with its protocol.

A protocol is everything that decides about the scores besides the agent and the seed. Machado et al. (2018), arXiv:1709.06009,
on evaluations in ALE: sticky actions with a probability of 0.25, episodes that end at game over and not at a lost life, and raw
scores. Here scores are always raw and episodes whole; sticky actions are a setting.

"step" is that of the evaluated checkpoint; files of earlier versions do not have it.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from envs_c.numbers import is_stored
from trainer.errors import RunError
from trainer.files import read_json

EVALUATION = "evaluation.json"
UNKNOWN = "sampled or greedy actions, by an earlier version that did not note which"
JUDGMENTS = 20  # of a training at most, evenly spread over its steps; sweeps compare their trials at these steps
JUDGED = "score_judged"  # the metric: the mean raw return of a judgment's episodes, see trainer/training/judge.py
RECENT = 256  # episodes of a training, the newest ones, whose mean is its score_mean
_NUMBERS = ("mean", "standard_error", "median", "min", "max", "mean_length", "truncated", "film_score")


def enough(num_envs: int) -> int:
    """Episodes that must have ended before score_mean may be a record: RECENT, or fewer if there are fewer environments.

    The mean of the first few would be a record of luck, and of short episodes.
    """
    return min(RECENT, num_envs)


def protocol(*, greedy: bool, sticky: float | None, noop_max: int | None, frame_skip: int | None,
             time_limit: int | None) -> dict[str, Any]:
    """A protocol, ready for JSON.

    noop_max: most frames of NOOP at the start of an episode.
    time_limit: steps after which an episode is truncated.
    sticky, noop_max, frame_skip, time_limit: None for a Gymnasium environment, which has its own.
    """
    return {"actions": "greedy" if greedy else "sampled", "sticky": sticky, "noop_max": noop_max, "frame_skip": frame_skip,
            "time_limit": time_limit, "scores": "raw", "end": "game over"}


def text(summary: dict[str, Any]) -> str:
    """The protocol of an evaluation in words. summary: also one of an earlier version, without a protocol."""
    used = summary.get("protocol")
    if used is None:
        return UNKNOWN
    sticky, limit = used["sticky"], used["time_limit"]
    start = "the environment's own repeated actions" if sticky is None else f"sticky {sticky:g}, {no_ops(used)}"
    return f"{used['actions']} actions, {start}, raw scores to game over{f' or step {limit:,}' if limit else ''}"


def no_ops(used: dict[str, Any]) -> str:
    """The no-ops at the start of an episode in words: "0 no-ops" or "up to 30 no-ops". used: a protocol of our own games.

    Protocols of earlier versions do not have their number; `read_evaluations` adds it.
    """
    most = used.get("noop_max") or 0
    return f"up to {most} no-ops" if most else "0 no-ops"


def every(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """All evaluations of an evaluation.json: the main one, and those with greedy or with other sticky actions."""
    return [summary, *summary.get("others", [])]


def read_evaluations(folder: Path, noop_max: int = 0) -> list[dict[str, Any]]:
    """The evaluations of the run in `folder`, the main one first; [] without the file. Raises RunError if it is damaged or
    cannot be read.

    noop_max: the run's setting, with which earlier versions evaluated it; their protocols do not have it.
    """
    path = folder / EVALUATION
    try:
        found = every(read_json(path))
        valid = all(map(_is_valid, found))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror or error}; let your user read it, or move it away") from None
    except (ValueError, TypeError, AttributeError):
        valid = False
    if not valid:
        raise RunError(f"{path} is damaged; move it away")
    return [noted(one, noop_max) for one in found]


def is_of_another_step(summary: dict[str, Any], steps: Collection[int]) -> bool:
    """True if an evaluation is of another step than the last checkpoint: the run went on, or went on from before it.

    summary: the main one of an evaluation.json.
    steps: of the run's checkpoints; without one, and without a step in the summary, the evaluation counts.
    """
    return "step" in summary and summary["step"] != max(steps, default=summary["step"])


def noted(summary: dict[str, Any], noop_max: int) -> dict[str, Any]:
    """The summary of an evaluation whose protocol has noop_max: this one, if it was not noted."""
    used = summary.get("protocol")
    if used is None or used["sticky"] is None or "noop_max" in used:
        return summary
    return summary | {"protocol": used | {"noop_max": noop_max}}


def _is_valid(summary: Any) -> bool:
    """True if a summary has a mean, and of the other numbers only such that can be computed with."""
    if not isinstance(summary, dict) or not is_stored(summary.get("mean")):
        return False
    interval, used, step = summary.get("mean_interval"), summary.get("protocol"), summary.get("step", 0)
    return (type(step) is int and 0 <= step < 2**63
            and all(name not in summary or is_stored(summary[name]) for name in _NUMBERS)
            and (interval is None or (isinstance(interval, list) and len(interval) == 2 and all(map(is_stored, interval))))
            and (used is None or _is_protocol(used)))


def _is_protocol(used: Any) -> bool:
    return (isinstance(used, dict) and used.get("actions") in ("sampled", "greedy") and {"sticky", "time_limit"} <= used.keys()
            and (used["sticky"] is None or is_stored(used["sticky"]))
            and (used.get("noop_max") is None or type(used["noop_max"]) is int)
            and (used["time_limit"] is None or type(used["time_limit"]) is int))
