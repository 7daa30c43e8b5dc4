"""Which snapshots of a console can be restored: bounds of all that is used as an index, a count or a shift."""

from envs_c.console.cartridge.cartridge cimport DPC
from envs_c.console.cartridge.dpc cimport safe_dpc
from envs_c.console.state cimport NO_VSYNC, WIDTH, Console, Facts, Play, Rom
from envs_c.console.tia.tia cimport NO_END, Tia
from envs_c.valid cimport all_between, between


cdef inline bint safe(const Tia* tia, const Facts* facts) noexcept nogil:
    return (tia.live < 64 and between(tia.least, 0, 1 << 20) and between(tia.comb_end, 0, NO_END)
            and tia.top == facts.top and tia.height == facts.height and between(tia.clock, -(1 << 20), 1 << 20)
            and between(tia.hmove, -(1 << 30), 1 << 20)
            and all_between(tia.position, 5, 0, WIDTH - 1))


cdef inline bint safe_console(const Console* m, const Rom* rom) noexcept nogil:
    cdef int i
    for i in range(8):
        if m.slice[i] + 1024 > rom.size or m.slice[i] % 1024 != 0:
            return False
    return (m.cartridge == rom.key and m.drawing == 0 and m.odd < 2 and m.odd_next < 2 and between(m.shift, 0, 10)
            and between(m.cpu.cycle, 0, 1 << 16) and between(m.vsync, -NO_VSYNC, NO_VSYNC)
            and between(m.timer_set, -(1 << 25), 1 << 16) and between(m.late, 0, 1 << 26)
            and between(m.dumped, -(1 << 30), 1 << 16) and m.last_line == rom.facts.last_line
            and between(m.lives, -(1 << 20), 1 << 20) and between(m.score, -(1 << 30), 1 << 30)
            and between(m.ohm, 0, 1 << 24) and safe(&m.tia, &rom.facts)
            and (rom.kind != DPC or safe_dpc(&m.extra.dpc)))


cdef inline bint safe_play(const Play* p, const Rom* rom) noexcept nogil:
    return (between(p.last, 0, 1) and safe_console(&p.now, rom)
            and safe_console(&p.before[0], rom) and safe_console(&p.before[1], rom)
            and (not (p.early[0] or p.early[1]) or safe_console(&p.older, rom)))
