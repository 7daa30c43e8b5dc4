"""Cartridges: up to 4 KB plain, larger ones in banks that the program switches by reading or writing certain addresses.

Some cartridges with F8, F6 and F4 also have 128 bytes of RAM: a write to 1000 to 107F stores, a read of 1080 to 10FF gives the
byte. A read of the first ones stores nothing and gives the ROM's byte, as in ale-py.
"""

from libc.stdint cimport uint8_t, uint16_t

from envs_c.console.cartridge.dpc cimport CHIP_END, NOTICED, dpc_read, dpc_write, shift_random
from envs_c.console.state cimport Console, Rom


cdef enum Kind:
    PLAIN
    F8        # 8 KB in two banks: 1FF8, 1FF9
    F6        # 16 KB in four: 1FF6 to 1FF9
    F4        # 32 KB in eight: 1FF4 to 1FFB
    E0        # 8 KB in eight slices of 1 KB; three of the four places can be switched: 1FE0 to 1FF7
    FE        # 8 KB in two banks, chosen by bit 13 of the address
    F8SC      # F8, F6 and F4 with RAM
    F6SC
    F4SC
    K3F       # 8 KB in four banks of 2 KB; a write of 0 .. 3 to 0000 to 003F puts one at 1000, the last one stays at 1800
    UA        # 8 KB in two banks: an access to 0220 or 0240, which is one to the TIA too
    DPC       # 8 KB as F8, and a chip with 2 KB of data: dpc.pxd


cdef inline bint has_own_ram(int kind) noexcept nogil:
    return kind in (F8SC, F6SC, F4SC)


cdef inline void set_bank(Console* m, int bank) noexcept nogil:
    cdef int k
    for k in range(8):
        m.slice[k] = <uint16_t>(bank * 4096 + (k & 3) * 1024)


cdef inline void insert(Console* m, const Rom* rom) noexcept nogil:
    """The banks at power-on."""
    cdef int k
    set_bank(m, 0)
    if rom.kind == PLAIN and rom.size <= 2048:
        for k in range(8):
            m.slice[k] = <uint16_t>((k & 1) * 1024)
    elif rom.kind in (F8, F8SC, DPC):
        set_bank(m, 1)
    elif rom.kind == E0:
        for k in range(8):
            m.slice[k] = <uint16_t>((4 + (k & 3)) * 1024)
    elif rom.kind == K3F:
        set_half(m, rom, 0, 0)
        set_half(m, rom, 2, rom.size // 2048 - 1)
    elif rom.kind == FE:
        for k in range(4):
            m.slice[k] = <uint16_t>(4096 + k * 1024)
            m.slice[4 + k] = <uint16_t>(k * 1024)


cdef inline void set_half(Console* m, const Rom* rom, int place, int bank) noexcept nogil:
    """A bank of 2 KB in one half of the address space. place: 0, or 2 for the upper half."""
    cdef int k
    for k in range(place, place + 2):
        m.slice[k] = m.slice[k + 4] = <uint16_t>((bank * 2048 + (k & 1) * 1024) % rom.size)


cdef inline void switch_below(Console* m, const Rom* rom, int address, int value) noexcept nogil:
    """An access to the TIA's part of the address space. value: what is written, -1 for a read."""
    address &= 0x1FFF
    if rom.kind == UA and (address == 0x220 or address == 0x240):
        set_bank(m, address == 0x240)
    elif rom.kind == K3F and value >= 0 and address <= 0x3F:
        set_half(m, rom, 0, value)


cdef inline uint8_t rom_byte(const Console* m, const Rom* rom, int address) noexcept nogil:
    return rom.bytes[m.slice[((address >> 10) & 3) | ((address >> 11) & 4)] + (address & 0x3FF)]


cdef inline void switch_bank(Console* m, const Rom* rom, int address) noexcept nogil:
    """An access to `address`, 13 bits, from rom.hot on."""
    cdef int k
    address &= 0xFFF
    if rom.kind in (F8, F8SC) and 0xFF8 <= address <= 0xFF9:
        set_bank(m, address - 0xFF8)
    elif rom.kind in (F6, F6SC) and 0xFF6 <= address <= 0xFF9:
        set_bank(m, address - 0xFF6)
    elif rom.kind in (F4, F4SC) and 0xFF4 <= address <= 0xFFB:
        set_bank(m, address - 0xFF4)
    elif rom.kind == E0 and 0xFE0 <= address <= 0xFF7:
        k = (address - 0xFE0) >> 3
        m.slice[k] = m.slice[k + 4] = <uint16_t>((address & 7) * 1024)


cdef inline void switch_dpc(Console* m, int address) noexcept nogil:
    if 0xFF8 <= address & 0xFFF <= 0xFF9:
        set_bank(m, (address & 0xFFF) - 0xFF8)


cdef inline void touch_dpc(Console* m, int address) noexcept nogil:
    """A read of the program in a DPC cartridge."""
    if address & 0xFFF >= NOTICED:
        shift_random(&m.extra.dpc)
        switch_dpc(m, address)


cdef inline int cartridge_read(Console* m, const Rom* rom, int address, int cycle) noexcept nogil:
    """A read from below rom.plain: where the cartridge's RAM is, or anywhere in one with a chip."""
    if rom.kind == DPC:
        if (address & 0xFFF) < CHIP_END:
            return dpc_read(m, rom, address, cycle)
        touch_dpc(m, address)
        return rom_byte(m, rom, address)
    return m.extra.ram[address & 0x7F] if address & 0x80 else rom_byte(m, rom, address)


cdef inline void cartridge_write(Console* m, const Rom* rom, int address, int value) noexcept nogil:
    """A write to the cartridge."""
    if rom.kind == DPC:
        shift_random(&m.extra.dpc)
        switch_dpc(m, address)
        if (address & 0xFFF) < CHIP_END:
            dpc_write(m, address, value)
    elif (address & 0x1FFF) < rom.plain and address & 0x80 == 0:
        m.extra.ram[address & 0x7F] = <uint8_t>value
