"""The processor's arithmetic: the instructions that compute with a byte, the undocumented ones too.

Decimal addition and subtraction are those of numbers from 0 to 99; digits above 9 count with their value. N and Z follow the
result. Decimal ARR adds 6 to each digit of the result that came from one above 4, an odd digit counting as one more; N, V and Z
are those of the binary result.
"""

from libc.stdint cimport uint8_t, uint16_t

from envs_c.console.cpu.bus cimport store
from envs_c.console.cpu.cpu cimport note
from envs_c.console.state cimport Console, Cpu, Rom


cdef inline void ignore(Cpu* cpu, int value) noexcept nogil:
    pass


cdef inline void lda(Cpu* cpu, int value) noexcept nogil:
    cpu.a = note(cpu, value)


cdef inline void ldx(Cpu* cpu, int value) noexcept nogil:
    cpu.x = note(cpu, value)


cdef inline void ldy(Cpu* cpu, int value) noexcept nogil:
    cpu.y = note(cpu, value)


cdef inline void lax(Cpu* cpu, int value) noexcept nogil:
    cpu.a = cpu.x = note(cpu, value)


cdef inline void ora(Cpu* cpu, int value) noexcept nogil:
    cpu.a = note(cpu, cpu.a | value)


cdef inline void and_(Cpu* cpu, int value) noexcept nogil:
    cpu.a = note(cpu, cpu.a & value)


cdef inline void eor(Cpu* cpu, int value) noexcept nogil:
    cpu.a = note(cpu, cpu.a ^ value)


cdef inline void bit(Cpu* cpu, int value) noexcept nogil:
    cpu.negative = <uint8_t>value
    cpu.zero = <uint8_t>(cpu.a & value)
    cpu.v = (value >> 6) & 1


cdef inline int from_bcd(int value) noexcept nogil:
    return (value >> 4) * 10 + (value & 15)


cdef inline int to_bcd(int value) noexcept nogil:
    return (value % 100 // 10) << 4 | value % 10


cdef inline void adc(Cpu* cpu, int value) noexcept nogil:
    cdef int a = cpu.a, total
    if cpu.d:
        total = from_bcd(a) + from_bcd(value) + cpu.c
        cpu.c = total > 99
        cpu.a = note(cpu, to_bcd(total & 0xFF))
        cpu.v = (~(a ^ value) & (a ^ cpu.a) & 0x80) != 0
    else:
        total = a + value + cpu.c
        cpu.c = total > 0xFF
        cpu.v = (~(a ^ value) & (a ^ total) & 0x80) != 0
        cpu.a = note(cpu, total)


cdef inline void sbc(Cpu* cpu, int value) noexcept nogil:
    cdef int a = cpu.a, total
    if cpu.d:
        total = from_bcd(a) - from_bcd(value) - (1 - cpu.c)
        if total < 0:
            total += 100
        cpu.c = a >= value + (1 - cpu.c)
        cpu.a = note(cpu, to_bcd(total) if total >= 0 else from_bcd(total & 0xFF))
        cpu.v = (~(a ^ value) & (a ^ cpu.a) & 0x80) != 0
    else:
        total = a - value - (1 - cpu.c)
        cpu.c = total >= 0
        cpu.v = ((a ^ value) & (a ^ total) & 0x80) != 0
        cpu.a = note(cpu, total)


cdef inline void compare(Cpu* cpu, int register, int value) noexcept nogil:
    note(cpu, register - value)
    cpu.c = register >= value


cdef inline void cmp(Cpu* cpu, int value) noexcept nogil:
    compare(cpu, cpu.a, value)


cdef inline void cpx(Cpu* cpu, int value) noexcept nogil:
    compare(cpu, cpu.x, value)


cdef inline void cpy(Cpu* cpu, int value) noexcept nogil:
    compare(cpu, cpu.y, value)


# --- Read, change and write ---

cdef inline int asl(Cpu* cpu, int value) noexcept nogil:
    cpu.c = value >> 7
    return note(cpu, value << 1)


cdef inline int lsr(Cpu* cpu, int value) noexcept nogil:
    cpu.c = value & 1
    return note(cpu, value >> 1)


cdef inline int rol(Cpu* cpu, int value) noexcept nogil:
    cdef int out = (value << 1) | cpu.c
    cpu.c = value >> 7
    return note(cpu, out)


cdef inline int ror(Cpu* cpu, int value) noexcept nogil:
    cdef int out = (value >> 1) | cpu.c << 7
    cpu.c = value & 1
    return note(cpu, out)


cdef inline int inc(Cpu* cpu, int value) noexcept nogil:
    return note(cpu, value + 1)


cdef inline int dec(Cpu* cpu, int value) noexcept nogil:
    return note(cpu, value - 1)


cdef inline int slo(Cpu* cpu, int value) noexcept nogil:
    value = asl(cpu, value)
    ora(cpu, value)
    return value


cdef inline int rla(Cpu* cpu, int value) noexcept nogil:
    value = rol(cpu, value)
    and_(cpu, value)
    return value


cdef inline int sre(Cpu* cpu, int value) noexcept nogil:
    value = lsr(cpu, value)
    eor(cpu, value)
    return value


cdef inline int rra(Cpu* cpu, int value) noexcept nogil:
    value = ror(cpu, value)
    adc(cpu, value)
    return value


cdef inline int dcp(Cpu* cpu, int value) noexcept nogil:
    value = (value - 1) & 0xFF
    cmp(cpu, value)
    return value


cdef inline int isb(Cpu* cpu, int value) noexcept nogil:
    value = (value + 1) & 0xFF
    sbc(cpu, value)
    return value


# --- Undocumented ---

cdef inline void anc(Cpu* cpu, int value) noexcept nogil:
    and_(cpu, value)
    cpu.c = cpu.a >> 7


cdef inline void alr(Cpu* cpu, int value) noexcept nogil:
    cpu.a = <uint8_t>lsr(cpu, cpu.a & value)


cdef inline void arr(Cpu* cpu, int value) noexcept nogil:
    cdef int a = cpu.a & value, out
    out = note(cpu, (a >> 1) | cpu.c << 7)
    if cpu.d:
        cpu.v = ((a ^ out) >> 6) & 1
        cpu.c = (a >> 4) + ((a >> 4) & 1) > 5
        if (a & 15) + (a & 1) > 5:
            out = (out & 0xF0) | ((out + 6) & 15)
        if cpu.c:
            out += 0x60
    else:
        cpu.c = (out >> 6) & 1
        cpu.v = ((out >> 6) ^ (out >> 5)) & 1
    cpu.a = <uint8_t>out


cdef inline void ane(Cpu* cpu, int value) noexcept nogil:
    cpu.a = note(cpu, (cpu.a | 0xEE) & cpu.x & value)


cdef inline void lxa(Cpu* cpu, int value) noexcept nogil:
    cpu.a = cpu.x = note(cpu, (cpu.a | 0xEE) & value)


cdef inline void sbx(Cpu* cpu, int value) noexcept nogil:
    cdef int both = cpu.a & cpu.x
    cpu.c = both >= value
    cpu.x = note(cpu, both - value)


cdef inline void las(Cpu* cpu, int value) noexcept nogil:
    cpu.a = cpu.x = cpu.sp = note(cpu, cpu.sp & value)


cdef inline void sha(Cpu* cpu, Console* m, const Rom* rom, int at) noexcept nogil:
    store(cpu, m, rom, at, cpu.a & cpu.x & ((at >> 8) + 1))


cdef inline void shs(Cpu* cpu, Console* m, const Rom* rom, int at) noexcept nogil:
    cpu.sp = cpu.a & cpu.x
    store(cpu, m, rom, at, cpu.sp & ((at >> 8) + 1))


cdef inline void shy(Cpu* cpu, Console* m, const Rom* rom, int at) noexcept nogil:
    store(cpu, m, rom, at, cpu.y & ((at >> 8) + 1))


cdef inline void shx(Cpu* cpu, Console* m, const Rom* rom, int at) noexcept nogil:
    store(cpu, m, rom, at, cpu.x & ((at >> 8) + 1))
