"""The infos of a vector environment's step: the statistics of ended episodes, and the last observations under "same_step"."""

import numpy as np

STATS = "episode_stats"  # the key of the statistics; Gymnasium's RecordEpisodeStatistics writes to "episode"


def episode(core, over, seconds, rows=slice(None)) -> dict:
    """The statistics of the episodes that ended in the last step of `core`, a VecEnv; zeros in the other environments.

    over: (N,) bool, the environments of these episodes.
    seconds: (N,) float64, their durations.
    rows: the N environments, if they are not all of `core`.
    """
    return {"r": np.where(over, core.ended_return[rows], 0.0), "l": np.where(over, core.ended_length[rows], 0),
            "t": np.where(over, np.round(seconds, 6), 0.0)}


def add_ends(infos: dict, over, statistics: dict):
    """Add the statistics of the episodes that ended in this step. over: (N,) bool, their environments."""
    infos[STATS], infos[f"_{STATS}"] = statistics, over.copy()


def add_lives(infos: dict, lives, rows):
    """Add the lives left, (N,) int32; None in a game without lives. rows: (N,) bool, the environments that have them."""
    if lives is not None:
        infos["lives"], infos["_lives"] = lives.copy(), rows


def row_of(observations, i: int):
    """Environment i's observation. observations: (N, ...), or a dict of such."""
    return {name: part[i] for name, part in observations.items()} if isinstance(observations, dict) else observations[i]


def copied(observations):
    """A copy of observations, an array or a dict of arrays."""
    return {name: part.copy() for name, part in observations.items()} if isinstance(observations, dict) else observations.copy()


def add_last(infos: dict, over, statistics: dict, observations, action_mask, lives=None):
    """Add the last observations and infos of the episodes that ended in this step, as Gymnasium's "same_step" has them.

    over: (N,) bool, the environments of these episodes.
    observations: (N, *shape), or a dict of such.
    action_mask: (N, num_actions) uint8, or None if the game has no illegal moves.
    lives: (N,) int32, the lives left at the episodes' ends, or None if the game has none.
    """
    infos["final_obs"] = np.full(len(over), None, dtype=object)
    for i in np.flatnonzero(over):
        infos["final_obs"][i] = copied(row_of(observations, i))
    infos["final_info"] = {STATS: statistics, f"_{STATS}": over.copy()}
    add_lives(infos["final_info"], lives, over.copy())
    if action_mask is not None:
        infos["final_info"].update(action_mask=action_mask.view(np.int8).copy(), _action_mask=over.copy())
    infos["_final_obs"], infos["_final_info"] = over.copy(), over.copy()


def add_lost(infos: dict, lost, observations):
    """Add the observations after lost lives that are reported as ends: the present ones, since the episodes go on.

    lost: (N,) bool, the environments of these lives.
    observations: (N, *shape), or a dict of such.
    """
    if not lost.any():
        return
    infos.setdefault("final_obs", np.full(len(lost), None, dtype=object))
    for i in np.flatnonzero(lost):
        infos["final_obs"][i] = copied(row_of(observations, i))
    infos["_final_obs"] = lost | infos.get("_final_obs", False)


def first(infos: dict) -> dict:
    """Environment 0's part of a vector environment's infos."""
    info = {key: first(value) if isinstance(value, dict) else value[0]
            for key, value in infos.items() if not key.startswith("_")}
    if "lives" in info:
        info["lives"] = int(info["lives"])  # as ale-py has it
    return info
