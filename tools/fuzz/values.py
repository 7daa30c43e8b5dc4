"""Hostile values, and damaged copies of bytes and of nested JSON or TOML content."""

import json
from collections import namedtuple
from pathlib import Path
from random import Random

import numpy as np
from gymnasium.vector import AutoresetMode

Range = namedtuple("Range", "low high")


class Unshowable:
    """A value whose repr raises."""

    def __repr__(self):
        raise ZeroDivisionError("no repr")


# Functions of rng, so that arrays are new each time.
ODD = [
    lambda rng: rng.choice([None, True, False, ..., NotImplemented, object(), object, len, Unshowable()]),
    lambda rng: rng.choice([0, 1, -1, 2, 3, 7, 255, 256, 2**15, 2**31 - 1, 2**31, -2**31, 2**32, 2**53, 2**63, 2**64, 10**400,
                            10**5000, -10**400]),
    lambda rng: rng.choice([0.0, -0.0, 0.5, 1.0, 1.5, -1.0, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"), 1j]),
    lambda rng: rng.choice(["", " ", "x", "a\nb", "\0", "none", "auto", "pixels", "é\u202e", "\ud800", "x" * 5000, "1", "-1",
                            "nan", "../..", "/", "~", "~nosuchuser", "%s{}", b"", b"bytes", bytearray(3)]),
    lambda rng: rng.choice([[], [None], [1, [2]], (1, 2), (2, 1), ("1", "2"), {}, {"a": 1}, {1: 2}, set(), frozenset([1]),
                            range(3), iter([1]), Range(0, 1), slice(3)]),
    lambda rng: rng.choice([np.int8(-1), np.int64(3), np.uint64(2**64 - 1), np.float32(0.5), np.float64("nan"), np.bool_(True),
                            np.str_("x"), np.datetime64("NaT"), AutoresetMode.SAME_STEP, Path("nowhere"), memoryview(b"ab")]),
    lambda rng: array(rng, rng.randint(0, 6)),
]
DTYPES = ("int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "bool", "U3", "O", ">i4", "complex64")


def odd(rng: Random):
    """A hostile value of any type."""
    return rng.choice(ODD)(rng)


def array(rng: Random, count: int, dtype: str | None = None) -> np.ndarray:
    """An array of about `count` elements, of any dtype, shape and memory order."""
    dtype = np.dtype(dtype or rng.choice(DTYPES))
    shape = rng.choice([(count,), (count,), (count, 1), (1, count), (count + 1,), (), (0,), (count, 84, 84)])
    made = np.zeros(shape, dtype)
    if dtype.kind in "iuf" and made.size:
        made.reshape(-1)[rng.randrange(made.size)] = rng.choice([1, 2, 3, 127])
    if rng.random() < 0.1:
        made.flags.writeable = False
    return rng.choice([made, made, np.asfortranarray(made), made[::-1] if made.ndim else made])


def damaged(rng: Random, data: bytes) -> bytes:
    """A copy of `data` with one to four changes: flipped bits, extreme numbers, cuts, copies of other parts."""
    bad = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(bad) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(bad):
            bad[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            bad[at:at + rng.randint(1, 8)] = rng.randbytes(rng.randint(0, 8))
        elif kind == 2:
            del bad[at:at + rng.choice([1, 4, 64, len(bad)])]
        elif kind == 3:
            start = rng.randrange(len(bad) + 1)
            bad[at:at] = bad[start:start + rng.choice([1, 8, 100])]
        elif kind == 4:
            bad[at:at + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\x7f" * 4, b"\r\n\0\x1b"])
        else:
            bad[at:at] = rng.choice([b"[", b"{", b'"', b"=", b"\xef\xbb\xbf", b"[" * 5000, b"9" * 5000, b"1e999"])
    return bytes(bad)


def plain(rng: Random, depth: int = 0):
    """A hostile value for JSON or TOML: texts, numbers, lists and tables."""
    if depth < 3 and rng.random() < 0.2:
        inner = [plain(rng, depth + 1) for _ in range(rng.randint(0, 3))]
        return inner if rng.random() < 0.5 else {str(k): value for k, value in enumerate(inner)}
    return rng.choice([0, 1, -1, 2, 3, 8, 64, 255, 2**20, 2**31, 2**53, 2**63, -2**63, 10**30, 10**400, 0.0, 0.5, 1.5, -1.5,
                       1e-9, 1e308, float("nan"), float("inf"), True, False, "", "none", "auto", "lstm", "mingru", "conv",
                       "board", "cells", "muon", "pixels", "nosuch:Name", "os:system", "x" * 300, "a\nb", "\0", "~nosuchuser",
                       "gym:X", "breakout", "cartpole", "nosuch.pyx", "bfloat16", "cuda:99", "é"])


def changed(rng: Random, content, rate: float = 0.0):
    """A copy of nested dicts and lists with one hostile change, and more with probability `rate` each."""
    copy = json.loads(json.dumps(content))
    places = [(holder, key) for holder in nested(copy) for key in (holder if isinstance(holder, dict) else range(len(holder)))]
    if not places:
        return plain(rng)
    for holder, key in [rng.choice(places), *(place for place in places if rng.random() < rate)]:
        kind = rng.random()
        if isinstance(holder, dict) and kind < 0.15:
            holder.pop(key, None)
        elif isinstance(holder, dict) and kind < 0.25:
            holder[rng.choice(["", "x", "gamma", "learning_rte", "a.b", "__class__", "é"])] = plain(rng)
        else:
            holder[key] = deep(rng) if kind > 0.97 else plain(rng)
    return copy


def nested(content):
    """All dicts and lists in `content`, itself included."""
    found = [content] if isinstance(content, dict | list) else []
    for holder in found:
        values = holder.values() if isinstance(holder, dict) else holder
        found += [value for value in values if isinstance(value, dict | list)]
    return found


def deep(rng: Random):
    """A list in a list in a list ..."""
    made = []
    for _ in range(rng.choice([10, 500, 900])):
        made = [made]
    return made
