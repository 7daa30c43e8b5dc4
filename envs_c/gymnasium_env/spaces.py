"""The spaces of observations, of one environment and of N."""

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from envs_c.engine.vecenv import VecEnv
from envs_c.views import VIEWS


def batched(single: spaces.Box | spaces.Dict, num_envs: int) -> spaces.Box | spaces.Dict:
    """The space of N observations, as Gymnasium's `batch_space` makes it, without N copies of the bounds.

    The bounds are read-only views that repeat those of one observation.
    """
    if isinstance(single, spaces.Dict):
        return spaces.Dict({name: batched(part, num_envs) for name, part in single.items()})
    space = batch_space(single, 1)
    space._shape = (num_envs, *single.shape)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        setattr(space, name, np.broadcast_to(getattr(single, name), space._shape))
    return space


def observation_space(core: VecEnv, frame_stack: int) -> spaces.Box | spaces.Dict:
    """The space of one environment's observations: a Dict if there is a picture beside the features, else a Box."""
    main, beside = VIEWS[core.view].main, VIEWS[core.view].beside
    if beside is None:
        return box(core, frame_stack)
    return spaces.Dict({main.name: box(core, frame_stack), beside.name: spaces.Box(0, 255, core.picture_shape, np.uint8)})


def box(core: VecEnv, frame_stack: int) -> spaces.Box:
    """The space of one environment's array of observations."""
    shape, dtype = core.observation_shape, core.observation_dtype
    low, high = (0, 255) if VIEWS[core.view].main.dtype == "uint8" else (core.feature_low, core.feature_high)
    if dtype == np.uint8:
        low, high = np.clip(low, 0, 255), np.clip(high, 0, 255)
    low, high = (np.broadcast_to(np.asarray(bound, dtype), shape) for bound in (low, high))
    if frame_stack > 1:
        # frames from before the episode's start are zeros, which may lie outside the game's bounds
        low, high = (np.stack([bound] * frame_stack) for bound in (np.minimum(low, 0), np.maximum(high, 0)))
    return spaces.Box(low, high, dtype=dtype.type)
