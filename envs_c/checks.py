"""Checks of what users hand in, and small tables made once: the slow, plain part of the engine.

Each check returns the value in the form that the engine wants or raises InvalidArgument with the thing's name, its
value and what it may be.
"""

import difflib
import json
import math
import operator
import os
import secrets
import zlib
from typing import NamedTuple

import numpy as np

from envs_c.errors import InvalidArgument, InvalidState

MAGIC_BYTES = 8  # that a state begins with: what it is, and its format's version


def whole(name: str, value, low: int, high: int) -> int:
    """A whole number in low .. high."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number from {low} to {high}")
    return number


def real(name: str, value, low: float, high: float) -> float:
    """A number in low .. high."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise InvalidArgument(f"{name} is {value!r}; it must be a number from {low:g} to {high:g}")
    return float(value)


def choice(name: str, value, choices: tuple[str, ...]) -> str:
    """One of `choices`, or an enum member whose value is (Gymnasium's AutoresetMode, say, in any case)."""
    text = getattr(value, "value", value)
    text = text.lower().replace("-", "_").replace("nextstep", "next_step").replace("samestep", "same_step") \
        if isinstance(text, str) else text
    if text not in choices:
        raise InvalidArgument(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")
    return text


def noop_max(value, game: str, actions: tuple[str, ...]) -> int:
    """Frames of NOOP at an episode's start; only where the first action is NOOP."""
    number = whole("noop_max", value, 0, 10_000)
    if number and actions[0] != "NOOP":
        raise InvalidArgument(f"noop_max is {value!r}, but {game} has no NOOP action (it has "
                              f"{', '.join(actions)}); leave it at 0")
    return number


def time_limit(value, game) -> int:
    """Steps before truncation; None is the game's own limit, 0 none."""
    return whole("time_limit", game.time_limit or 0 if value is None else value, 0, 1 << 30)


def reward_clip(value) -> tuple[float, float]:
    """None, a bound c >= 0 for [-c, c], or a pair (low, high)."""
    if value is None:
        return -math.inf, math.inf
    try:
        low, high = value if isinstance(value, (tuple, list)) else (-value, value)
        fits = float(low) <= float(high)
    except (TypeError, ValueError):
        fits = False
    if not fits or isinstance(value, bool):
        raise InvalidArgument(f"reward_clip is {value!r}; it must be None, a number c >= 0 for [-c, c], "
                              "or a pair (low, high) with low <= high")
    return float(low), float(high)


def seeds(seed, num_envs: int, first: int = 0) -> list[tuple[int, int] | None]:
    """(key, index) of every environment's generator, or None where it is to go on as it is."""
    if seed is None:
        seed = secrets.randbits(63)
    if isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim):
        if len(seed) != num_envs:
            raise InvalidArgument(f"seed has {len(seed)} entries; it must have one for each of the {num_envs} "
                                  "environments")
        return [None if s is None else (whole(f"seed[{i}]", s, 0, (1 << 64) - 1), 0) for i, s in enumerate(seed)]
    key = whole("seed", seed, 0, (1 << 64) - 1)
    return [(key, first + i) for i in range(num_envs)]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rows(indices, num_envs: int) -> list[int]:
    """Environment indices, all of them where None; each in range and named once."""
    if indices is None:
        return list(range(num_envs))
    picked = [whole("an environment's index", i, 0, num_envs - 1) for i in np.asarray(indices).reshape(-1).tolist()]
    if len(set(picked)) != len(picked) or not picked:
        raise InvalidArgument(f"indices are {picked}; name one environment or more, each once")
    return picked


def mask(name: str, value, count: int) -> np.ndarray:
    """A (count,) bool array with at least one True."""
    if not isinstance(value, np.ndarray) or value.dtype != np.bool_ or value.shape != (count,) or not value.any():
        shown = f"{value.dtype} array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        raise InvalidArgument(f"{name} is {shown}; it must be a bool NumPy array of shape ({count},) with a True in it")
    return np.ascontiguousarray(value)


def address(name: str, array, shape: tuple, dtype, writable: bool = True) -> int:
    """Where a buffer's bytes begin, once its type, shape, dtype, order and writability are seen to be right."""
    dtype = np.dtype(dtype)
    kind = "aligned, C-contiguous, writable" if writable else "aligned, C-contiguous"
    wanted = f"it must be an {kind} NumPy array of shape {shape} and dtype {dtype}"
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"buffer {name} is a {type(array).__name__}; {wanted}")
    if array.shape != shape or array.dtype != dtype:
        raise InvalidArgument(f"buffer {name} has shape {array.shape} and dtype {array.dtype}; {wanted}")
    if not array.flags.c_contiguous:
        raise InvalidArgument(f"buffer {name} is not C-contiguous (strides {array.strides}); {wanted}")
    if not array.flags.aligned:
        raise InvalidArgument(f"buffer {name} starts at an address that is no multiple of {dtype.alignment}; {wanted}")
    if writable and not array.flags.writeable:
        raise InvalidArgument(f"buffer {name} is read-only; {wanted}")
    return array.ctypes.data


def actions(value, num_envs: int) -> np.ndarray:
    """Actions of all environments as (N,) integers; their range is the engine's to check."""
    array = np.asarray(value)
    if array.shape != (num_envs,) or array.dtype.kind not in "iu":
        raise InvalidArgument(f"actions have shape {array.shape} and dtype {array.dtype}; "
                              f"they must be whole numbers of shape ({num_envs},), one for each environment")
    return array


def wrong_action(game: str, actions: tuple[str, ...], index: int, value: int) -> str:
    """The sentence about an action that a game does not have."""
    names = f" ({', '.join(f'{i} {name}' for i, name in enumerate(actions))})" if len(actions) <= 18 else ""
    return (f"action of environment {index} is {value}; {game} has the actions 0 to {len(actions) - 1}{names}. "
            "No environment was stepped")


def nearest(name: str, known) -> str:
    """', did you mean ...?' where one of `known` is like `name`, else '.'."""
    match = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.4)
    return f", did you mean {match[0]!r}?" if match else "."


def open_state(state: bytes, magic: bytes, signature: dict, count: int, stride: int) -> bytes:
    """The raw bytes of `count` environments within what get_state gave; InvalidState where it is not that."""
    if not isinstance(state, bytes) or not state.startswith(magic[:-1]):
        raise InvalidState("this is not a state of envs_c; pass the bytes that get_state returned")
    if state[: len(magic)] != magic:
        raise InvalidState(f"this state has format {state[len(magic) - 1]}; this version reads format {magic[-1]}")
    head, raw = _parted(state)
    for key, ours in signature.items():
        if head.get(key) != ours:
            raise InvalidState(f"this state has {key} {head.get(key)!r}; these environments have {ours!r}")
    if head["count"] != count:
        raise InvalidState(f"this state holds {head['count']} environments; {count} were asked for (pass indices=...)")
    return raw


def close_state(magic: bytes, head: dict, raw: bytes) -> bytes:
    """What get_state gives, of a signature with the count of environments and of their raw bytes."""
    text = json.dumps({**head, "crc32": zlib.crc32(raw)}).encode()
    return magic + len(text).to_bytes(4, "little") + text + raw


def join_states(states: list[bytes]) -> bytes:
    """One state of the environments of several, in their order; InvalidState where one is damaged or of another kind."""
    opened = [_parted(state) for state in states]
    kinds = [{**head, "count": 0, "crc32": 0} for head, _ in opened]
    if any(kind != kinds[0] for kind in kinds):
        raise InvalidState("these states are of environments of different kinds; join those of one game, version and options")
    head = {**opened[0][0], "count": sum(head["count"] for head, _ in opened)}
    return close_state(states[0][:MAGIC_BYTES], head, b"".join(raw for _, raw in opened))


def part_of_state(state: bytes, index: int, count: int) -> bytes:
    """Part `index` of a state that is cut into `count` equal ones; InvalidState where it cannot be."""
    head, raw = _parted(state)
    if head["count"] % count:
        raise InvalidState(f"this state holds {head['count']} environments, which cannot be cut into {count} equal parts")
    size = len(raw) // count
    return close_state(state[:MAGIC_BYTES], {**head, "count": head["count"] // count}, raw[index * size: (index + 1) * size])


def _parted(state: bytes) -> tuple[dict, bytes]:
    """What a state says of itself, and the raw bytes of its environments; InvalidState where it is damaged."""
    start = MAGIC_BYTES + 4
    end = start + int.from_bytes(state[MAGIC_BYTES:start], "little")
    try:
        head = json.loads(state[start:end])
        raw = state[end:]
        whole_ = len(raw) == head["count"] * head["stride"] and zlib.crc32(raw) == head["crc32"]
    except (ValueError, KeyError, TypeError):
        whole_ = False
    if not whole_:
        raise InvalidState(f"this state ({len(state)} bytes) is damaged or cut short; use another copy")
    return head, raw


class Axis(NamedTuple):
    """One direction of the grey canvas, as in screen.pxd."""

    cell: int            # units a canvas pixel
    unit: int            # units a screen pixel
    cells: np.ndarray    # (length + 1,) int16: the cell that an edge lies in
    parts: np.ndarray    # (length + 1,) int16: how many units into it


def axis(length: int, small: int) -> Axis:
    """Cut `length` screen pixels into `small` cells, in the smallest whole units that fit both."""
    common = math.gcd(length, small)
    cell, unit = length // common, small // common
    edges = np.arange(length + 1) * unit
    return Axis(cell, unit, (edges // cell).astype(np.int16), (edges % cell).astype(np.int16))


def average(rgb: np.ndarray, x: Axis, y: Axis) -> tuple[np.ndarray, np.ndarray]:
    """The (small, small) float32 sums of grey * units of a picture (H, W, 3), and its rounded uint8 means."""
    red, green, blue = (rgb[..., k].astype(np.int64) for k in range(3))
    units = np.repeat(np.repeat((299 * red + 587 * green + 114 * blue + 500) // 1000, y.unit, 0), x.unit, 1)
    small = units.shape[0] // y.cell
    sums = units.reshape(small, y.cell, -1, x.cell).sum((1, 3))
    area = x.cell * y.cell
    return sums.astype(np.float32), ((2 * sums + area) // (2 * area)).astype(np.uint8)
