"""Pictures of the TIA, drawn from the log of a frame's writes.

A `Painter` replays the log from the chip as it was when the frame began. Most writes come in the blank, and only change the
chip; lines.pxd has what happens within a line and at its end.

Everything equals plain.pxd pixel by pixel.
"""

from libc.stdint cimport uint8_t, uint32_t

from envs_c.console.tia.tia cimport (
    BL, COLUBK, COLUP0, COLUP1, COLUPF, CTRLPF, FIELD_FIRST, GRP0, GRP1, HMBL, HMCLR, HMM0, HMM1, HMOVE, HMP0, HMP1, LINE, M0,
    P0, P1, PF, PF0, PF1, PF2, SCORE, VBLANK, Tia, line_of)
from envs_c.console.tia.lines cimport Painter, add, begin_line, begin_outside, finish_row, is_seen, paint_to
from envs_c.console.tia.rows cimport stars_stay, still, turns
from envs_c.console.tia.writes cimport (
    begin_comb, clear_motion, end_line, move_objects, tia_effect, tia_write, write_colour, write_motion, write_player,
    write_playfield)


cdef enum:
    MOVABLE = 31  # players, missiles and ball, a bit each


cdef extern from *:
    """
    /* The objects that a write to each register can change, a bit each; but for GRP0 and GRP1. */
    static const unsigned char CHANGES[64] = {
        [0x04] = 5, [0x05] = 10, [0x0A] = 48, [0x0B] = 1, [0x0C] = 2, [0x0D] = 32, [0x0E] = 32, [0x0F] = 32, [0x10] = 1,
        [0x11] = 2, [0x12] = 4, [0x13] = 8, [0x14] = 16, [0x1D] = 4, [0x1E] = 8, [0x1F] = 16, [0x25] = 1, [0x26] = 2,
        [0x27] = 16, [0x28] = 4, [0x29] = 8};
    """
    const uint8_t[64] CHANGES


cdef inline void leave_lines(Painter* p, int until) noexcept nogil:
    """Move the beam on to clock `until`, which is after the end of the line, or in the window if the beam is above it."""
    cdef Tia* t = &p.tia
    cdef bint entered = False
    while until > p.end:
        t.clock = p.end
        if p.row >= 0:
            finish_row(p)
            if entered:
                skip_lines(p, until)
            end_line(t, p.row)
        entered = True
        if p.row + 1 < t.height:
            begin_line(p, p.row + 1, t.clock)
        else:
            begin_outside(p, False)


cdef inline void paint_until(Painter* p, int until) noexcept nogil:
    """Move the beam to clock `until`, or to where it already waits to move."""
    until = max(until, p.tia.least)
    if until > p.end:
        leave_lines(p, until)
    p.tia.clock = max(p.tia.clock, until)


cdef inline void skip_lines(Painter* p, int until) noexcept nogil:
    """Whole lines that follow before `until` and are equal to the current one, which is complete and had no writes."""
    cdef Tia* t = &p.tia
    cdef int line, last = min(line_of(until - 1) - t.top, t.height)
    if last > p.row + 1 and not (t.comb or t.next_comb or turns(t)):
        for line in range(p.row + 1, last):
            p.kept[line] = p.kept[p.row]
        p.row = last - 1
        t.clock = (t.top + last) * LINE


cdef inline void before_write(Painter* p, int objects, int x) noexcept nogil:
    """A write changes these objects, a bit each, at pixel x."""
    if p.tia.ctrlpf & (SCORE | FIELD_FIRST) == SCORE | FIELD_FIRST:  # the priority depends on what is shown
        paint_to(p, x)
    add(p, objects, x)


cdef inline int cross(Painter* p, int until) noexcept nogil:
    """Move the beam; returns the pixel where it stands, 0 or less in the blank and outside the window."""
    paint_until(p, until)
    p.changed = 1
    return p.tia.clock - p.origin


cdef inline void paint_other(Painter* p, int register, int value, int clock) noexcept nogil:
    """A write that is neither to a colour, the playfield, a player's picture nor a motion register."""
    cdef int x = cross(p, tia_effect(&p.tia, register, clock))
    if x > 0:
        if register == VBLANK or register == CTRLPF:
            paint_to(p, x)
        if CHANGES[register]:
            before_write(p, CHANGES[register], x)
    tia_write(&p.tia, register, value, clock)


cdef inline void paint_hmove(Painter* p, int clock) noexcept nogil:
    """HMOVE: most move nothing, and make only a comb."""
    cdef int x
    paint_until(p, clock)
    x = p.tia.clock - p.origin
    if still(&p.tia, clock):
        begin_comb(&p.tia, clock)
        p.tia.hmove = clock
    else:
        p.changed = 1
        if x > 0:
            before_write(p, MOVABLE, x)
        move_objects(&p.tia, clock)
    if p.tia.comb:
        p.comb = min(p.comb, max(x, 0))


cdef inline void paint_write(Painter* p, int register, int value, int clock) noexcept nogil:
    """Replay a write."""
    cdef Tia* t = &p.tia
    cdef int x
    if register in (HMP0, HMP1, HMM1, HMBL):  # nothing is seen of these
        write_motion(t, register - HMP0, value, clock)
    elif register == HMM0:
        if not stars_stay(t):
            cross(p, clock)
        write_motion(t, M0, value, clock)
    elif register == HMCLR:
        clear_motion(t)
    elif register in (COLUP0, COLUP1, COLUPF, COLUBK):
        x = cross(p, clock)
        if x > 0 and is_seen(p, register - COLUP0, x):
            paint_to(p, x)
        write_colour(t, register - COLUP0, value)
    elif register in (PF0, PF1, PF2):
        x = cross(p, tia_effect(t, PF0, clock))
        if x > 0:
            before_write(p, 1 << PF, x)
        write_playfield(t, register - PF0, value)
    elif register == HMOVE:
        paint_hmove(p, clock)
    elif register == GRP0:
        x = cross(p, tia_effect(t, GRP0, clock))
        if x > 0:
            before_write(p, (not t.vdelp[0]) << P0 | t.vdelp[1] << P1, x)
        write_player(t, 0, value)
    elif register == GRP1:
        x = cross(p, tia_effect(t, GRP1, clock))
        if x > 0:
            before_write(p, (not t.vdelp[1]) << P1 | t.vdelp[0] << P0 | t.vdelbl << BL, x)
        write_player(t, 1, value)
    else:
        paint_other(p, register, value, clock)


cdef inline void paint_log(Painter* p, const uint32_t* log, int count, int until) noexcept nogil:
    """Replay writes and move the beam to clock `until`. log: (count,), as in tia.pxd."""
    cdef int i
    for i in range(count):
        paint_write(p, log[i] >> 8 & 63, log[i] & 255, log[i] >> 14)
    paint_until(p, until)
