"""Arithmetic on float32 and float64.

`.rn` is rounded to nearest, as NumPy does. The `.approx` functions have the error that the PTX ISA documents, and no other: the
exact value times 1 + e, where e is a fixed pseudo-random number of the operands within the documented bound. A result that
holds here therefore holds for any hardware within its documentation, but its bits are not those of a GPU.
"""

import numpy as np

from ptx.decoder import Decoder, modifiers, unknown
from ptx.parser import Instruction

TINY = np.float32(2.0**-126)  # the smallest normal number


def flushed(x: np.ndarray) -> np.ndarray:
    """Subnormal numbers become zeros of their sign (`.ftz`)."""
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x)


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in float32, rounded once. The product is exact in float64; the sum is rounded to odd there, so that rounding to
    float32 gives the nearest number (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008)."""
    product, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    return np.where(inexact, bits + np.where((error > 0) == (total > 0), 1, -1), bits).view(np.float64).astype(np.float32)


def noise(*operands: np.ndarray) -> np.ndarray:
    """A fixed number from -1 to 1 for each tuple of operands, in float64."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for operand in operands:
        mixed = (mixed ^ operand.view(np.uint32).astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed.astype(np.float64) * 2.0**-63 - 1


def approximate(function, relative: float = 0.0, absolute: float = 0.0, near: tuple[float, float] = (0.0, 0.0)):
    """A function of float32 with a documented error.

    function: in float64.
    relative: its relative error; the value is rounded to float32 within it.
    absolute: its absolute error for operands within `near`, in place of the relative one.
    """
    def compute(*operands):
        exact = np.asarray(function(*[operand.astype(np.float64) for operand in operands]))
        if absolute:
            inside = (operands[0] > near[0]) & (operands[0] < near[1])
            error = np.where(inside, absolute, relative * np.abs(exact))
        else:
            error = relative * np.abs(exact)
        half_ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64) / 2  # of the rounding below
        room = np.maximum(error - half_ulp, 0)
        room = np.where(np.isfinite(room * operands[0]) & (operands[0] != 0), room, 0)  # PTX documents the others
        value = np.where(np.isfinite(exact), exact + noise(*operands) * room, exact)
        return value.astype(np.float32)
    return compute


# Errors: PTX ISA, "Floating Point Instructions", at each instruction. 2 ulp are at most 2^-22 of the value.
APPROXIMATE = {
    "ex2": approximate(np.exp2, 2.0**-22),
    "lg2": approximate(np.log2, 2.0**-22, 2.0**-22, (0.5, 2.0)),
    "rcp": approximate(np.reciprocal, 2.0**-23),
    "sqrt": approximate(np.sqrt, 2.0**-23),
    "rsqrt": approximate(lambda x: 1 / np.sqrt(x), 2.0**-22.9),
    "tanh": approximate(np.tanh, 2.0**-11),
    "div": approximate(np.divide, 2.0**-22),
}


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The minimum; a NaN loses, and -0 is below +0."""
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), a, b), np.fmin(a, b))


def larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The maximum; a NaN loses, and +0 is above -0."""
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), b, a), np.fmax(a, b))


FLOAT_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": smaller, "max": larger,
                "copysign": lambda sign, a: np.copysign(a, sign)}
FLOAT_UNARY = {"neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "rcp": np.reciprocal, "ex2": None, "lg2": None,
               "rsqrt": None, "tanh": None, "fma": None}
UNROUNDED = ("min", "max", "copysign", "neg", "abs")


def float_function(decoder: Decoder, instruction: Instruction):
    """The step of an instruction on floats."""
    name, kind = instruction.opcode[0], instruction.opcode[-1]
    found = modifiers(instruction, "rn", "approx", "full", "ftz")
    rounding = [part for part in found if part != "ftz"]
    exact = FLOAT_BINARY.get(name) or FLOAT_UNARY.get(name)
    if kind == "f32" and name in APPROXIMATE and (rounding == ["approx"] or (name, rounding) == ("div", ["full"])):
        compute = APPROXIMATE[name]
    elif name == "fma" and kind == "f32" and rounding == ["rn"]:
        compute = fused
    elif exact and kind in ("f32", "f64") and rounding == ([] if name in UNROUNDED else ["rn"]):
        compute = exact
    else:
        raise unknown(instruction)
    if "ftz" in found:
        if kind != "f32":
            raise unknown(instruction)
        compute = flushing(compute)
    return decoder.function(instruction, [kind] * (len(instruction.operands) - 1), kind, compute)


def flushing(compute):
    """`compute` with `.ftz`: of operands and result."""
    return lambda *operands: flushed(compute(*map(flushed, operands)))
