"""The TIA's collisions by masks: `tia_run`, whose registers and latches equal those of plain.pxd bit for bit.

The beam waits: it moves only before a write that changes a mask, VBLANK, or how a line ends. Then it looks only for latches
that are not set yet, and only if both objects show something somewhere. Pictures are drawn elsewhere: paint.pxd.
"""

from libc.stdint cimport uint32_t

from envs_c.console.tia.tia cimport (
    BL, BLANK, COLUBK, COLUP0, COLUP1, COLUPF, CXCLR, ENABL, ENAM0, ENAM1, GRP0, GRP1, HMBL, HMCLR, HMM0, HMM1, HMOVE, HMP0,
    HMP1, LINE, M0, NO_END, NUSIZ0, NUSIZ1, PF, PF0, PF1, PF2, REFLECT, REFP0, REFP1, RESBL, RESM0, RESM1, RESMP0, RESMP1,
    VDELBL, VDELP0, VDELP1, Tia, clock_in_line, line_end, line_of)
from envs_c.console.tia.masks cimport LATCHES, find_near, latch, latch_until, wanted
from envs_c.console.tia.writes cimport begin_comb, end_line, move_objects, pulls_nothing, tia_effect, tia_write


cdef inline bint turns(const Tia* t) noexcept nogil:
    """True if the end of a line changes anything but combs."""
    return t.hidden[0] or t.hidden[1] or t.star or t.reflect != t.ctrlpf & REFLECT


cdef inline void end_combs(Tia* t, int until) noexcept nogil:
    """The ends of lines before clock `until` end combs, if they did not yet."""
    if until > t.comb_end:
        t.comb = t.next_comb if until <= t.comb_end + LINE or line_end(t, t.comb_end + 1) == NO_END else 0
        t.next_comb = 0
        t.comb_end = line_end(t, until)


cdef inline void jump(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until` if no end of a line on the way changes anything but combs, which wait."""
    if not t.vblank and wanted(t):
        latch_until(t, until)
    t.clock = until


cdef inline void beam(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until`, or to where it already waits to move."""
    until = max(until, t.least)
    if until > t.clock:
        if turns(t):
            end_combs(t, t.clock)
            creep(t, until)
        else:
            jump(t, until)


cdef inline int enter_row(Tia* t, int until) noexcept nogil:
    """The row of the window where the beam stands, after the end of the line before; -1 if it moved on outside the window."""
    cdef int row = line_of(t.clock) - t.top
    if clock_in_line(t.clock) == 0 and 0 < row <= t.height:
        end_line(t, row - 1)
        t.comb_end = line_end(t, t.clock + 1)
    if 0 <= row < t.height:
        return row
    t.clock = min(until, t.top * LINE) if row < 0 else until
    return -1


cdef inline int end_in_row(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until`, or to the end of its line. Returns the pixel there; up to 0 in the blank."""
    cdef int first = t.clock - clock_in_line(t.clock)
    t.clock = min(until, first + LINE)
    return t.clock - first - BLANK


cdef inline void creep(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until`, line by line while the end of a line changes something."""
    cdef int x0, x1
    while t.clock < until:
        if not turns(t):
            jump(t, until)
            return
        if enter_row(t, until) >= 0:
            x0 = max(clock_in_line(t.clock) - BLANK, 0)
            x1 = end_in_row(t, until)
            if x0 < x1 and not t.vblank:
                latch(t, x0, x1)


cdef inline bint still(const Tia* t, int clock) noexcept nogil:
    """True if HMOVE at `clock` moves nothing, as most do: it makes a comb, for which the beam can wait."""
    return pulls_nothing(t, clock_in_line(clock)) and not turns(t)


cdef inline void hmove(Tia* t, int clock) noexcept nogil:
    """HMOVE at `clock`."""
    if still(t, clock):
        end_combs(t, max(clock, t.least))
        begin_comb(t, clock)
        t.hmove = clock
    else:
        beam(t, clock)
        end_combs(t, t.clock)
        move_objects(t, clock)


cdef inline void settle(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until`, and end the combs that ended."""
    beam(t, until)
    end_combs(t, t.clock)


cdef inline int latches_with(const Tia* t, int object) noexcept nogil:
    """Latches that are not set, but could be by this object and those that show something."""
    return LATCHES[t.live | 1 << object] & ~LATCHES[63 ^ 1 << object] & ~t.latches


cdef inline bint alone(const Tia* t, int object) noexcept nogil:
    """True if this object, even if it showed something, could set no latch that is not set."""
    return t.vblank or latches_with(t, object) == 0


cdef inline bint apart(Tia* t, int object) noexcept nogil:
    """As `alone`, but this object keeps its position and size, whatever it shows."""
    if not alone(t, object):
        find_near(t, t.live | 1 << object)
        return (latches_with(t, object) & t.near) == 0
    return True


cdef inline bint same_players(Tia* t, int player, int value) noexcept nogil:
    """True if GRP0 or GRP1 changes nothing that collisions depend on."""
    cdef int other = 1 - player
    return ((t.vdelp[player] or t.grp[player] == value or apart(t, player))
            and (not t.vdelp[other] or t.grp_old[other] == t.grp[other] or apart(t, other))
            and (player == 0 or not t.vdelbl or t.enabl_old == t.enabl or apart(t, BL)))


cdef inline void pass_beam(Tia* t, bint waits, int clock, int delay) noexcept nogil:
    """Move the beam to `delay` after clock `clock`, unless it can wait."""
    if not waits:
        beam(t, clock + delay)
    elif delay:
        t.least = max(t.least, clock + delay)


cdef inline bint stars_stay(const Tia* t) noexcept nogil:
    """True if a write to HMM0 cannot begin the stars."""
    return t.hm[M0] >> 4 != 7


cdef inline bint unseen(Tia* t, int register, int value) noexcept nogil:
    """True if a write changes nothing that collisions depend on, so that the beam may wait."""
    if register in (COLUP0, COLUP1, COLUPF, COLUBK, HMP0, HMP1, HMM1, HMBL, HMCLR):
        return True
    if register == HMM0:
        return stars_stay(t)
    if register in (GRP0, GRP1):
        return same_players(t, register - GRP0, value)
    if register in (PF0, PF1, PF2):
        return alone(t, PF)
    if register in (REFP0, REFP1):
        return apart(t, register - REFP0)
    if register in (VDELP0, VDELP1):
        return apart(t, register - VDELP0)
    if register in (ENABL, VDELBL):
        return apart(t, BL)
    if register == RESBL:
        return alone(t, BL)
    if t.star:
        return False
    if register in (ENAM0, ENAM1):
        return apart(t, M0 + register - ENAM0)
    if register in (RESM0, RESM1):
        return alone(t, M0 + register - RESM0)
    if register in (RESMP0, RESMP1):
        return alone(t, M0 + register - RESMP0)
    if register in (NUSIZ0, NUSIZ1):
        return not t.hidden[register - NUSIZ0] and alone(t, register - NUSIZ0) and alone(t, M0 + register - NUSIZ0)
    return False


cdef inline void tia_poke(Tia* t, int register, int value, int clock) noexcept nogil:
    """A write at `clock`: move the beam to where it takes effect, then change the register."""
    if register == HMOVE:
        hmove(t, clock)
        return
    if register == CXCLR:
        t.latches = 0xFFFF  # nobody will read the collisions up to here
    pass_beam(t, unseen(t, register, value), clock, tia_effect(t, register, clock) - clock)
    tia_write(t, register, value, clock)


cdef inline void tia_run(Tia* t, const uint32_t* log, int count, int until) noexcept nogil:
    """Replay writes and move the beam to clock `until`, with the collisions of all before.

    log: (count,), writes in the order of their clocks.
    """
    cdef int i
    for i in range(count):
        tia_poke(t, log[i] >> 8 & 63, log[i] & 255, log[i] >> 14)
    settle(t, until)
