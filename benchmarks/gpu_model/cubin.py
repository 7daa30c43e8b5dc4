"""A kernel's registers, shared memory and spills, read from a cubin: an ELF file with sections of NVIDIA's."""

import struct
from typing import NamedTuple

from benchmarks.gpu_model.devices import Device

_WORDS = 0x04  # format of an attribute in .nv.info: a size and that many bytes
_REGISTERS, _STACK = 0x2F, 0x12  # attributes: (symbol, registers) and (symbol, bytes of stack)
_WARP = 32
_UNIT = 256  # registers are given to a warp in multiples of this


class Usage(NamedTuple):
    """What a kernel takes."""

    registers: int  # of a thread
    shared: int     # bytes of a block, without those given at the launch
    stack: int      # bytes of a thread in local memory: spilled registers and arrays

    def occupancy(self, device: Device, block: int) -> float:
        """The part of a multiprocessor's threads that can be there at once, with blocks of this many threads."""
        warps = -(-block // _WARP)
        per_warp = -(-self.registers * _WARP // _UNIT) * _UNIT
        limits = [device.threads // (warps * _WARP), device.registers // (per_warp * warps)]
        if self.shared:
            limits.append(device.shared // self.shared)
        return min(1.0, min(limits) * block / device.threads)


def usage(cubin: bytes) -> dict[str, Usage]:
    """The kernels of a cubin by name. Raises ValueError if it is no ELF file of 64 bits."""
    if cubin[:5] != b"\x7fELF\x02":
        raise ValueError("a cubin must be an ELF file of 64 bits")
    sections = _sections(cubin)
    symbols = _symbols(sections)
    found: dict[str, dict[int, int]] = {}
    for attribute, symbol, value in _attributes(sections.get(".nv.info", b"")):
        found.setdefault(symbols[symbol], {})[attribute] = value
    return {name: Usage(values.get(_REGISTERS, 0), len(sections.get(f".nv.shared.{name}", b"")), values.get(_STACK, 0))
            for name, values in found.items() if f".text.{name}" in sections}


def _sections(elf: bytes) -> dict[str, bytes]:
    """The content of each section by name; of one without content in the file, that many zeros."""
    (table,), (size, count, names) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HHH", elf, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", elf, table + k * size) for k in range(count)]
    text = elf[heads[names][4]:]
    content = {}
    for name, kind, _, _, offset, length in heads:
        nobits = kind == 8
        content[text[name:text.index(b"\0", name)].decode()] = bytes(length) if nobits else elf[offset:offset + length]
    return content


def _symbols(sections: dict[str, bytes]) -> list[str]:
    """The names in the table of symbols."""
    table, text = sections[".symtab"], sections[".strtab"]
    starts = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), 24)]
    return [text[start:text.index(b"\0", start)].decode() for start in starts]


def _attributes(info: bytes):
    """The attributes of two numbers in .nv.info: (attribute, symbol, value)."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != _WORDS:
            continue  # the two bytes are the value
        if attribute in (_REGISTERS, _STACK) and size == 8:
            yield attribute, *struct.unpack_from("<II", info, at)
        at += size
