"""What compiled cartridges need of the console, and how their code is found by running it (recompiled/ makes the C).

A compiled cartridge executes the same instructions as `execute`, many at a time. It gives back control at the end of the frame
and at code that it does not know: code in RAM, and code that was not found.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uintptr_t
from libc.string cimport memcmp, memcpy

from envs_c.console.cpu.bus cimport chip_read, chip_write
from envs_c.console.cartridge.cartridge cimport E0, switch_bank
from envs_c.console.frame cimport begin_frame, end_frame
from envs_c.console.cpu.instructions cimport execute
from envs_c.console.tia.pokes cimport poke_of
from envs_c.console.state cimport Console, Cpu, Rom


cdef enum:
    EXECUTED = 1
    ENTRY = 2   # arrived at from anywhere: by RTS, RTI, JMP (), BRK, a change of banks or slices, or at the start of a frame


cdef inline int read_chip(Console* m, const Rom* rom, int address, int cycle, int bus) noexcept nogil:
    return chip_read(m, rom, address, cycle, bus)


cdef inline int write_chip(Console* m, const Rom* rom, int address, int value, int cycle) noexcept nogil:
    """Returns the cycle after the write."""
    cdef int32_t now = cycle
    chip_write(m, rom, address, value, &now)
    return now


cdef inline void touch_hot(Console* m, const Rom* rom, int address) noexcept nogil:
    switch_bank(m, rom, address)


cdef inline dict places():
    """The places of the fields that recompiled/prelude.h reads and writes, in bytes from the console's start."""
    cdef Console m
    cdef char* first = <char*>&m
    return {"AT_RAM": <char*>&m.ram - first, "AT_SLICE": <char*>&m.slice - first, "AT_DONE": <char*>&m.done - first,
            "AT_DRAWING": <char*>&m.drawing - first, "AT_SAME": <char*>&m.tia.same - first,
            "AT_COLOUR": <char*>&m.tia.colour - first, "AT_TIMER": <char*>&m.timer - first,
            "AT_SHIFT": <char*>&m.shift - first, "AT_TIMER_SET": <char*>&m.timer_set - first}


cdef inline list addresses():
    """Those of the functions that prelude.h calls: the three above, then that of each of the TIA's 64 registers, or 0."""
    return [<uintptr_t>&read_chip, <uintptr_t>&write_chip, <uintptr_t>&touch_hot,
            *[<uintptr_t>poke_of(register) for register in range(64)]]


cdef inline int offset_of(const Console* m, int address) noexcept nogil:
    """The offset in the ROM of an address of the cartridge."""
    return m.slice[((address >> 10) & 3) | ((address >> 11) & 4)] + (address & 0x3FF)


cdef inline void trace_frame(Console* m, const Rom* rom, uint8_t* found, uint16_t* addresses) noexcept nogil:
    """`run_frame` by the interpreter, which marks the code.

    found: (8, rom.size) EXECUTED and ENTRY of the instruction that begins at each offset, for each 8 KB of its address.
    addresses: (8, rom.size) the first address that each of them was executed at.
    """
    cdef Cpu cpu = m.cpu
    cdef int left = rom.facts.instructions, offset, op
    cdef uint16_t[8] slice
    cdef bint entry = True
    cdef uint16_t pc
    begin_frame(m)
    while not m.done and left > 0:
        op, pc = -1, cpu.pc
        if cpu.pc & 0x1000:
            offset = offset_of(m, cpu.pc)
            op = rom.bytes[offset]
            offset += (cpu.pc >> 13) * rom.size
            if not found[offset]:
                addresses[offset] = cpu.pc
            found[offset] |= EXECUTED | (ENTRY if entry else 0)
        memcpy(slice, m.slice, sizeof(slice))
        execute(&cpu, m, rom)
        left -= 1
        entry = (op in (-1, 0x00, 0x40, 0x60, 0x6C) or memcmp(slice, m.slice, sizeof(slice)) != 0
                 or (rom.kind == E0 and (pc ^ cpu.pc) & 0xFC00))
    m.cpu = cpu
    end_frame(m, rom)
