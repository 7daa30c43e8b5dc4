"""The spaces of observations, of one environment and of N."""

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from envs_c.engine import checks
from envs_c.engine.vecenv import VecEnv
from envs_c.errors import InvalidArgument
from envs_c.views import VIEWS, Part, listed

BOUNDS = ("low", "high", "bounded_below", "bounded_above")


class BatchedBox(spaces.Box):
    """The space of N arrays, as Gymnasium's `batch_space` makes it, without N copies of the bounds.

    A bound is one environment's until it is asked for by its name: then it becomes an array of all N, which can be written.
    """

    def __init__(self, single: spaces.Box, num_envs: int):
        vars(self).update(vars(batch_space(single, 1)))
        self._shape = (num_envs, *single.shape)
        self._single = {name: vars(self).pop(name) for name in BOUNDS}

    def __getattr__(self, name: str):
        if name not in BOUNDS or "_single" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        bound = np.broadcast_to(self._single[name], self._shape).copy()
        setattr(self, name, bound)
        return bound

    def _thin(self) -> spaces.Box:
        """The same space as a plain Box, whose bounds are views that repeat one environment's, unless all N were made."""
        self.np_random  # noqa: B018, it is made by being asked for, and both spaces draw from it
        thin = spaces.Box.__new__(spaces.Box)
        repeated = {name: np.broadcast_to(bound, self._shape) for name, bound in self._single.items()}
        vars(thin).update({**repeated, **vars(self)})
        return thin

    def is_bounded(self, manner="both") -> bool:
        return self._thin().is_bounded(manner)

    def sample(self, mask=None, probability=None):
        return self._thin().sample(mask, probability)

    def contains(self, x) -> bool:
        return self._thin().contains(x)

    def __repr__(self) -> str:
        return repr(self._thin())

    def __eq__(self, other) -> bool:
        return self._thin() == (other._thin() if isinstance(other, BatchedBox) else other)

    __hash__ = None


def batched(single: spaces.Box | spaces.Dict, num_envs: int) -> spaces.Box | spaces.Dict:
    """The space of N observations, as Gymnasium's `batch_space` makes it."""
    if isinstance(single, spaces.Dict):
        return spaces.Dict({name: batched(part, num_envs) for name, part in single.items()})
    return BatchedBox(single, num_envs)


def shape_of(part: Part, shape: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape of one array of an observation, from the engine's: with `keepdim` a grey picture has an axis of one channel."""
    return (*shape, 1) if keepdim and part.channels == 1 else shape


def observation_space(core: VecEnv, frame_stack: int, keepdim: bool) -> spaces.Box | spaces.Dict:
    """The space of one environment's observations: a Dict if there is a picture beside the features, else a Box."""
    main, beside = VIEWS[core.view].main, VIEWS[core.view].beside
    if beside is None:
        return box(core, frame_stack, keepdim)
    picture = spaces.Box(0, 255, shape_of(beside, core.picture_shape, keepdim), np.uint8)
    return spaces.Dict({main.name: box(core, frame_stack, keepdim), beside.name: picture})


def box(core: VecEnv, frame_stack: int, keepdim: bool) -> spaces.Box:
    """The space of one environment's array of observations."""
    shape, dtype = shape_of(VIEWS[core.view].main, core.observation_shape, keepdim), core.observation_dtype
    low, high = (0, 255) if VIEWS[core.view].main.dtype == "uint8" else (core.feature_low, core.feature_high)
    if dtype == np.uint8:
        low, high = np.clip(low, 0, 255), np.clip(high, 0, 255)
    low, high = (np.broadcast_to(np.asarray(bound, dtype), shape) for bound in (low, high))
    if frame_stack > 1:
        # frames from before the episode's start are zeros, which may lie outside the game's bounds
        low, high = (np.stack([bound] * frame_stack) for bound in (np.minimum(low, 0), np.maximum(high, 0)))
    return spaces.Box(low, high, dtype=dtype.type)


def of_grey(name: str, value: bool, view: str, meaning: str) -> bool:
    """A setting of grey pictures, True or False. Raises InvalidArgument if it has no effect under this view."""
    wanted = checks.boolean(name, value)
    if wanted and not any(part.channels == 1 for part in VIEWS[view].parts):
        raise InvalidArgument(f"{name} must be False under view {view!r}, not True: {meaning}; leave it out, or choose view="
                              + listed(lambda view: any(part.channels == 1 for part in view.parts)))
    return wanted
