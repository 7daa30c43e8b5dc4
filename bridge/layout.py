"""Layouts: a Gymnasium observation as one row of numbers, and the meaning of each number.

A Box alone keeps its shape, with the channels of a picture first. Any other observation, made of Box, Discrete, MultiDiscrete
and MultiBinary in Dict and Tuple, becomes a row: bytes if all its numbers are bytes, float32 otherwise. The row holds numbers
as the environment gave them; a `Part` for each space says how to read them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

MOST_KINDS = 2**14        # kinds in a row, all together: each becomes an input of the policy
LARGEST_BOUND = 2.0**16   # bounds above this are no scale
ACTION_MASK = "action_mask"  # the key of a Dict under which an environment gives its legal actions
CORRECT = ": correct the environment or its space"

Array: TypeAlias = npt.NDArray[Any]
Path: TypeAlias = tuple[str | int, ...]


class Part(NamedTuple):
    """The numbers of one space in an observation."""

    name: str                # its place, such as camera, arms.0, or "" for the whole observation
    shape: tuple[int, ...]   # of its numbers, the channels of a picture first
    scale: float             # factor that maps them to about -1 .. 1
    kinds: tuple[int, ...]   # if each number names one of several kinds: how many, for each number; else ()
    measured: bool           # True for floats and integers, which can be normalized; False for bytes, bits and kinds

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Layout:
    """The parts of a row, in their order."""

    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Numbers in a row."""
        return sum(part.size for part in self.parts)

    def columns(self) -> list[slice]:
        """The columns of each part in a row."""
        ends = np.cumsum([part.size for part in self.parts]).tolist()
        return [slice(end - part.size, end) for part, end in zip(self.parts, ends, strict=True)]

    def measured(self) -> list[bool]:
        """For each number of a row, whether it can be normalized."""
        return [part.measured for part in self.parts for _ in range(part.size)]

    def most_kinds(self) -> int:
        """The largest number of kinds of a number; 0 if none has kinds."""
        return max((kinds for part in self.parts for kinds in part.kinds), default=0)

    def normalized(self) -> "Layout":
        """The layout of rows whose measured numbers are normalized: these need no scale."""
        return Layout(tuple(part._replace(scale=1.0) if part.measured else part for part in self.parts))

    def to_list(self) -> list[dict[str, Any]]:
        """The parts as dicts, ready for JSON; `from_list` is the inverse."""
        return [part._asdict() for part in self.parts]

    @classmethod
    def from_list(cls, parts: Iterable[dict[str, Any]]) -> "Layout":
        """The inverse of `to_list`, also after JSON."""
        return cls(tuple(Part(**{**part, "shape": tuple(part["shape"]), "kinds": tuple(part["kinds"])}) for part in parts))


class WrongResult(ValueError):
    """An environment raised an error, or returned what is not in its space.

    problem: the rest of a sentence that begins with the environment.
    row: of the environment in its vector environment; None if it is unknown, or if it concerns all of them.
    """

    def __init__(self, problem: object, row: int | None = None) -> None:  # Gymnasium calls it with an error of a process
        super().__init__(str(problem))
        self.row = row


class Leaf(NamedTuple):
    """A space without further spaces in it, of one environment."""

    path: Path
    space: spaces.Space[Any]

    @property
    def name(self) -> str:
        return ".".join(map(str, self.path))

    def read(self, observation: Any, rows: tuple[int, ...] = ()) -> Array:
        """The numbers of this space in an observation, (*rows, *shape), without a copy.

        rows: (B,) for the observation of a vector environment of B; () for that of one environment.
        Raises WrongResult if they are missing, or if their shape or their type is wrong.
        """
        part = f"a {self.name} in its observation" if self.path else "an observation"
        try:
            for key in self.path:
                observation = observation[key]
        except (KeyError, IndexError, TypeError):
            raise WrongResult(f"returned an observation without {self.name}, which must be in {self.space}{CORRECT}") from None
        try:
            values = np.asarray(observation)
        except (TypeError, ValueError) as error:
            raise WrongResult(f"returned {part} that is no array of numbers ({error}), but it must be in {self.space}{CORRECT}"
                              ) from None
        shape, dtype = (*rows, *(self.space.shape or ())), self.space.dtype
        if values.shape != shape:
            raise WrongResult(f"returned {part} of shape {values.shape}, but it must have the shape {shape}, in {self.space}"
                              f"{CORRECT}")
        if values.dtype != dtype and not np.can_cast(values.dtype, dtype or float, "same_kind"):
            raise WrongResult(f"returned {part} of type {values.dtype}, but it must be {dtype}, in {self.space}{CORRECT}")
        return values


class Observations:
    """Reads the observations of vector environments.

    space: of one environment.
    plain: take only a Box, keep the order of its axes, and divide bytes by 255.

    Attributes:
    layout: of a row, or None for a Box that keeps its shape.
    shape, dtype: of one observation in the slab; dtype is uint8 or float32.
    scale: factor for a Box without layout.
    action_mask_size: number of actions in the mask under the key "action_mask" of a Dict, which is no part of the row; or 0.

    Raises ValueError for a space that is not made of the spaces above.
    """

    def __init__(self, space: spaces.Space[Any], plain: bool = False) -> None:
        if plain and not isinstance(space, spaces.Box):
            raise ValueError(f"observations must be a Box of numbers with --observations plain, not {space}")
        self.plain = plain
        leaves = leaves_of(space)
        self._action_mask = next((leaf for leaf in leaves if leaf.path == (ACTION_MASK,)), None)
        self._leaves = [leaf for leaf in leaves if leaf is not self._action_mask]
        if not self._leaves or not all(np.prod(leaf.space.shape, dtype=int) for leaf in self._leaves if leaf.space.shape):
            raise ValueError(f"observations must have at least one number in each part, not {space}")
        self.action_mask_size = 0 if self._action_mask is None else _action_mask_size(self._action_mask.space)
        parts = [_part(leaf, plain) for leaf in self._leaves]
        self._first = [_first_kind(leaf.space) for leaf in self._leaves]
        is_box = len(parts) == 1 and isinstance(self._leaves[0].space, spaces.Box)
        self.layout = None if is_box else Layout(tuple(parts))
        self.shape = parts[0].shape if self.layout is None else (self.layout.size,)
        self.scale = parts[0].scale if self.layout is None else 1.0
        if sum(kinds := [one for part in parts for one in part.kinds]) > MOST_KINDS:
            raise ValueError(f"observations must have at most {MOST_KINDS:,} values of Discrete and MultiDiscrete together, "
                             f"not {sum(kinds):,}: wrap the environment so that it returns a Box")
        fits = all(leaf.space.dtype == np.uint8 or _is_byte(leaf.space) for leaf in self._leaves)
        self.dtype = np.dtype("uint8" if fits else "float32")
        self._turned = [not plain and _channels_last(leaf.space) is not None for leaf in self._leaves]

    def write(self, observation: Any, host: Array) -> None:
        """Write the observations of B environments to `host`, (B, *shape). Raises WrongResult."""
        if self.layout is None:
            host[:] = np.reshape(self._read(0, observation, len(host)), host.shape)
            return
        for index, columns in enumerate(self.layout.columns()):
            values = self._read(index, observation, len(host))
            if self.layout.parts[index].kinds:
                values = self._kinds(index, values)
            host[:, columns] = np.reshape(values, (len(host), -1))

    def write_action_mask(self, observation: Any, over: Array, sizes: tuple[int, ...], host: Array) -> None:
        """Write the action masks of B environments to `host`, (B, action_mask_size). Raises WrongResult.

        over: (B,) bool, the episode has ended: no action needs to be legal, and the mask has no effect.
        sizes: the number of actions in each choice; of each at least one must be legal.
        """
        assert self._action_mask is not None
        host[:] = self._action_mask.read(observation, (len(host),)) != 0
        for end, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True):
            choice = host[:, end - size: end]
            empty = ~choice.any(1)
            choice[empty] = 1
            if (wrong := np.flatnonzero(empty & ~over)).size:
                raise WrongResult(f"returned an {ACTION_MASK} that allows none of {size} actions, but one must be legal until "
                                  f"the episode ends{CORRECT}", int(wrong[0]))

    def _read(self, index: int, observation: Any, count: int) -> Array:
        """The numbers of a part for `count` environments, the channels of pictures first."""
        values = self._leaves[index].read(observation, (count,))
        return np.moveaxis(values, -1, -3) if self._turned[index] else values

    def _kinds(self, index: int, values: Array) -> Array:
        """Numbers (B, n) of kinds, counted from 0."""
        first, kinds = self._first[index], np.array(self.layout.parts[index].kinds) if self.layout else np.zeros(0)
        values = np.reshape(values, (-1, len(kinds)))
        if ((values < first) | (values >= first + kinds)).any():
            row, column = np.argwhere((values < first) | (values >= first + kinds))[0].tolist()
            place = self._leaves[index].name
            raise WrongResult(f"returned {values[row, column]}{place and f' as {place}'} in its observation, which is not in "
                              f"{self._leaves[index].space}{CORRECT}", row)
        return values - first


def leaves_of(space: spaces.Space[Any]) -> list[Leaf]:
    """The spaces without further spaces in them. Raises ValueError for spaces that are not supported."""
    return [Leaf(path, leaf) for path, leaf in _leaves(space, ())]


def _leaves(space: spaces.Space[Any], path: Path) -> Iterator[tuple[Path, spaces.Space[Any]]]:
    """The paths and spaces without further spaces in them. Raises ValueError for spaces that are not supported."""
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        for key, inner in space.items() if isinstance(space, spaces.Dict) else enumerate(space):
            yield from _leaves(inner, (*path, key))
        return
    numbers = isinstance(space, spaces.Box) and space.dtype is not None and space.dtype.kind in "fiub"
    if not numbers and not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
        raise ValueError(f"observations must be Box, Discrete, MultiDiscrete or MultiBinary, or a Dict or Tuple of them, but "
                         f"{'.'.join(map(str, path)) or 'they'} {'is' if path else 'are'} {space}: "
                         + ("leave it out with gymnasium.wrappers.FilterObservation, or " if path else "")
                         + "turn it into numbers with gymnasium.wrappers.TransformObservation (--wrap MODULE:FUNCTION)")
    yield path, space


def _part(leaf: Leaf, plain: bool) -> Part:
    space = leaf.space
    if isinstance(space, spaces.Box):
        shape, is_bytes = space.shape, space.dtype == np.uint8
        if not plain and (axis := _channels_last(space)) is not None:
            shape = (*shape[:axis], shape[-1], *shape[axis:-1])
        if len(shape) == 3 and shape[0] == 1:  # a stack of one
            shape = shape[1:]
        scale = _scale(space) if not plain else 1 / 255 if is_bytes else 1.0
        return Part(leaf.name, shape, scale, (), measured=not is_bytes and space.dtype != np.bool_)
    if isinstance(space, spaces.MultiBinary):
        return Part(leaf.name, (int(np.prod(space.shape)),), 1.0, (), measured=False)
    kinds = _kinds_of(space)
    return Part(leaf.name, (len(kinds),), 1.0, kinds, measured=False)


def _kinds_of(space: spaces.Space[Any]) -> tuple[int, ...]:
    """The number of kinds of each number of a Discrete or a MultiDiscrete."""
    if isinstance(space, spaces.Discrete):
        return (int(space.n),)
    assert isinstance(space, spaces.MultiDiscrete)
    return tuple(np.ravel(space.nvec).tolist())


def _first_kind(space: spaces.Space[Any]) -> Array:
    """The smallest values of a Discrete or a MultiDiscrete, (n,); of others empty."""
    return np.ravel(space.start) if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)) else np.zeros(0)


def _is_byte(space: spaces.Space[Any]) -> bool:
    """True if all values of a space without further spaces, counted from its first kind, fit into a byte."""
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        return max(_kinds_of(space)) <= 256
    return isinstance(space, spaces.MultiBinary)


def _channels_last(space: spaces.Space[Any]) -> int | None:
    """The axis to which the last one belongs, if a Box has its channels last; else None.

    They are last if there are fewer of them than rows and columns, as in (64, 64, 3) and not in (3, 64, 64). A stack of such
    pictures has one more axis before.
    """
    shape = space.shape if isinstance(space, spaces.Box) else ()
    return len(shape) - 3 if shape and len(shape) in (3, 4) and shape[-1] < min(shape[-3:-1]) else None


def _scale(space: spaces.Box) -> float:
    """1 / the largest magnitude that the bounds allow, if they are the same for all numbers; otherwise 1. Of bytes also if
    they differ."""
    low, high = float(np.min(space.low)), float(np.max(space.high))
    if space.dtype == np.uint8:
        return 1 / high if high else 1.0
    largest, same = max(abs(low), abs(high)), bool((space.low == low).all() and (space.high == high).all())
    return 1 / largest if same and 1 < largest <= LARGEST_BOUND else 1.0


def _action_mask_size(space: spaces.Space[Any]) -> int:
    """The number of actions in a space of action masks. Raises ValueError."""
    shape = space.shape or ()
    bits = isinstance(space, spaces.MultiBinary) or (
        isinstance(space, spaces.Box) and np.min(space.low) >= 0 and np.max(space.high) <= 1)
    if not bits or len(shape) != 1:
        raise ValueError(f"the {ACTION_MASK} of observations must be MultiBinary(n), or a Box of shape (n,) from 0 to 1, for n "
                         f"actions, not {space}: give it another name if it is no mask")
    return int(shape[0])
