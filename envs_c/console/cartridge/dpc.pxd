"""DPC, the display processor chip in Pitfall II's cartridge: eight data fetchers, random numbers, music. US patent 4,644,495.

The cartridge has 8 KB of program in two banks, switched as in F8, and 2 KB of data that only the chip reads. The chip has the
addresses 1000 to 107F: reads up to 103F, writes from 1040 on. Bits 3 to 5 are the function, bits 0 to 2 the fetcher.

    reads   0  fetchers 0 to 3: the random number; 4 to 7: the music's amplitude
            1  the fetcher's byte
            2  the same, or 0 where its flag is not set
            7  the flag: 255 or 0
            3 to 6, and all reads from 1040 on, give 0
    writes  0  top, and the flag is cleared
            1  bottom
            2  low eight bits of the counter; of a fetcher that makes music, top whatever is written
            3  bits 0 to 2: high bits of the counter; bit 4: fetchers 5 to 7 make music
            6  the random number becomes 1

A fetcher's byte is the one at 2,047 less its counter. A read, of whatever function, first sets the fetcher's flag if the
counter's low bits equal top, or else clears it if they equal bottom. Then the counter falls by one, unless the fetcher makes
music.

Each read of the chip, each read from 1FC0 on and each write to the cartridge shifts the random number to the left; the bit that
enters is 1 if an even number of its bits 7, 5, 4 and 3 are. A reset of the number comes after that.

Music. An oscillator of 15,750 Hz makes the low bits of the counter go from top down to 0 and again to top, as often as it had
periods since the last read of the amplitude. The flag is cleared if the low bits are then not above bottom, or else set if they
are not above top. The three flags give the amplitude, out of a table.

A power-on leaves the chip as it was, but the oscillator begins a period.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from envs_c.console.state cimport Console, Dpc, Rom
from envs_c.valid cimport between


cdef enum:
    CHIP_END = 0x80        # offset in the bank after the chip's addresses
    NOTICED = 0xFC0        # from here on the chip notices reads of the program
    PROGRAM = 8192         # bytes before the data
    PERIOD = 143183        # the oscillator's, in units of 1 / 1890 of the processor's cycle
    UNITS = 1890


cdef extern from *:
    """
    static const unsigned char AMPLITUDES[8] = {0, 4, 5, 9, 6, 10, 11, 15}; /* by the flags of fetchers 5 to 7 */
    """
    const unsigned char[8] AMPLITUDES


cdef inline void dpc_init(Console* m) noexcept nogil:
    """The chip of a console that was never on before. The number begins with 1; ale-py shifts it twice before power-on."""
    m.extra.dpc.random = 7


cdef inline void dpc_end_frame(Console* m, int cycles) noexcept nogil:
    """The next frame begins `cycles` later."""
    m.extra.dpc.played = max(m.extra.dpc.played - cycles, -(1 << 28))


cdef inline bint safe_dpc(const Dpc* d) noexcept nogil:
    """True if its numbers can be restored."""
    return between(d.played, -(1 << 28), 1 << 16) and between(d.units, 0, PERIOD - 1)


cdef inline void shift_random(Dpc* d) noexcept nogil:
    cdef int bits = d.random
    d.random = <uint8_t>(bits << 1 | ((bits >> 7 ^ bits >> 5 ^ bits >> 4 ^ bits >> 3) & 1 ^ 1))


cdef inline void dpc_power_on(Console* m) noexcept nogil:
    """The oscillator begins a period; the processor reads where to begin, which the chip notices twice."""
    m.extra.dpc.played = m.extra.dpc.units = 0
    shift_random(&m.extra.dpc)
    shift_random(&m.extra.dpc)


cdef inline void play_music(Dpc* d, int cycle) noexcept nogil:
    """Move the counters of the fetchers that make music."""
    cdef int64_t units = <int64_t>UNITS * (cycle - d.played) + d.units
    cdef int periods = <int>(units // PERIOD), k, low
    d.played = cycle
    d.units = <int32_t>(units % PERIOD)
    if periods <= 0:
        return
    for k in range(5, 8):
        if d.music[k - 5]:
            low = ((d.counter[k] & 0xFF) - periods % (d.top[k] + 1)) if d.top[k] else 0
            if low < 0:
                low += d.top[k] + 1
            d.counter[k] = <uint16_t>(d.counter[k] & 0x700 | low & 0xFF)
            if low <= d.bottom[k]:
                d.flag[k] = 0
            elif low <= d.top[k]:
                d.flag[k] = 0xFF


cdef inline int amplitude(const Dpc* d) noexcept nogil:
    cdef int k, flags = 0
    for k in range(3):
        if d.music[k] and d.flag[5 + k]:
            flags |= 1 << k
    return AMPLITUDES[flags]


cdef inline int dpc_read(Console* m, const Rom* rom, int address, int cycle) noexcept nogil:
    """A read of 1000 to 107F; address: its lowest seven bits count."""
    cdef Dpc* d = &m.extra.dpc
    cdef int function = address >> 3 & 7, k = address & 7, value
    shift_random(d)
    if address & 0x40:
        return 0
    if (d.counter[k] & 0xFF) == d.top[k]:
        d.flag[k] = 0xFF
    elif (d.counter[k] & 0xFF) == d.bottom[k]:
        d.flag[k] = 0
    if function == 0 and k >= 4:
        play_music(d, cycle)
    value = d.random if function == 0 and k < 4 else amplitude(d) if function == 0 else d.flag[k] if function == 7 else 0
    if function == 1 or function == 2:
        value = rom.bytes[PROGRAM + 2047 - (d.counter[k] & 0x7FF)] & (d.flag[k] if function == 2 else 0xFF)
    if k < 5 or not d.music[k - 5]:
        d.counter[k] = (d.counter[k] - 1) & 0x7FF
    return value


cdef inline void dpc_write(Console* m, int address, int value) noexcept nogil:
    """A write to 1000 to 107F; address: its lowest seven bits count."""
    cdef Dpc* d = &m.extra.dpc
    cdef int function = address >> 3 & 7, k = address & 7
    if not address & 0x40:
        return
    if function == 0:
        d.top[k] = <uint8_t>value
        d.flag[k] = 0
    elif function == 1:
        d.bottom[k] = <uint8_t>value
    elif function == 2:
        d.counter[k] = <uint16_t>(d.counter[k] & 0x700 | (d.top[k] if k >= 5 and d.music[k - 5] else value))
    elif function == 3:
        d.counter[k] = <uint16_t>((value & 7) << 8 | d.counter[k] & 0xFF)
        if k >= 5:
            d.music[k - 5] = value >> 4 & 1
    elif function == 6:
        d.random = 1
