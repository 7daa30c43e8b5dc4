"""Instructions on integers, bits and predicates, and those that only move values."""

import numpy as np

from ptx.decoder import Decoder, family, modifiers, unknown
from ptx.faults import Fault
from ptx.instructions.floats import FLOAT_BINARY, FLOAT_UNARY, float_function
from ptx.parser import SIZES, Instruction

DOUBLE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
           "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
JOIN = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b towards zero."""
    if not b.all():
        raise Fault("divides by zero")
    if a.dtype.kind == "u":
        return a // b
    quotient = np.abs(a).view(f"u{a.itemsize}") // np.abs(b).view(f"u{a.itemsize}")  # abs of the smallest is itself: 2^31
    return np.where((a < 0) != (b < 0), -quotient.view(a.dtype), quotient.view(a.dtype))


def shifted_left(a: np.ndarray, by: np.ndarray) -> np.ndarray:
    """a << by; 0 if `by` is the width or more."""
    bits = 8 * a.itemsize
    return np.where(by < bits, a << np.minimum(by, bits - 1).astype(a.dtype), a.dtype.type(0))


def shifted_right(a: np.ndarray, by: np.ndarray) -> np.ndarray:
    """a >> by, with copies of the sign if a is signed."""
    bits = 8 * a.itemsize
    if a.dtype.kind == "i":
        return a >> np.minimum(by, bits - 1).astype(a.dtype)
    return np.where(by < bits, a >> np.minimum(by, bits - 1).astype(a.dtype), a.dtype.type(0))


def high_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The upper half of the product."""
    if a.itemsize < 8:
        wide = a.astype(f"{a.dtype.kind}{2 * a.itemsize}") * b.astype(f"{a.dtype.kind}{2 * a.itemsize}")
        return (wide >> (8 * a.itemsize)).astype(a.dtype)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    x, y = a.view("u8"), b.view("u8")
    a0, a1, b0, b1 = x & low, x >> shift, y & low, y >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    high = a1 * b1 + (middle >> shift) + ((a0 * b1 + (middle & low)) >> shift)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)


BINARY = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "div": divided,
          "rem": lambda a, b: a - divided(a, b) * b}
UNARY = {"neg": np.negative, "abs": np.abs}


@family(*{*BINARY, *UNARY, *FLOAT_BINARY, *FLOAT_UNARY} - {"mul"})
def arithmetic(decoder: Decoder, instruction: Instruction):
    """Sums, quotients, minima and functions, of integers or floats."""
    name, kind = instruction.opcode[0], instruction.opcode[-1]
    if kind[0] in "us" and (compute := BINARY.get(name) or UNARY.get(name)):
        modifiers(instruction)
        return decoder.function(instruction, [kind] * (2 if name in BINARY else 1), kind, compute)
    return float_function(decoder, instruction)


@family("mul", "mad")
def products(decoder: Decoder, instruction: Instruction):
    """Products: the lower or upper half, or all of it (`wide`); with a third operand to add."""
    name, kind = instruction.opcode[0], instruction.opcode[-1]
    if kind[0] not in "us":
        return float_function(decoder, instruction)
    part, = modifiers(instruction, "lo", "hi", "wide") or ["?"]
    if part == "wide" and kind in DOUBLE:
        result = DOUBLE[kind]
        wide = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{SIZES[result]}")
        def compute(a, b):
            return a.astype(wide) * b.astype(wide)
    elif part in ("lo", "hi"):
        result, compute = kind, np.multiply if part == "lo" else high_product
    else:
        raise unknown(instruction)
    if name == "mul":
        return decoder.function(instruction, [kind, kind], result, compute)
    return decoder.function(instruction, [kind, kind, result], result, lambda a, b, c: compute(a, b) + c)


@family("and", "or", "xor", "not")
def bits(decoder: Decoder, instruction: Instruction):
    """Bitwise operations, also of predicates."""
    name, kind = instruction.opcode[0], instruction.opcode[-1]
    modifiers(instruction)
    if name == "not":
        return decoder.function(instruction, [kind], kind, np.invert)
    compute = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[name]
    return decoder.function(instruction, [kind, kind], kind, compute)


@family("shl", "shr")
def shifts(decoder: Decoder, instruction: Instruction):
    """Shifts by a u32."""
    kind = instruction.opcode[-1]
    modifiers(instruction)
    return decoder.function(instruction, [kind, "u32"], kind, shifted_left if instruction.opcode[0] == "shl" else shifted_right)


@family("shf")
def funnel(decoder: Decoder, instruction: Instruction):
    """A shift of the 64 bits b:a; `wrap` takes the amount modulo 32."""
    if instruction.opcode[1:] not in (["r", "wrap", "b32"], ["l", "wrap", "b32"]):
        raise unknown(instruction)
    left = instruction.opcode[1] == "l"

    def compute(a, b, by):
        both = b.astype(np.uint64) << np.uint64(32) | a
        by = (by & np.uint32(31)).astype(np.uint64)
        return (both << by >> np.uint64(32) if left else both >> by).astype(np.uint32)
    return decoder.function(instruction, ["b32", "b32", "u32"], "b32", compute)


@family("prmt")
def permute(decoder: Decoder, instruction: Instruction):
    """Four bytes of the 64 bits b:a, chosen by four digits of a number; a digit above 7 fills the byte with the sign."""
    if instruction.opcode[1:] != ["b32"]:
        raise unknown(instruction)

    def compute(a, b, by):
        both, result = b.astype(np.uint64) << np.uint64(32) | a, np.zeros_like(a)
        for place in range(4):
            digit = by >> np.uint32(4 * place) & np.uint32(15)
            byte = (both >> (8 * (digit & np.uint32(7))).astype(np.uint64)).astype(np.uint32) & np.uint32(255)
            sign = np.where(byte & np.uint32(128), np.uint32(255), np.uint32(0))
            result = result | np.where(digit & np.uint32(8), sign, byte) << np.uint32(8 * place)
        return result
    return decoder.function(instruction, ["b32", "b32", "b32"], "b32", compute)


@family("popc", "clz")
def count_bits(decoder: Decoder, instruction: Instruction):
    """The number of set bits, or of zeros above the highest one."""
    name, kind = instruction.opcode[0], instruction.opcode[-1]
    modifiers(instruction)

    def leading(a):
        for shift in (1, 2, 4, 8, 16, 32):  # then all bits below the highest one are set, too
            a = a | shifted_right(a, np.uint32(shift))
        return np.bitwise_count(~a).astype(np.uint32)
    compute = leading if name == "clz" else lambda a: np.bitwise_count(a).astype(np.uint32)
    return decoder.function(instruction, [kind], "u32", compute)


@family("selp")
def select(decoder: Decoder, instruction: Instruction):
    """The first operand if the predicate is true, else the second."""
    kind = instruction.opcode[-1]
    modifiers(instruction)
    return decoder.function(instruction, [kind, kind, "pred"], kind, lambda a, b, p: np.where(p, a, b))


@family("setp")
def compare(decoder: Decoder, instruction: Instruction):
    """A comparison, joined with a predicate by and, or, xor. In `p|q`, q is the result of the opposite comparison."""
    relation, *rest = modifiers(instruction, *COMPARE, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", *JOIN, "ftz")
    kind, operands = instruction.opcode[-1], instruction.operands
    join = next((JOIN[part] for part in rest if part in JOIN), None)
    if "ftz" in rest or len(operands) != (4 if join else 3):
        raise unknown(instruction)
    first, second = [operands[0][1], operands[0][2]] if operands[0][0] == "pair" else [operands[0], "_"]
    targets = [decoder.target(instruction, text, "pred") for text in (first, second)]
    a, b = (decoder.source(instruction, text, kind) for text in operands[1:3])
    other = decoder.source(instruction, operands[3], "pred") if join else None
    relate = relation_of(relation)

    def step(frame):
        result = relate(a(frame), b(frame))
        results = result, ~result
        for target, value in zip(targets, results, strict=True):
            target(frame, value if join is None else join(value, other(frame)))
    return step


def relation_of(name: str):
    """The function of a comparison: false if a number is NaN, except for those that end in u, and ne."""
    if name in ("num", "nan"):
        return lambda a, b: (np.isnan(a) | np.isnan(b)) == (name == "nan")
    if len(name) == 3:
        return lambda a, b: COMPARE[name[:2]](a, b) | np.isnan(a) | np.isnan(b)
    if name == "ne":
        return lambda a, b: (a != b) & (a == a) & (b == b)
    return COMPARE[name]


@family("mov")
def move(decoder: Decoder, instruction: Instruction):
    """Copies a value. `mov.b64 d, {a, b}` packs two halves, `mov.b64 {a, b}, d` unpacks them."""
    kind, operands = instruction.opcode[-1], instruction.operands
    modifiers(instruction)
    lists = [isinstance(operand, tuple) for operand in operands]
    if not any(lists):
        return decoder.function(instruction, [kind], kind, np.copy)
    half = {"b64": "b32", "b32": "b16"}.get(kind)
    parts = operands[lists.index(True)][1]
    if half is None or len(parts) != 2:
        raise unknown(instruction)
    if lists[1]:
        target, reads = decoder.target(instruction, operands[0], kind), [decoder.source(instruction, p, half) for p in parts]
        shift, wide = 8 * SIZES[half], f"u{SIZES[kind]}"
        return lambda frame: target(frame, reads[0](frame).astype(wide) | reads[1](frame).astype(wide) << shift)
    targets, read = [decoder.target(instruction, p, half) for p in parts], decoder.source(instruction, operands[1], kind)
    shift, narrow = 8 * SIZES[half], f"u{SIZES[half]}"

    def unpack(frame):
        value = read(frame)
        targets[0](frame, value.astype(narrow))
        targets[1](frame, (value >> shift).astype(narrow))
    return unpack


@family("bfi")
def insert_bits(decoder: Decoder, instruction: Instruction):
    """The second operand with the low `length` bits of the first one from bit `start` on."""
    kind = instruction.opcode[-1]
    modifiers(instruction)

    def compute(a, b, start, length):
        mask = shifted_left(shifted_left(np.ones_like(a), length) - a.dtype.type(1), start)
        return (b & ~mask) | (shifted_left(a, start) & mask)
    return decoder.function(instruction, [kind, kind, "u32", "u32"], kind, compute)


@family("bfe")
def extract_bits(decoder: Decoder, instruction: Instruction):
    """`length` bits from bit `start` on, extended by zeros or by the sign; bits above the operand's are zeros or its sign."""
    kind = instruction.opcode[-1]
    modifiers(instruction)

    def compute(a, start, length):
        bits = 8 * a.itemsize
        start, length = (np.minimum(one & np.uint32(255), bits).astype(np.int64) for one in (start, length))
        left = np.maximum(bits - start - length, 0).astype(np.uint32)
        found = shifted_right(shifted_left(a, left), left + start.astype(np.uint32))
        return np.where(length == 0, a.dtype.type(0), found)
    return decoder.function(instruction, [kind, "u32", "u32"], kind, compute)
