"""What a policy chooses in one step, and its way to the environment.

    Discrete                    one of A actions: an int32
    MultiDiscrete, MultiBinary  one choice for each of M heads: M int32
    Box                         D float32. From -1 to 1 they cover the bounds of the space; beyond, they are clipped

A Box without bounds in a dimension (or with bounds above UNBOUNDED) takes the policy's number there as it is, clipped to a
bound if there is one. Only the environment gets scaled and clipped numbers: rollouts keep the policy's own.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

UNBOUNDED = 1e6  # a dimension with a larger bound is not scaled

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Actions:
    """The actions of one environment.

    kind: of the space.
    sizes: number of choices of each head; () for a Box.
    start: the environment's number of the first choice of each head; () for a Box.
    low, high: the bounds of a Box, D numbers each; () for choices.
    shape: of the environment's action.
    dtype: of the environment's action; for Discrete int32, and int64 for numbers that do not fit.
    """

    kind: Literal["discrete", "multi_discrete", "box"]
    sizes: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    shape: tuple[int, ...] = ()
    dtype: str = "int32"

    @property
    def columns(self) -> int:
        """Outputs of the policy for an action: logits of all heads, or D means."""
        return sum(self.sizes) or len(self.low)

    @property
    def row(self) -> tuple[int, ...]:
        """The shape of an action as the policy chooses it."""
        return {"discrete": (), "multi_discrete": (len(self.sizes),), "box": (len(self.low),)}[self.kind]

    @property
    def row_dtype(self) -> str:
        """The dtype of an action as the policy chooses it."""
        return "float32" if self.kind == "box" else "int32"

    @property
    def scale(self) -> tuple[Array, Array]:
        """The shift and the factor of each dimension of a Box, float64."""
        low, high = np.array(self.low), np.array(self.high)
        bounded = np.maximum(np.abs(low), np.abs(high)) <= UNBOUNDED
        low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        return (low + high) / 2, (high - low) / 2

    def to_environment(self, rows: Array) -> Array:
        """The actions (B, *shape) of environments for actions of the policy (B, *row)."""
        given: Array
        if self.kind == "discrete":
            return rows.astype(self.dtype, copy=False) + self.start[0]
        if self.kind == "multi_discrete":
            given = rows + np.array(self.start)
        else:
            shift, factor = self.scale
            given = np.clip(shift + factor * rows, self.low, self.high)
        return given.reshape(-1, *self.shape).astype(self.dtype)


def discrete(count: int, start: int = 0) -> Actions:
    """One of `count` actions."""
    fits = -(1 << 31) <= start <= (1 << 31) - count
    return Actions("discrete", (count,), (start,), dtype="int32" if fits else "int64")


def actions_of(space: spaces.Space[Any]) -> Actions:
    """The actions of a space of Gymnasium. Raises ValueError if the pipeline has none for it."""
    if isinstance(space, spaces.Discrete):
        return discrete(int(space.n), int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        sizes, start = (tuple(map(int, part.reshape(-1))) for part in (space.nvec, space.start))
        return Actions("multi_discrete", sizes, start, shape=space.shape, dtype=str(space.dtype))
    if isinstance(space, spaces.MultiBinary):
        count = int(np.prod(space.shape))
        return Actions("multi_discrete", (2,) * count, (0,) * count, shape=space.shape, dtype=str(space.dtype))
    if isinstance(space, spaces.Box) and space.dtype.kind == "f" and space.shape != (0,):
        low, high = (tuple(map(float, bound.reshape(-1))) for bound in (space.low, space.high))
        return Actions("box", low=low, high=high, shape=space.shape, dtype=str(space.dtype))
    raise ValueError(f"actions must be Discrete, MultiDiscrete, MultiBinary or a Box of floats, not {space}: wrap the "
                     "environment in gymnasium.wrappers.TransformAction, which turns one of these into its own actions")
