"""One frame of the console."""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.console.tia.tia cimport tia_end_frame, tia_init
from envs_c.console.tia.rows cimport settle
from envs_c.console.cartridge.cartridge cimport DPC, has_own_ram, insert, rom_byte
from envs_c.console.cartridge.dpc cimport dpc_end_frame, dpc_init, dpc_power_on
from envs_c.console.pictures.drawing cimport Drawing, Scratch, drawing_begin
from envs_c.console.cpu.instructions cimport execute
from envs_c.console.cartridge.power_on cimport place_in
from envs_c.console.cpu.riot cimport riot_end_frame
from envs_c.console.state cimport CLOCKS, LINE, NO_VSYNC, OWN_POWER_ONS, POWER_ONS, Console, Cpu, Play, Rom, compiled_fn


cdef extern from *:
    """
    #ifdef __NVPTX__ /* a GPU has the interpreter only, and no calls of unknown functions */
    #define console_compiled(rom) NULL
    #else
    #define console_compiled(rom) ((rom)->compiled)
    #endif
    """
    compiled_fn console_compiled(const Rom* rom) noexcept nogil


cdef enum:
    NTSC_LAST_LINE = 290


cdef inline void power_on(Console* m, const Rom* rom) noexcept nogil:
    """A console that was never on before: until it is turned off and on, a PAL cartridge's frames end where NTSC's do."""
    memset(m, 0, sizeof(Console))
    memcpy(m.ram, rom.power.ram, 128)
    m.cartridge = rom.key
    if rom.kind == DPC:
        dpc_init(m)
    power_on_again(m, rom, 0)
    m.last_line = NTSC_LAST_LINE


cdef inline void power_on_again(Console* m, const Rom* rom, int resets) noexcept nogil:
    """Turn the console off and on: everything begins anew, but the RAM keeps its bytes. resets: how often this was done."""
    insert(m, rom)
    memset(&m.cpu, 0, sizeof(Cpu))
    m.cpu.sp = 0xFF
    m.cpu.zero = 1
    m.cpu.pc = rom_byte(m, rom, 0xFFFC) | rom_byte(m, rom, 0xFFFD) << 8
    if rom.kind == DPC:
        dpc_power_on(m)
    if has_own_ram(rom.kind):
        memcpy(m.extra.ram, rom.power.own[place_in(resets, OWN_POWER_ONS)], 128)
    m.timer = rom.power.timers[place_in(resets, POWER_ONS)]
    m.shift = 6
    m.timer_set = 0
    m.late = 0
    m.port_a = m.port_a_out = m.port_b = m.port_b_out = 0
    m.sticks = 0xFF
    m.switches = 0x3F
    m.cut = 0
    m.triggers = m.vblank = m.done = m.odd = m.odd_next = 0
    m.dumped = 0
    m.vsync = NO_VSYNC
    m.last_line = rom.facts.last_line
    tia_init(&m.tia)
    m.tia.top = rom.facts.top
    m.tia.height = rom.facts.height
    m.tia.no_comb = rom.facts.no_comb


cdef inline void run_frame(Console* m, const Rom* rom) noexcept nogil:
    """Run to the end of the frame.

    A frame that was cut off has passed its last line, and goes on in the next call: up to its next write to the TIA, at most.
    """
    run_frame_by(m, rom, console_compiled(rom))


cdef inline void run_frame_by(Console* m, const Rom* rom, compiled_fn compiled) noexcept nogil:
    """`run_frame` by the interpreter, with code that is compiled. compiled: may be NULL."""
    cdef Cpu cpu = m.cpu
    cdef int left = rom.facts.instructions
    begin_frame(m)
    while not m.done and left > 0:
        if compiled:
            left = compiled(&cpu, m, rom, left)
            if m.done:
                break
        execute(&cpu, m, rom)
        left -= 1
    m.cpu = cpu
    end_frame(m, rom)


cdef inline void begin_frame(Console* m) noexcept nogil:
    """A frame begins, or one that was cut off goes on."""
    m.done = 0
    if not m.cut:
        m.odd = m.odd_next


cdef inline void end_frame(Console* m, const Rom* rom) noexcept nogil:
    """The frame has ended, and the next one begins at clock 0; or it was cut off, and goes on after its last line."""
    cdef int32_t cycles = m.cpu.cycle - m.cpu.cycle % LINE
    m.cut = not m.done
    if m.cut:
        cycles -= (m.last_line + 1) * LINE
    else:
        m.odd_next = cycles // LINE & 1 if m.last_line > 300 else 0
    m.ended = 3 * m.cpu.cycle
    settle(&m.tia, m.ended)
    tia_end_frame(&m.tia, 3 * cycles)
    riot_end_frame(m, cycles)
    if rom.kind == DPC:
        dpc_end_frame(m, cycles)
    m.dumped = max(m.dumped - cycles, -(1 << 28))
    if m.vsync != NO_VSYNC:
        m.vsync = max(m.vsync - 3 * cycles, -NO_VSYNC)
    m.cpu.cycle -= cycles


cdef inline bint begin_kept(Play* p, const Rom* rom, Console* replaced) noexcept nogil:
    """Remember where a frame begins. Returns False for one that goes on: where it began first is there, and has its picture.

    replaced: gets the start of the frame before the last one, if the game has older rows.
    """
    p.goes_on = p.now.cut
    if p.goes_on:
        return False
    p.last ^= 1
    if rom.facts.older_rows:
        replaced[0] = p.before[p.last]
    p.before[p.last] = p.now
    return True


cdef inline void end_kept(Play* p, const Rom* rom, const Console* replaced) noexcept nogil:
    """After the frame of `begin_kept`: keep the frame before the last one if its rows are seen where this one drew nothing.

    ale-py draws in two buffers that take turns. The picture of a frame that was cut off ends at its last access to the TIA. If
    the frame before the last one drew only a part too, what is seen below that stays.
    """
    cdef bint early = rom.facts.older_rows and (p.now.cut or p.now.ended < (p.now.tia.top + p.now.tia.height) * CLOCKS)
    if early and not p.early[p.last]:
        p.older = replaced[0]
        p.older_of = <uint8_t>p.last
    p.early[p.last] = early


cdef inline void go_on(Play* p, const Rom* rom) noexcept nogil:
    """Play a frame that goes on. The access to the TIA with which it ends completes its picture."""
    run_frame(&p.now, rom)
    if not p.now.cut:
        p.early[p.last] = 0


cdef inline void play_frame(Play* p, const Rom* rom) noexcept nogil:
    """`run_frame`, and remember where the frame began."""
    cdef Console replaced
    if not begin_kept(p, rom, &replaced):
        go_on(p, rom)
        return
    run_frame(&p.now, rom)
    end_kept(p, rom, &replaced)


cdef inline void keep_frame(Play* p, const Rom* rom, Scratch* scratch, const uint8_t* shades) noexcept nogil:
    """As play_frame, and keep the frame in the scratch memory, unless it goes on or nobody looks at it.

    shades: as for drawing_begin.
    """
    cdef Drawing* d
    cdef Console replaced
    if scratch.owner != p:
        scratch.owner = p
        scratch.there[0] = scratch.there[1] = 0
        scratch.left = scratch.unseen
    if not begin_kept(p, rom, &replaced):
        go_on(p, rom)
        return
    scratch.there[p.last] = scratch.left <= 0
    if scratch.left > 0:
        scratch.left -= 1
        run_frame(&p.now, rom)
    else:
        d = &scratch.frames[p.last]
        drawing_begin(d, &p.now, shades)
        run_frame(&d.console, rom)
        p.now = d.console
        p.now.drawing = 0
    end_kept(p, rom, &replaced)
