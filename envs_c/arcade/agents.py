"""Agents for the page: exported policies with weights in float16, half as large.

`halved` rounds a file of `insertcoin export --format safetensors`; page/policy.js reads both. NumPy only.
"""

import json
from pathlib import Path

import numpy as np

from envs_c.errors import InvalidArgument

FOLDER = Path(__file__).parent / "agents"  # a trained agent for each built-in game; tools/arcade_agents.py makes them
LARGEST = float(np.finfo(np.float16).max)


def described(data: bytes) -> dict:
    """The description in an exported policy, as trainer/export/weights.py writes it. Raises InvalidArgument."""
    return json.loads(_parse(data)[0]["__metadata__"]["policy"])


def halved(data: bytes) -> bytes:
    """The file with its float32 weights rounded to float16.

    Those of the normalizer, and tensors with numbers that float16 cannot hold, stay float32. data: an exported policy.
    Raises InvalidArgument if it is none.
    """
    header, begin = _parse(data)
    metadata = header.pop("__metadata__")
    about, parts, at, kept = json.loads(metadata["policy"]), [], 0, {}
    for name, one in header.items():
        first, last = (begin + offset for offset in one["data_offsets"])
        part, dtype = data[first:last], one["dtype"]
        if dtype == "F32" and not name.startswith("normalizer."):
            numbers = np.frombuffer(part, "<f4")
            if np.all(np.abs(numbers) <= LARGEST):
                part, dtype = numbers.astype("<f2").tobytes(), "F16"
        kept[name] = {"dtype": dtype, "shape": one["shape"], "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps({"__metadata__": {"policy": json.dumps({**about, "dtype": "float16"})}, **kept}).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _parse(data: bytes) -> tuple[dict, int]:
    """The header, and where the numbers begin. Raises InvalidArgument."""
    try:
        begin = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:begin])
        json.loads(header["__metadata__"]["policy"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InvalidArgument(f"the agent's file must be a policy written by `insertcoin export`, not other bytes: {error!r}"
                              ) from None
    return header, begin
