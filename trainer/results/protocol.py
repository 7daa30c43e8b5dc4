"""The protocol of an evaluation: everything that decides about its scores besides the agent and the seed.

Machado et al. (2018), arXiv:1709.06009, on evaluations in ALE: sticky actions with a probability of 0.25, episodes that end at
game over and not at a lost life, and raw scores. Here scores are always raw and episodes whole; sticky actions are a setting.
"""

from typing import Any

STICKY = (0.0, 0.25)  # the probabilities that a publication gives side by side
UNKNOWN = "sampled or greedy actions, by an earlier version that did not note which"


def protocol(*, greedy: bool, sticky: float | None, frame_skip: int | None, time_limit: int | None) -> dict[str, Any]:
    """The protocol, ready for JSON.

    time_limit: steps after which an episode is truncated.
    sticky, frame_skip, time_limit: None for a Gymnasium environment, which has its own.
    """
    return {"actions": "greedy" if greedy else "sampled", "sticky": sticky, "frame_skip": frame_skip, "time_limit": time_limit,
            "scores": "raw", "end": "game over"}


def text(summary: dict[str, Any]) -> str:
    """The protocol of an evaluation in words. summary: of an evaluation.json, also one of an earlier version."""
    used = summary.get("protocol")
    if used is None:
        return UNKNOWN
    sticky, limit = used["sticky"], used["time_limit"]
    actions = "the environment's own repeated actions" if sticky is None else f"sticky {sticky:g}"
    return f"{used['actions']} actions, {actions}, raw scores to game over{f' or step {limit:,}' if limit else ''}"


def every(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """All evaluations of an evaluation.json: the main one, and those with greedy or with other sticky actions."""
    return [summary, *summary.get("others", [])]
