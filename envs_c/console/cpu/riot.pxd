"""RIOT: 128 bytes of RAM, two ports, a timer.

The timer. A write sets the value n and the interval of 1, 8, 64 or 1,024 cycles. With d cycles between the last cycles of the
write and of a read, a read gives n - 1 - ((d - 1) >> shift). When this is negative the timer has ended. The first read a cycle
or more after the end fixes how many cycles late it is, and this number is subtracted from this read and from all later ones
until the next write. INSTAT has bit 7 from the end of the timer until that read.

The ports. A bit that is an output reads as it was written; an input reads as the switch or the stick.
"""

from libc.stdint cimport int32_t, uint8_t

from envs_c.console.state cimport Console


cdef inline int timer_now(const Console* m, int cycle) noexcept nogil:
    return m.timer - 1 - ((cycle - m.timer_set - 1) >> m.shift)


cdef inline int riot_read(Console* m, int address, int cycle) noexcept nogil:
    """A byte of the ports or of the timer; address: its lowest three bits count."""
    cdef int now
    if address & 4:
        now = timer_now(m, cycle)
        if address & 1:
            return 0x80 if now < 0 and m.late == 0 else 0
        if now < 0 and m.late == 0:
            m.late = cycle - m.timer_set - 1 - (m.timer << m.shift)
        return (now - m.late) & 0xFF
    if address & 3 == 0:
        return (m.port_a & m.port_a_out) | (m.sticks & ~m.port_a_out & 0xFF)
    if address & 3 == 1:
        return m.port_a_out
    if address & 3 == 2:
        return (m.port_b & m.port_b_out) | (m.switches & ~m.port_b_out & 0xFF)
    return m.port_b_out


cdef inline void riot_write(Console* m, int address, int value, int cycle) noexcept nogil:
    if address & 0x14 == 0x14:
        m.timer = <uint8_t>value
        m.shift = 0 if address & 3 == 0 else 3 if address & 3 == 1 else 6 if address & 3 == 2 else 10
        m.timer_set = cycle
        m.late = 0
    elif address & 4 == 0:
        if address & 3 == 0:
            m.port_a = <uint8_t>value
        elif address & 3 == 1:
            m.port_a_out = <uint8_t>value
        elif address & 3 == 2:
            m.port_b = <uint8_t>value
        else:
            m.port_b_out = <uint8_t>value


cdef inline void riot_end_frame(Console* m, int cycles) noexcept nogil:
    """The clock of the next frame begins `cycles` later. A multiple of all intervals and of 256 changes no read."""
    m.timer_set -= cycles
    if m.timer_set < -(1 << 24):
        m.timer_set += 1 << 23
