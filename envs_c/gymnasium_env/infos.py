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


def add_last(infos: dict, over, statistics: dict, observations, masks):
    """Add the last observations and infos of the episodes that ended in this step, as Gymnasium's "same_step" has them.

    over: (N,) bool, the environments of these episodes.
    observations: (N, *shape).
    masks: (N, num_actions) uint8, or None if the game has no illegal moves.
    """
    infos["final_obs"] = np.full(len(over), None, dtype=object)
    for i in np.flatnonzero(over):
        infos["final_obs"][i] = observations[i].copy()
    infos["final_info"] = {STATS: statistics, f"_{STATS}": over.copy()}
    if masks is not None:
        infos["final_info"].update(action_mask=masks.view(np.int8).copy(), _action_mask=over.copy())
    infos["_final_obs"], infos["_final_info"] = over.copy(), over.copy()


def first(infos: dict) -> dict:
    """Environment 0's part of a vector environment's infos."""
    return {key: first(value) if isinstance(value, dict) else value[0]
            for key, value in infos.items() if not key.startswith("_")}
