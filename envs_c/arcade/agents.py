"""Agents for the page: exported policies with rounded weights, about a quarter as large.

`compact` rounds a file of `insertcoin export --format safetensors`; page/policy.js reads both. NumPy only.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from envs_c.errors import InvalidArgument

FOLDER = Path(__file__).parent / "agents"  # a trained agent for each built-in game; tools/arcade_agents.py makes them
HALF = float(np.finfo(np.float16).max)
LARGE = 4096  # numbers of a matrix
DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "|i1", "U8": "|u1", "I64": "<i8", "I32": "<i4", "BOOL": "|b1"}
NAMES = {numpy: name for name, numpy in DTYPES.items()}
RECORD = ("training_seed", "evaluation")  # of a description: what is known of the agent's score


def described(data: bytes) -> dict:
    """The description in an exported policy, as trainer/export/weights.py writes it. Raises InvalidArgument."""
    return json.loads(_parse(data)[0]["__metadata__"]["policy"])


def compact(data: bytes) -> bytes:
    """The file with its float32 weights rounded, to a quarter of its size or a little more.

    A matrix of at least LARGE numbers becomes int8, with the float32 factor of each row in a tensor NAME.scale; other tensors
    become float16. Those of the normalizer, and those with numbers that float16 cannot hold, stay float32.

    data: an exported policy. Raises InvalidArgument if it is none.
    """
    tensors = {}
    for name, array in _stored(data).items():
        tensors |= _rounded(name, array)
    return _written(tensors, {**described(data), "dtype": "int8"})


def with_record(data: bytes, record: Mapping[str, Any]) -> bytes:
    """The file with this record of its score in the description, in place of an older one. Files of `export` have none.

    record: the seed of its training as "training_seed", and as "evaluation" the summary that an evaluation.json has too. Empty:
        the file as `compact` wrote it.
    Raises InvalidArgument if the data is no exported policy.
    """
    about = {name: value for name, value in described(data).items() if name not in RECORD}
    return _written(_stored(data), {**about, **record})


def _written(tensors: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> bytes:
    """The file with these tensors and this description."""
    kept, at = {}, 0
    for name, array in tensors.items():
        kept[name] = {"dtype": NAMES[array.dtype.str], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps({"__metadata__": {"policy": json.dumps(about)}, **kept}).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in tensors.values())


def _rounded(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """The tensors that store one tensor of an exported policy."""
    if array.dtype.str != "<f4" or name.startswith("normalizer.") or not np.all(np.abs(array) <= HALF):
        return {name: array}
    if array.ndim != 2 or array.size < LARGE:
        return {name: array.astype("<f2")}
    scale = np.maximum(np.abs(array).max(1), np.float32(1e-30)) / np.float32(127)
    return {name: np.rint(array / scale[:, None]).astype("i1"), f"{name}.scale": scale}


def weights(data: bytes) -> dict[str, np.ndarray]:
    """The tensors of an exported or a compact file by name, as float32 if they were. Raises InvalidArgument."""
    found = _stored(data)
    for name in [name for name in found if f"{name}.scale" in found]:
        found[name] = found[name] * found.pop(f"{name}.scale")[:, None]
    return {name: array.astype(np.float32) if array.dtype.kind == "f" else array for name, array in found.items()}


def _stored(data: bytes) -> dict[str, np.ndarray]:
    """The tensors of a file by name, as they are stored. Raises InvalidArgument."""
    header, begin = _parse(data)
    with _refused():
        return {name: np.frombuffer(data, DTYPES[one["dtype"]], math.prod(one["shape"]), begin + one["data_offsets"][0])
                .reshape(one["shape"]) for name, one in header.items() if name != "__metadata__"}


def _parse(data: bytes) -> tuple[dict, int]:
    """The header, and where the numbers begin. Raises InvalidArgument."""
    with _refused():
        begin = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:begin])
        json.loads(header["__metadata__"]["policy"])
    return header, begin


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    """What fails in this context is the InvalidArgument of a file that is no agent."""
    try:
        yield
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InvalidArgument(f"the agent's file must be a policy written by `insertcoin export`, not other bytes: {error!r}"
                              ) from None
