"""Sizes of minibatches for a rollout: whole sequences, and an even division of the rollout."""

import math

_NAMED = 10  # the most sizes in an error message


def fitting_minibatches(num_envs: int, horizon: int, ranks: int = 1) -> list[int]:
    """Sizes in steps, ascending: `horizon` times a divisor of num_envs.

    ranks: processes sharing each minibatch; their number divides its sequences.
    """
    return [count * horizon for count in range(ranks, num_envs + 1, ranks) if num_envs % count == 0]


def nearest_minibatch(num_envs: int, horizon: int, wanted: int) -> int:
    """The fitting size nearest to `wanted` by its ratio."""
    return min(fitting_minibatches(num_envs, horizon), key=_distance(wanted))


def named_minibatches(num_envs: int, horizon: int, wanted: int, ranks: int = 1) -> list[int]:
    """The fitting sizes nearest to `wanted`, ascending, for an error message."""
    return sorted(sorted(fitting_minibatches(num_envs, horizon, ranks), key=_distance(wanted))[:_NAMED])


def _distance(wanted: int):
    return lambda size: abs(math.log(size / wanted))
