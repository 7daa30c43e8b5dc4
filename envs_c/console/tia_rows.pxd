"""The TIA by masks: `tia_run`, which equals tia_plain.pxd bit for bit.

Between two writes the beam crosses a part of a line, then whole lines that are all alike: their collisions are found once, and
their picture is copied.

Without a picture the beam waits: it moves only before a write that changes a mask, VBLANK, or how a line ends. Then it looks
only for latches that are not set yet, and only if both objects show something somewhere.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.console.tia cimport (
    BL, BLANK, COLUBK, COLUP0, COLUP1, COLUPF, CXCLR, ENABL, ENAM0, ENAM1, FIELD_FIRST, GRP0, GRP1, HMBL, HMCLR, HMM0, HMM1,
    HMP0, HMP1, LINE, M0, M1, NUSIZ0, NUSIZ1, P0, P1, PF, PF0, PF1, PF2, REFLECT, REFP0, REFP1, RESBL, RESM0, RESM1, RESMP0,
    RESMP1, SCORE, VDELBL, VDELP0, VDELP1, WIDTH, Mask, Tia, shown_ball, shown_missile, shown_player)
from envs_c.console.tia_masks cimport LATCHES, below, latch, latch_until, make_masks, wanted
from envs_c.console.tia_writes cimport end_line, tia_effect, tia_write


cdef inline uint64_t pixels(const Mask* mask, int x) noexcept nogil:
    """Eight pixels from x on, a byte each, 0 or 1."""
    cdef int word = x >> 6, shift = x & 63
    cdef uint64_t bits = mask.words[word] >> shift
    if shift > 56 and word < 2:
        bits |= mask.words[word + 1] << (64 - shift)
    bits = (bits & 0xFF) * 0x0101010101010101ULL & 0x8040201008040201ULL
    return (bits + 0x7F7F7F7F7F7F7F7FULL) >> 7 & 0x0101010101010101ULL


cdef inline void paint(const Tia* t, int x0, int x1, uint8_t* row) noexcept nogil:
    """Write pixels x0 .. x1 - 1 of a line: colours by priority, as in tia_plain.pxd."""
    cdef const Mask* m = &t.masks[0]
    cdef Mask first, second, field
    cdef uint64_t f, s, b, eight, any = 0
    cdef bint score = t.ctrlpf & SCORE and not (t.ctrlpf & FIELD_FIRST and (
        shown_player(t, 0) or shown_player(t, 1) or shown_missile(t, 0) or shown_missile(t, 1) or shown_ball(t)))
    cdef int word, x
    for word in range(3):
        f, s, b = m[P0].words[word] | m[M0].words[word], m[P1].words[word] | m[M1].words[word], m[BL].words[word]
        if score:
            f |= m[PF].words[word] & below(WIDTH // 2 - 64 * word)
            s |= m[PF].words[word] & ~below(WIDTH // 2 - 64 * word)
        else:
            b |= m[PF].words[word]
        if t.ctrlpf & FIELD_FIRST and not score:
            f, s = f & ~b, s & ~b
        first.words[word], second.words[word], field.words[word] = f, s & ~f, b & ~(f | s)
        any |= f | s | b
    memset(row + x0, t.colour[3], x1 - x0)
    if not any:
        return
    for x in range(x0, x1, 8):
        f, s, b = pixels(&first, x), pixels(&second, x), pixels(&field, x)
        eight = f * t.colour[0] | s * t.colour[1] | b * t.colour[2] | (0x0101010101010101ULL ^ f ^ s ^ b) * t.colour[3]
        memcpy(row + x, &eight, min(8, x1 - x))


cdef inline void cross(Tia* t, int row, int x0, int x1, uint8_t* picture) noexcept nogil:
    """Move the beam over pixels x0 .. x1 - 1 of a row of the window."""
    cdef uint8_t* line = picture + row * WIDTH if picture else NULL
    if t.vblank:
        if picture:
            memset(line + x0, 0, x1 - x0)
        return
    latch(t, x0, x1)
    if picture:
        if t.dirty:
            make_masks(t, 63)
        if t.comb and x0 < 8:
            memset(line + x0, 0, min(8, x1) - x0)
            x0 = min(8, x1)
        if x0 < x1:
            paint(t, x0, x1, line)


cdef inline bint turns(const Tia* t) noexcept nogil:
    """True if the end of a line changes anything but combs."""
    return t.hidden[0] or t.hidden[1] or t.star or t.reflect != t.ctrlpf & REFLECT


cdef inline int repeat(Tia* t, int row, int until, uint8_t* picture) noexcept nogil:
    """Copy a row to the whole lines that follow before `until` and are equal to it. Returns their number."""
    cdef int i, last = min(until // LINE - t.top, t.height)
    if t.comb or t.next_comb or turns(t):
        return 0
    if picture:
        for i in range(row + 1, last):
            memcpy(picture + i * WIDTH, picture + row * WIDTH, WIDTH)
    return max(0, last - row - 1)


cdef inline void end_combs(Tia* t, int until) noexcept nogil:
    """The ends of all lines of the window between the beam and clock `until`, if they change combs only."""
    cdef int first = max((t.clock + LINE - 1) // LINE, t.top + 1), last = min((until - 1) // LINE, t.top + t.height)
    if first == last:
        t.comb, t.next_comb = t.next_comb, 0
    elif first < last:
        t.comb = t.next_comb = 0


cdef inline void jump(Tia* t, int until) noexcept nogil:
    """Move the beam to clock `until` if there is no picture, and no end of a line on the way changes anything but combs."""
    if not t.vblank and wanted(t):
        latch_until(t, until)
    if t.comb or t.next_comb:
        end_combs(t, until)
    t.clock = until


cdef inline void beam(Tia* t, int until, uint8_t* picture) noexcept nogil:
    """Move the beam to clock `until`, or to where it already waits to move."""
    until = max(until, t.least)
    if until > t.clock:
        if picture or turns(t):
            creep(t, until, picture)
        else:
            jump(t, until)


cdef inline void creep(Tia* t, int until, uint8_t* picture) noexcept nogil:
    """Move the beam to clock `until`, line by line."""
    cdef int row, at, x0, x1, end
    while t.clock < until:
        if picture == NULL and not turns(t):
            jump(t, until)
            return
        row, at = t.clock // LINE - t.top, t.clock % LINE
        if at == 0 and 0 < row <= t.height:
            end_line(t, row - 1)
        if row < 0 or row >= t.height:
            t.clock = min(until, t.top * LINE) if row < 0 else until
            continue
        end = min(until, t.clock - at + LINE)
        x0, x1 = max(at - BLANK, 0), end - (t.clock - at) - BLANK
        t.clock = end
        if x0 < x1:
            cross(t, row, x0, x1, picture)
            if x1 - x0 == WIDTH:
                t.clock += LINE * repeat(t, row, until, picture)


cdef inline bint alone(const Tia* t, int object) noexcept nogil:
    """True if this object, even if it showed something, could set no latch that is not set."""
    return t.vblank or ((LATCHES[t.live | 1 << object] & ~LATCHES[t.live & ~(1 << object)]) & ~t.latches) == 0


cdef inline bint same_players(const Tia* t, int player, int value) noexcept nogil:
    """True if GRP0 or GRP1 changes nothing that collisions depend on."""
    cdef int other = 1 - player
    return ((t.vdelp[player] or t.grp[player] == value or alone(t, player))
            and (not t.vdelp[other] or t.grp_old[other] == t.grp[other] or alone(t, other))
            and (player == 0 or not t.vdelbl or t.enabl_old == t.enabl or alone(t, BL)))


cdef inline void pass_beam(Tia* t, bint waits, int clock, int delay, uint8_t* picture) noexcept nogil:
    """Move the beam to `delay` after clock `clock`; without a picture it may wait."""
    if picture or not waits:
        beam(t, clock + delay, picture)
    elif delay:
        t.least = max(t.least, clock + delay)


cdef inline bint unseen(const Tia* t, int register, int value) noexcept nogil:
    """True if a write changes nothing that collisions depend on, so that the beam may wait."""
    if register in (COLUP0, COLUP1, COLUPF, COLUBK, HMP0, HMP1, HMM1, HMBL, HMCLR):
        return True
    if register == HMM0:
        return t.hm[M0] >> 4 != 7  # HMM0 can begin the stars
    if register in (GRP0, GRP1):
        return same_players(t, register - GRP0, value)
    if register in (PF0, PF1, PF2):
        return alone(t, PF)
    if register in (REFP0, REFP1):
        return alone(t, register - REFP0)
    if register in (VDELP0, VDELP1):
        return alone(t, register - VDELP0)
    if register in (ENABL, VDELBL, RESBL):
        return alone(t, BL)
    if t.star:
        return False
    if register in (ENAM0, ENAM1):
        return alone(t, M0 + register - ENAM0)
    if register in (RESM0, RESM1):
        return alone(t, M0 + register - RESM0)
    if register in (RESMP0, RESMP1):
        return alone(t, M0 + register - RESMP0)
    if register in (NUSIZ0, NUSIZ1):
        return not t.hidden[register - NUSIZ0] and alone(t, register - NUSIZ0) and alone(t, M0 + register - NUSIZ0)
    return False


cdef inline void tia_poke(Tia* t, int register, int value, int clock, uint8_t* picture) noexcept nogil:
    """A write at `clock`: move the beam to where it takes effect, then change the register.

    picture: (height, WIDTH) palette indices of the window, or NULL.
    """
    if register == CXCLR:
        t.latches = 0xFFFF  # nobody will read the collisions up to here
    pass_beam(t, unseen(t, register, value), clock, tia_effect(t, register, clock) - clock, picture)
    tia_write(t, register, value, clock)


cdef inline void tia_run(Tia* t, const uint32_t* log, int count, int until, uint8_t* picture) noexcept nogil:
    """Replay writes and move the beam to clock `until`, with the collisions of all before.

    log: (count,), writes in the order of their clocks.
    picture: as in `tia_poke`.
    """
    cdef int i
    for i in range(count):
        tia_poke(t, log[i] >> 8 & 63, log[i] & 255, log[i] >> 14, picture)
    beam(t, until, picture)
