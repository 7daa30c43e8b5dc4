"""The address space: cartridge at 1000 to 1FFF, RAM and RIOT where bit 7 is set, the TIA elsewhere; 13 bits count."""

from libc.stdint cimport int32_t, uint8_t, uint16_t

from envs_c.console.cartridge.cartridge cimport K3F, cartridge_read, cartridge_write, rom_byte, switch_bank, switch_below
from envs_c.console.pictures.drawing cimport keep, note_access
from envs_c.console.cpu.riot cimport riot_read, riot_write
from envs_c.console.tia.tia cimport tia_forget, tia_read
from envs_c.console.tia.rows cimport beam, tia_poke
from envs_c.console.state cimport CLOCKS, LINE, NO_VSYNC, OPEN, Console, Cpu, Rom


cdef enum:
    VSYNC = 0
    VBLANK = 1
    WSYNC = 2


cdef inline int chip_read(Console* m, const Rom* rom, int address, int cycle, int bus) noexcept nogil:
    """A read that is neither from RAM nor from ROM."""
    if address & 0x1000:
        return cartridge_read(m, rom, address, cycle)
    if address & 0x80:
        return riot_read(m, address, cycle)
    if rom.kind >= K3F:
        switch_below(m, rom, address, -1)
    note_access(m, cycle)
    address &= 0x0F
    if address < 8:
        beam(&m.tia, 3 * cycle)
        return tia_read(&m.tia, address) | (bus & 0x3F)
    if address < 12:
        return 0x80 | (bus & 0x3F) if charged(m, address & 3, cycle) else bus & 0x3F
    if address < 14:
        return (0 if m.triggers & (1 << (address & 1)) else 0x80) | (bus & 0x3F)
    return bus & 0x3F


cdef inline bint charged(const Console* m, int paddle, int cycle) noexcept nogil:
    """True if the capacitor of a paddle is charged: 0.01 uF through the paddle's resistance.

    A capacitor that was already charged when the frame began counts as not charged, as in ale-py.
    """
    cdef int32_t end
    if m.vblank & 0x80 or m.paddles[paddle] == OPEN:
        return False
    end = m.dumped + <int32_t>(1.6 * m.paddles[paddle] * 0.01e-6 * 1.19e6)
    return 0 <= end < cycle


cdef inline void chip_write(Console* m, const Rom* rom, int address, int value, int32_t* cycle) noexcept nogil:
    """A write to the TIA, to the RIOT's ports or timer, or to the cartridge.

    A write to the TIA that changes nothing is left out. Its delay could hold up the next write only if that came less than
    three cycles later, as those of `push_word` do.
    """
    cdef int clock
    if address & 0x1000:
        cartridge_write(m, rom, address, value)
        return
    if address & 0x80:
        riot_write(m, address, value, cycle[0])
        return
    if rom.kind >= K3F:
        switch_below(m, rom, address, value)
    note_access(m, cycle[0])
    address &= 0x3F
    clock = 3 * cycle[0]
    if clock >= (m.last_line + 1) * CLOCKS:
        m.done = 1
    if m.tia.same[address] == value:
        return
    if address == WSYNC:
        cycle[0] = (cycle[0] + LINE - 1) // LINE * LINE
    elif address == VSYNC:
        if value & 2:
            m.vsync = clock + CLOCKS
        elif clock >= m.vsync:
            m.done = 1
            m.vsync = NO_VSYNC
    else:
        if address == VBLANK:
            if m.vblank & 0x80 and not value & 0x80:
                m.dumped = cycle[0]
            m.vblank = <uint8_t>value
        keep(m, address, value, clock)
        tia_poke(&m.tia, address, value, clock)


cdef inline void forget_same(Console* m) noexcept nogil:
    """The next writes to the TIA are not left out."""
    tia_forget(&m.tia)


cdef inline int load(Cpu* cpu, Console* m, const Rom* rom, int address) noexcept nogil:
    cdef int value
    if (address & 0x1FFF) >= rom.plain:
        if (address & 0x1FFF) >= rom.hot:
            switch_bank(m, rom, address)
        value = rom_byte(m, rom, address)
    elif address & 0x1280 == 0x80:
        value = m.ram[address & 0x7F]
    else:
        value = chip_read(m, rom, address, cpu.cycle, cpu.bus)
    cpu.bus = <uint8_t>value
    return value


cdef inline void store(Cpu* cpu, Console* m, const Rom* rom, int address, int value) noexcept nogil:
    value &= 0xFF
    cpu.bus = <uint8_t>value
    if address & 0x1280 == 0x80:
        m.ram[address & 0x7F] = <uint8_t>value
    else:
        if (address & 0x1FFF) >= rom.hot:
            switch_bank(m, rom, address)
        chip_write(m, rom, address, value, &cpu.cycle)


cdef inline int fetch(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    """The next byte of the program."""
    cdef int address = cpu.pc
    cpu.pc += 1
    if (address & 0x1FFF) >= rom.plain:
        cpu.bus = rom_byte(m, rom, address)
        return cpu.bus
    return load(cpu, m, rom, address)


cdef inline int fetch_word(Cpu* cpu, Console* m, const Rom* rom) noexcept nogil:
    cdef int low = fetch(cpu, m, rom)
    return low | fetch(cpu, m, rom) << 8
