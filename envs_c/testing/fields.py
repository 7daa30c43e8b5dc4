"""The fields of a game's struct, read from its .pyx, and the field for which `valid` refuses a state."""

import re
from collections.abc import Callable, Iterator

import numpy as np

KINDS = {"int8_t": "i1", "uint8_t": "u1", "int16_t": "i2", "uint16_t": "u2", "int32_t": "i4", "uint32_t": "u4", "int64_t": "i8",
         "uint64_t": "u8", "int": "i4", "bint": "i4", "float": "f4", "double": "f8", "char": "i1"}
_DECLARED = re.compile(r"^\s+(\w+)(?:\[(\w+)\])?\s+(\w+(?:\s*,\s*\w+)*)\s*(?:#.*)?$")
Field = tuple[str, str, int]  # name, NumPy's kind, first byte in the struct


def layout(text: str, size: int) -> list[Field]:
    """The fields of the struct that a game's file gives to bind(), an array's elements one by one.

    Returns [] if it has fields of other types than those in KINDS, or the sizes do not add up to `size` bytes.
    """
    found = re.search(r"\.bind\([^)]*sizeof\((\w+)\)", text)
    struct = found and re.search(rf"^ctypedef struct {found[1]}:[^\n]*\n((?:[ \t]+.*\n|\n)+)", text, re.MULTILINE)
    rows = []
    for line in struct[1].splitlines() if struct else ():
        if not line.split("#")[0].strip():
            continue
        declared = _DECLARED.match(line)
        count = _number(declared[2], text) if declared else None
        if declared is None or declared[1] not in KINDS or count is None:
            return []
        rows += [(name.strip(), KINDS[declared[1]], *((count,) if declared[2] else ())) for name in declared[3].split(",")]
    kind = np.dtype(rows, align=True) if rows else np.dtype([])
    return list(_elements(kind)) if kind.itemsize == size else []


def _number(text: str | None, source: str) -> int | None:
    """The length of an array: a number, or a constant of an enum that has one; 1 for None."""
    if text is None or text.isdecimal():
        return int(text or 1)
    found = re.search(rf"^\s+{text}\s*=\s*(\d+)\s*(?:#.*)?$", source, re.MULTILINE)
    return int(found[1]) if found else None


def _elements(kind: np.dtype) -> Iterator[Field]:
    for name in kind.names or ():
        part, begin = kind.fields[name][:2]
        one = part.base
        length = part.shape[0] if part.shape else None
        for k in range(length or 1):
            yield name if length is None else f"{name}[{k}]", one.str[1:], begin + k * one.itemsize


def refused_field(struct: np.ndarray, former: np.ndarray | None, fields: list[Field],
                  accepts: Callable[[np.ndarray], bool]) -> str | None:
    """The field of a refused struct with which alone it would be accepted, its value, and the accepted range, as text.

    struct: (bytes,) uint8; former: an accepted one of the same environment, or None.
    accepts: asks `valid` about a struct.
    """
    for name, kind, begin in fields:
        known = [0, 1] if former is None else [former[begin : begin + np.dtype(kind).itemsize].view(kind)[0]]

        def taken(value, kind=kind, begin=begin) -> bool:
            changed = struct.copy()
            changed[begin : begin + np.dtype(kind).itemsize].view(kind)[0] = value
            return accepts(changed)
        good = next((value for value in known if taken(value)), None)
        if good is not None:
            value = struct[begin : begin + np.dtype(kind).itemsize].view(kind)[0]
            low, high = (_end(taken, good, kind, up) for up in (False, True))
            form = "g" if np.dtype(kind).kind == "f" else ",d"
            return f"its field {name} is {value:{form}}, and valid accepts {low:{form}} to {high:{form}} there"
    return None


def _end(taken: Callable, good, kind: str, up: bool):
    """The last accepted value from `good` on, upwards or downwards, if the accepted values are an interval."""
    whole = np.dtype(kind).kind != "f"
    facts = np.iinfo(kind) if whole else np.finfo(kind)
    inside, outside = (int(good), int(facts.max if up else facts.min)) if whole else (
        float(good), float(facts.max if up else facts.min))
    if taken(outside):
        return outside
    for _ in range(64 if whole else 200):
        middle = (inside + outside) // 2 if whole else inside / 2 + outside / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if taken(middle) else (inside, middle)
    return inside
