"""`cvt`: from one type to another."""

import numpy as np

from ptx.decoder import DTYPES, Decoder, family, modifiers, unknown
from ptx.parser import Instruction

ROUND = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}


def to_bf16(x: np.ndarray) -> np.ndarray:
    """float32 to the bits of the nearest bfloat16, ties to even; NaN becomes 0x7FFF."""
    bits = x.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return np.where(np.isnan(x), 0x7FFF, rounded >> np.uint32(16)).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """The bits of bfloat16 to float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_integer(x: np.ndarray, dtype: np.dtype, rounded) -> np.ndarray:
    """A float to an integer, limited to the integer's range; NaN becomes 0."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    value = rounded(x.astype(np.float64))
    inside = np.where((value >= float(high)) | (value <= float(low)) | np.isnan(value), 0.0, value).astype(dtype)
    return np.where(value >= float(high), dtype.type(high), np.where(value <= float(low), dtype.type(low), inside))


@family("cvt")
def convert(decoder: Decoder, instruction: Instruction):
    """Integers wrap around; floats are rounded to nearest (`rn`) or as ROUND says."""
    *found, to, of = instruction.opcode[1:]
    if to == "bf16x2" and of == "f32" and found == ["rn"]:
        def pack(a, b):
            return to_bf16(a).astype(np.uint32) << np.uint32(16) | to_bf16(b)
        return decoder.function(instruction, ["f32", "f32"], "b32", pack)
    if to == "bf16" and of == "f32" and found == ["rn"]:
        return decoder.function(instruction, ["f32"], "b16", to_bf16)
    if to == "f32" and of == "bf16" and not found:
        return decoder.function(instruction, ["b16"], "f32", from_bf16)
    dtype = DTYPES.get(to)
    if dtype is None or of not in DTYPES or "bf" in of + to:
        raise unknown(instruction)
    kinds = "f" if to[0] == "f" else "i", "f" if of[0] == "f" else "i"
    if kinds == ("i", "f") and len(found) == 1 and found[0] in ROUND:
        rounded = ROUND[found[0]]
        return decoder.function(instruction, [of], to, lambda a: to_integer(a, dtype, rounded))
    if to == of and kinds == ("f", "f") and len(found) == 1 and found[0] in ROUND:  # to a whole number
        return decoder.function(instruction, [of], to, ROUND[found[0]])
    plain = kinds == ("i", "i") or (to, of) == ("f64", "f32")
    if modifiers(instruction, to, "rn") != ([to] if plain else ["rn", to]) or kinds == ("i", "f"):
        raise unknown(instruction)
    return decoder.function(instruction, [of], to, lambda a: a.astype(dtype))
