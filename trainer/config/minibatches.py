"""Sizes of minibatches that fit a rollout: whole sequences that divide it evenly."""

import math

_NAMED = 10  # sizes that an error names at most


def fitting_minibatches(num_envs: int, horizon: int, ranks: int = 1) -> list[int]:
    """Sizes in steps, ascending: `horizon` times a number of sequences that divides num_envs.

    ranks: number of processes that share each minibatch; it must divide the sequences.
    """
    return [count * horizon for count in range(ranks, num_envs + 1, ranks) if num_envs % count == 0]


def nearest_minibatch(num_envs: int, horizon: int, wanted: int) -> int:
    """The size that fits and is nearest to `wanted` by its ratio."""
    return min(fitting_minibatches(num_envs, horizon), key=_distance(wanted))


def named_minibatches(num_envs: int, horizon: int, wanted: int, ranks: int = 1) -> list[int]:
    """The sizes that fit and are nearest to `wanted`, ascending, as many as an error message names."""
    return sorted(sorted(fitting_minibatches(num_envs, horizon, ranks), key=_distance(wanted))[:_NAMED])


def _distance(wanted: int):
    return lambda size: abs(math.log(size / wanted))
