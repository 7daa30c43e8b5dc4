"""The processor, a 6507: what its instructions do. instructions.pxd lists them.

An instruction takes a fixed number of cycles, one more if a read crosses a page, one or two more for a branch that is taken.
Its access to memory happens in its last cycle.
"""

from libc.stdint cimport uint8_t, uint16_t

from envs_c.console.cpu.bus cimport fetch, fetch_word, forget_same, load, store
from envs_c.console.state cimport Console, Cpu, Rom


# --- Addresses ---

cdef inline int zero_page(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return fetch(cpu, m, rom)


cdef inline int zero_page_x(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return (fetch(cpu, m, rom) + cpu.x) & 0xFF


cdef inline int zero_page_y(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return (fetch(cpu, m, rom) + cpu.y) & 0xFF


cdef inline int absolute(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return fetch_word(cpu, m, rom)


cdef inline int absolute_x(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return (fetch_word(cpu, m, rom) + cpu.x) & 0xFFFF


cdef inline int absolute_y(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return (fetch_word(cpu, m, rom) + cpu.y) & 0xFFFF


cdef inline int crossing(Cpu* cpu, int base, int index, int cycles) noexcept nogil:
    """base + index for a read, which takes a cycle more in another page."""
    cdef int at = (base + index) & 0xFFFF
    cpu.cycle += cycles + (1 if (base ^ at) & 0xFF00 else 0)
    return at


cdef inline int absolute_x_read(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    return crossing(cpu, fetch_word(cpu, m, rom), cpu.x, cycles)


cdef inline int absolute_y_read(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    return crossing(cpu, fetch_word(cpu, m, rom), cpu.y, cycles)


cdef inline int word_at(Cpu* cpu, Console* m, const Rom* rom, int zero) noexcept nogil:
    """A pointer in the first page."""
    cdef int low = load(cpu, m, rom, zero & 0xFF)
    return low | load(cpu, m, rom, (zero + 1) & 0xFF) << 8


cdef inline int indirect_x(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return word_at(cpu, m, rom, fetch(cpu, m, rom) + cpu.x)


cdef inline int indirect_y(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    cpu.cycle += cycles
    return (word_at(cpu, m, rom, fetch(cpu, m, rom)) + cpu.y) & 0xFFFF


cdef inline int indirect_y_read(Cpu* cpu, Console* m, const Rom* rom, int cycles) noexcept nogil:
    return crossing(cpu, word_at(cpu, m, rom, fetch(cpu, m, rom)), cpu.y, cycles)


# --- Flags ---

cdef inline uint8_t note(Cpu* cpu, int value) noexcept nogil:
    """Set N and Z by a byte; returns it."""
    cpu.negative = cpu.zero = <uint8_t>value
    return <uint8_t>value


cdef inline int status(const Cpu* cpu) noexcept nogil:
    return ((cpu.negative & 0x80) | (0x40 if cpu.v else 0) | 0x30 | (0x08 if cpu.d else 0) | (0x04 if cpu.i else 0)
            | (0x02 if cpu.zero == 0 else 0) | (0x01 if cpu.c else 0))


cdef inline void set_status(Cpu* cpu, int value) noexcept nogil:
    cpu.negative = <uint8_t>(value & 0x80)
    cpu.zero = 0 if value & 2 else 1
    cpu.v = (value >> 6) & 1
    cpu.d = (value >> 3) & 1
    cpu.i = (value >> 2) & 1
    cpu.c = value & 1


# --- The stack and jumps ---

cdef inline void push(Cpu* cpu, Console* m, const Rom* rom, int value) noexcept nogil:
    store(cpu, m, rom, 0x100 | cpu.sp, value)
    cpu.sp -= 1


cdef inline void push_word(Cpu* cpu, Console* m, const Rom* rom, int word) noexcept nogil:
    """Both bytes in one cycle."""
    if cpu.sp < 0x82:  # the stack lies in the TIA
        forget_same(m)
    push(cpu, m, rom, word >> 8)
    push(cpu, m, rom, word & 0xFF)


cdef inline int pull(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    """The byte above the stack pointer; the one at it is read first, and the TIA's open bits show it."""
    if cpu.sp == 0xFF:
        load(cpu, m, rom, 0x1FF)
    cpu.sp += 1
    return load(cpu, m, rom, 0x100 | cpu.sp)


cdef inline void branch(Cpu* cpu, Console* m, const Rom* rom, bint taken) noexcept nogil:
    cdef int offset = fetch(cpu, m, rom), at
    cpu.cycle += 2
    if taken:
        at = (cpu.pc + (offset ^ 0x80) - 0x80) & 0xFFFF
        cpu.cycle += 2 if (at ^ cpu.pc) & 0xFF00 else 1
        cpu.pc = <uint16_t>at


cdef inline void jump_indirect(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int at = fetch_word(cpu, m, rom), low
    cpu.cycle += 5
    low = load(cpu, m, rom, at)
    cpu.pc = <uint16_t>(low | load(cpu, m, rom, (at & 0xFF00) | ((at + 1) & 0xFF)) << 8)


cdef inline void jsr(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int low = fetch(cpu, m, rom)
    cpu.cycle += 6
    push_word(cpu, m, rom, cpu.pc)
    cpu.pc = <uint16_t>(low | fetch(cpu, m, rom) << 8)


cdef inline void rts(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int low
    cpu.cycle += 6
    low = pull(cpu, m, rom)
    cpu.pc = <uint16_t>((low | pull(cpu, m, rom) << 8) + 1)


cdef inline void rti(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int low
    cpu.cycle += 6
    set_status(cpu, pull(cpu, m, rom))
    low = pull(cpu, m, rom)
    cpu.pc = <uint16_t>(low | pull(cpu, m, rom) << 8)


cdef inline void brk(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int low
    cpu.cycle += 7
    cpu.pc += 1
    push_word(cpu, m, rom, cpu.pc)
    push(cpu, m, rom, status(cpu))
    cpu.i = 1
    low = load(cpu, m, rom, 0xFFFE)
    cpu.pc = <uint16_t>(low | load(cpu, m, rom, 0xFFFF) << 8)
