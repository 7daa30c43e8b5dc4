"""Checks of arguments, before the compiled code uses them.

Each check returns the value in the form for the engine, or raises InvalidArgument: the message names the argument,
states the requirement and gives the value.
"""

import itertools
import math
import operator
import secrets
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from envs_c.errors import InvalidArgument
from envs_c.machine import free_memory
from envs_c.numbers import BOOLEANS, INTEGERS, NUMBERS, is_boolean
from envs_c.text import shown
from envs_c.views import VIEWS, View, of_game

SEED_MAX = (1 << 64) - 1
LARGEST = float(np.finfo(np.float32).max)
UNITS = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))


def boolean(name: str, value) -> bool:
    """True or False; 1 and 0 are accepted."""
    if not isinstance(value, BOOLEANS + INTEGERS) or value not in (0, 1):
        raise InvalidArgument(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def mapping(name: str, value) -> dict:
    """A dict, or {} for None."""
    if value is not None and not isinstance(value, Mapping):
        raise InvalidArgument(f"{name} must be a dict or None, not {shown(value)}")
    return {} if value is None else value


def integer(name: str, value, low: int, high: int) -> int:
    """An integer from low to high. Bools and floats are refused."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or is_boolean(value) or not low <= number <= high:
        raise InvalidArgument(f"{name} must be an integer from {low:,} to {high:,}, not {shown(value)}")
    return number


def number(name: str, value, low: float, high: float) -> float:
    """A number from low to high. Bools are refused."""
    numeric = isinstance(value, NUMBERS) and not is_boolean(value)
    if not numeric or not low <= value <= high:
        raise InvalidArgument(f"{name} must be a number from {low:g} to {high:g}, not {shown(value)}")
    return float(value)


def choice(name: str, value, choices: tuple[str, ...]) -> str:
    """One of `choices`, or a member of an enum with such a value (Gymnasium's AutoresetMode, for example)."""
    text = getattr(value, "value", value)
    if isinstance(text, str):
        text = text.lower().replace("-", "_").replace("nextstep", "next_step").replace("samestep", "same_step")
    if not isinstance(text, str) or text not in choices:
        raise InvalidArgument(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}")
    return text


def view(value, game) -> str:
    """The name of a view that the game has."""
    if isinstance(value, str) and value in VIEWS and VIEWS[value] not in of_game(game):
        raise InvalidArgument(f"view must be one of {', '.join(repr(one.name) for one in of_game(game))} for {game.name}, not "
                              f"{shown(value)}: only a cartridge of the console has a RAM")
    return choice("view", value, tuple(one.name for one in of_game(game)))


def picture_size(value, view: View, screen: tuple[int, int], small: int) -> tuple[int, int] | None:
    """(height, width) of a view's pictures; None under a view without.

    value: an integer for squares, a pair, or None: the whole screen, or `small`, as the view says.
    screen: (width, height) of the game's screen.
    """
    if view.picture is None:
        if value is not None:
            raise InvalidArgument(f"picture_size must be None under view {view.name!r}, not {shown(value)}: it is for pictures")
        return None
    if value is None:
        return (screen[1], screen[0]) if view.picture.whole else (small, small)
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    try:
        height, width = (integer("picture_size", side, 1, 1024) for side in pair)
    except ValueError as error:  # another number of sides, or one that does not fit
        raise InvalidArgument("picture_size must be an integer from 1 to 1,024 for square pictures, or (height, width), not "
                              f"{shown(value)}") from error
    return height, width


def frame_skip(value, name: str = "frame_skip") -> int | tuple[int, int]:
    """Frames of a step: an integer, or (low, high) for a random number from low to high - 1."""
    if not isinstance(value, (tuple, list)):
        return integer(name, value, 1, 1000)
    try:
        low, high = (integer(name, bound, 1, 1001) for bound in value)
        fits = low < high
    except ValueError:
        fits = False
    if not fits:
        raise InvalidArgument(f"{name} must be an integer from 1 to 1,000, or (low, high) with 1 <= low < high <= 1,001 for "
                              f"a random number from low to high - 1, not {shown(value)}")
    return low, high


def life_setting(name: str, value, game) -> bool:
    """True or False; True only for games with lives."""
    if boolean(name, value) and not game.has_lives:
        raise InvalidArgument(f"{name} must be False, not {shown(value)}: {game.name} has no lives")
    return bool(value)


def noop_max(value, game: str, actions: tuple[str, ...]) -> int:
    """The most frames of NOOP at an episode's start; 0 unless the game's first action is NOOP."""
    frames = integer("noop_max", value, 0, 10_000)
    if frames and actions[0] != "NOOP":
        raise InvalidArgument(f"noop_max must be 0, not {frames}: the first action of {game} is {actions[0]}, "
                              "not NOOP")
    return frames


def time_limit(value, game) -> int:
    """Steps before truncation. None is the game's default; 0 is no limit."""
    return integer("time_limit", (game.time_limit or 0) if value is None else value, 0, 1 << 30)


def reward_clip(value) -> tuple[float, float]:
    """The bounds of clipped rewards: from None (no bounds), c >= 0 (for [-c, c]) or a pair (low, high)."""
    if value is None:
        return -math.inf, math.inf
    try:
        low, high = value if isinstance(value, (tuple, list)) else (-value, value)
        numeric = all(isinstance(bound, NUMBERS) and not is_boolean(bound) for bound in (low, high))
        fits = numeric and not is_boolean(value) and float(low) <= float(high)
        fits = fits and float(low) <= LARGEST and float(high) >= -LARGEST
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise InvalidArgument("reward_clip must be None, a number c >= 0 for [-c, c], or a pair (low, high) with low <= high, "
                              f"low at most {LARGEST:.5g} and high at least {-LARGEST:.5g}, the ends of float32, not "
                              f"{shown(value)}")
    return float(low), float(high)


def is_sequence(seed) -> bool:
    """True if `seed` has an entry for each environment: a sequence that is no text, or an array or tensor with an axis."""
    if isinstance(seed, Sequence):
        return not isinstance(seed, (str, bytes, bytearray, memoryview))
    return hasattr(seed, "__array__") and getattr(seed, "ndim", 0) > 0


def common_seed(seed) -> int | None:
    """The integer that seeds all environments, as Python's; None if there is none, or one for each environment."""
    return None if seed is None or is_sequence(seed) else integer("seed", seed, 0, SEED_MAX)


def seeds(seed, num_envs: int, first: int = 0) -> Iterable[tuple[int, int] | None]:
    """(key, index) of every environment's random generator, in their order; None for generators to leave alone.

    seed: as for `VecEnv.seed`.
    first: the number of the first environment.
    """
    if seed is None:
        seed = secrets.randbits(63)
    refuse_masked("seed", seed)
    if is_sequence(seed):
        if not isinstance(seed, Sequence):
            seed = array_of("seed", seed, f"be an integer from 0 to {SEED_MAX:,}, or one for each environment")
        if len(seed) != num_envs:
            raise InvalidArgument(f"seed must have one entry for each of the {num_envs} environments; it has {len(seed)} "
                                  "entries")
        return [None if s is None else (integer(f"seed[{i}]", s, 0, SEED_MAX), 0) for i, s in enumerate(seed)]
    key = integer("seed", seed, 0, SEED_MAX)
    return ((key, first + i) for i in range(num_envs))


def rows(indices, num_envs: int) -> Sequence[int]:
    """Indices of environments, each in range and listed once; None is all of them."""
    if indices is None:
        return range(num_envs)
    listed = array_of("indices", indices, "list environments").reshape(-1).tolist()
    picked = [integer("an environment's index", i, 0, num_envs - 1) for i in listed]
    if len(set(picked)) != len(picked) or not picked:
        raise InvalidArgument(f"indices must list one environment or more, each once, not {shown(picked)}")
    return picked


def refuse_masked(name: str, value) -> None:
    """Raise InvalidArgument for a masked array: its mask would be ignored."""
    if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
        raise InvalidArgument(f"{name} must be a plain array, not a masked one, whose mask would be ignored: pass its filled()")


def array_of(name: str, value, requirement: str) -> np.ndarray:
    """The NumPy array of a list, an array or a tensor on the CPU.

    requirement: the rest of the message, such as "be integers of shape (4,)".
    """
    refuse_masked(name, value)
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # lists of several lengths; a tensor with a gradient or on a GPU
        parts = value if isinstance(value, (list, tuple)) else [value]
        advice = f", and a tensor is passed as {name}.detach().cpu()" if any(hasattr(part, "detach") for part in parts) else ""
        given = f"a {type(value).__name__} ({error})" if advice else shown(value)
        raise InvalidArgument(f"{name} must {requirement}, not {given}{advice}") from error


def mask(name: str, value, count: int) -> np.ndarray:
    """A (count,) bool array with at least one True."""
    refuse_masked(name, value)
    if not isinstance(value, np.ndarray) or value.dtype != np.bool_ or value.shape != (count,) or not value.any():
        given = f"a {value.dtype} array of shape {value.shape}" if isinstance(value, np.ndarray) else shown(value)
        if isinstance(value, np.ndarray) and value.dtype == np.bool_ and not value.any():
            given += " without a True"
        raise InvalidArgument(f"{name} must be a bool NumPy array of shape ({count},) with at least one True, not {given}")
    return np.ascontiguousarray(value)


def address(name: str, array, shape: tuple, dtype, writable: bool = True) -> int:
    """The address of a buffer's first byte, after a check of type, shape, dtype, memory order, alignment and write access."""
    dtype = np.dtype(dtype)
    kind = "aligned, C-contiguous, writable" if writable else "aligned, C-contiguous"
    required = f"buffer {name} must be an {kind} NumPy array of shape {shape} and dtype {dtype}"
    refuse_masked(f"buffer {name}", array)
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"{required}, not a {type(array).__name__}")
    if array.shape != shape or array.dtype != dtype:
        raise InvalidArgument(f"{required}; it has shape {array.shape} and dtype {array.dtype}")
    if not array.flags.c_contiguous:
        raise InvalidArgument(f"{required}; it is not C-contiguous (its strides are {array.strides})")
    if not array.flags.aligned:
        raise InvalidArgument(f"{required}; its address is not a multiple of {dtype.alignment}")
    if writable and not array.flags.writeable:
        raise InvalidArgument(f"{required}; it is read-only")
    return array.ctypes.data


class Memory:
    """The memory that something will take, checked before it is allocated: the system may end a process that takes too much.

    what: for the message; it is followed by "need".
    parts: name -> bytes.

    Raises MemoryError if this machine has less memory free.
    """

    def __init__(self, what: str, parts: dict[str, int]):
        self.what, self.parts = what, {name: int(size) for name, size in parts.items() if size}
        free = free_memory()
        if free is not None and sum(self.parts.values()) > free:
            raise self.error(f"{in_words(free)} are free")

    def error(self, reason: str) -> MemoryError:
        """The error with the sizes."""
        total, parts = sum(self.parts.values()), ", ".join(f"{name} {in_words(size)}" for name, size in self.parts.items())
        return MemoryError(f"{self.what} need {in_words(total)} of memory ({parts}), but {reason}: make fewer")


def in_words(size: int) -> str:
    """A number of bytes as text: 705.6 MB."""
    unit, name = next(row for row in reversed(UNITS) if size >= row[0] or row == UNITS[0])
    return f"{size / unit:,.1f} {name}"


def apart(buffers: dict):
    """Raise InvalidArgument if two of these arrays share memory. None stands for a buffer that is not given.

    buffers: name -> C-contiguous array.
    """
    spans = sorted((array.ctypes.data, array.nbytes, name) for name, array in buffers.items() if array is not None)
    for (start, size, name), (after, _, other) in itertools.pairwise(spans):
        if start + size > after:
            raise InvalidArgument(f"buffers {name} and {other} must not overlap, but they share memory: give each an array of "
                                  "its own")


def actions(value, num_envs: int) -> np.ndarray:
    """Actions as an (N,) array of integers of any width. Their range is checked by the engine."""
    array = array_of("actions", value, f"be integers of shape ({num_envs},)")
    if array.shape != (num_envs,) or array.dtype.kind not in "iu":
        raise InvalidArgument(f"actions must be integers of shape ({num_envs},), one for each environment, not {array.dtype} "
                              f"of shape {array.shape}: {shown(value)}")
    return array


def wrong_action(game: str, actions: tuple[str, ...], index: int, value: int) -> str:
    """The error message for an unknown action."""
    names = f" ({', '.join(f'{i} {name}' for i, name in enumerate(actions))})" if len(actions) <= 18 else ""
    return (f"the action of environment {index} must be from 0 to {len(actions) - 1}{names} in {game}, not {value}; no "
            "environment was stepped")
