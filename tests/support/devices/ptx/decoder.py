"""From instructions of PTX to functions that execute them.

A step is a function of a `Frame` (threads.py): it reads and writes the registers of the active threads. A register is a NumPy
array with an element for each active thread, or with one element if all have the same value. The modules of the instruction
families register their decoders in FAMILIES.
"""

import struct
from collections.abc import Callable

import numpy as np

from ptx.faults import UnknownInstruction
from ptx.parser import SIZES, Entry, Instruction

Step = Callable[..., None]
FAMILIES: dict[str, Callable[["Decoder", Instruction], Step]] = {}
BOOL = np.dtype(bool)
DTYPES = {"pred": BOOL, "f32": np.dtype("f4"), "f64": np.dtype("f8"),
          **{f"{sign}{bits}": np.dtype(f"{'i' if sign == 's' else 'u'}{bits // 8}")
             for sign in "bus" for bits in (8, 16, 32, 64)}}
SPECIAL = {f"%{name}.{axis}": "u32" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"} | {"%laneid": "u32"}


def family(*names: str):
    """Register a decoder for the opcodes that begin with these names."""
    def register(decode):
        FAMILIES.update(dict.fromkeys(names, decode))
        return decode
    return register


class Decoder:
    """Decodes the instructions of one entry.

    addresses: offset of each variable in shared or local memory.
    """

    def __init__(self, entry: Entry, addresses: dict[str, int]):
        self.kinds = {**entry.registers, **SPECIAL}
        self.places = {name: place for place, name in enumerate(self.kinds)}
        self.parameters = {parameter.name: parameter for parameter in entry.parameters}
        self.addresses = addresses
        self.written: set[int] = set()  # places of the registers that the steps since the last clear() write

    def decode(self, instruction: Instruction) -> Step:
        """The step of an instruction. Raises UnknownInstruction with its line if there is none."""
        name = instruction.opcode[0]
        if name not in FAMILIES:
            raise unknown(instruction)
        return FAMILIES[name](self, instruction)

    def source(self, instruction: Instruction, text, kind: str) -> Callable:
        """A function of a frame that returns an operand as an array of the PTX type `kind`."""
        dtype = DTYPES.get(kind)
        if dtype is None or not isinstance(text, str):
            raise unknown(instruction)
        if text in self.places:
            return self._register(instruction, text, dtype)
        value = self._constant(instruction, text, dtype)
        return lambda frame: value

    def _register(self, instruction: Instruction, name: str, dtype: np.dtype) -> Callable:
        place, size = self.places[name], SIZES[self.kinds[name]]
        if (self.kinds[name] == "pred") != (dtype is BOOL) or size < dtype.itemsize:
            raise unknown(instruction)
        unsigned, narrow = np.dtype(f"u{dtype.itemsize}"), size > dtype.itemsize

        def read(frame):
            value = frame.now[place]
            if value is None:
                value = frame.fetch(place, name, instruction)
            if narrow:
                value = value.view(f"u{size}").astype(unsigned)
            return value if value.dtype == dtype else value.view(dtype)
        return read

    def _constant(self, instruction: Instruction, text: str, dtype: np.dtype) -> np.ndarray:
        """An immediate operand, or a variable's address."""
        if text in self.addresses:
            return np.array([self.addresses[text]], dtype)
        if text[:2] in ("0f", "0d") and dtype.kind != "i":
            code = ">f" if text[1] == "f" else ">d"
            value = np.frombuffer(bytes.fromhex(text[2:]), code).astype(code[1:])
            return value if value.dtype == dtype else value.view(dtype)
        try:
            number = int(text.removesuffix("U"), 0)
        except ValueError:
            raise unknown(instruction) from None
        if dtype is BOOL or dtype.kind == "f":
            return np.array([number], dtype)
        bits = number & ((1 << 8 * dtype.itemsize) - 1)
        return np.frombuffer(struct.pack("<Q", bits)[:dtype.itemsize], dtype)

    def target(self, instruction: Instruction, text, kind: str) -> Callable:
        """A function (frame, array of the type `kind`) that writes a register; a wider register gets the extended value."""
        if text == "_":
            return lambda frame, value: None
        dtype = DTYPES.get(kind)
        if text not in self.places or dtype is None:
            raise unknown(instruction)
        place, size = self.places[text], SIZES[self.kinds[text]]
        if (self.kinds[text] == "pred") != (dtype is BOOL) or size < dtype.itemsize:
            raise unknown(instruction)
        self.written.add(place)
        wide = np.dtype(f"{dtype.kind}{size}") if size > dtype.itemsize else None
        if wide is not None and dtype.kind == "f":
            raise unknown(instruction)

        def write(frame, value):
            frame.now[place] = value if wide is None else value.astype(wide)
        return write

    def function(self, instruction: Instruction, kinds: list[str], result: str, compute: Callable) -> Step:
        """The step `result = compute(operands)`, with operands of the given types."""
        if len(instruction.operands) != 1 + len(kinds):
            raise unknown(instruction)
        target = self.target(instruction, instruction.operands[0], result)
        reads = [self.source(instruction, text, kind) for text, kind in zip(instruction.operands[1:], kinds, strict=True)]
        if len(reads) == 1:
            one, = reads
            return lambda frame: target(frame, compute(one(frame)))
        if len(reads) == 2:
            one, two = reads
            return lambda frame: target(frame, compute(one(frame), two(frame)))
        return lambda frame: target(frame, compute(*[read(frame) for read in reads]))


def modifiers(instruction: Instruction, *allowed: str) -> list[str]:
    """The parts of the opcode between its name and its type. Raises UnknownInstruction if one is not among `allowed`."""
    found = instruction.opcode[1:-1]
    if any(part not in allowed for part in found):
        raise unknown(instruction)
    return found


def unknown(instruction: Instruction) -> UnknownInstruction:
    """The error for an instruction that the emulator does not know."""
    return UnknownInstruction(f"line {instruction.line}: {instruction.text} (from {instruction.source or 'no source'})")
