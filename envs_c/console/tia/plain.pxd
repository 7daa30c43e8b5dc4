"""The TIA pixel by pixel: slow and plain, the twin of rows.pxd and paint.pxd for tests.

Which object colours a pixel:
- Player 0 and missile 0 lie over player 1 and missile 1, these over playfield and ball, these over the background.
- Bit 2 of CTRLPF: playfield and ball lie over all.
- Bit 1 of CTRLPF (score): the playfield takes the place and colour of player 0 in the left half; in the right half it takes
  the colour of player 1, and lies under player 0. Bit 2 turns this off, unless GRP, ENAM and ENABL show nothing.
With VBLANK, and in the comb, a pixel is 0.
"""

from libc.stdint cimport uint8_t, uint32_t

from envs_c.console.tia.tia cimport (
    BL, BLANK, FIELD_FIRST, LINE, M0, M1, P0, P1, PF, SCORE, WIDTH, Tia, copy_distance, missile_width, shown_ball,
    shown_missile, shown_player, stretch, wrapped)
from envs_c.console.tia.writes cimport end_line, tia_effect, tia_write


cdef inline bint player_at(const Tia* t, int player, int x) noexcept nogil:
    cdef int copy, bit, wide = stretch(t.nusiz[player])
    for copy in range(t.hidden[player], 3):
        if copy_distance(t.nusiz[player], copy) >= 0:
            bit = wrapped(x - wrapped(t.position[player] + copy_distance(t.nusiz[player], copy) + (wide > 0))) >> wide
            if bit < 8:
                return shown_player(t, player) >> (bit if t.refp[player] else 7 - bit) & 1
    return False


cdef inline bint missile_at(const Tia* t, int missile, int x) noexcept nogil:
    cdef int copy
    for copy in range(3):
        if copy_distance(t.nusiz[missile], copy) >= 0:
            if wrapped(x - wrapped(t.position[M0 + missile] + copy_distance(t.nusiz[missile], copy))) < missile_width(
                    t, missile):
                return shown_missile(t, missile)
    return False


cdef inline bint ball_at(const Tia* t, int x) noexcept nogil:
    return shown_ball(t) and wrapped(x - t.position[BL]) < 1 << (t.ctrlpf >> 4 & 3)


cdef inline bint playfield_at(const Tia* t, int x) noexcept nogil:
    cdef int bit = x >> 2
    if bit >= 20:
        bit = 39 - bit if t.reflect else bit - 20
    if bit < 4:
        return t.pf[0] >> (4 + bit) & 1
    if bit < 12:
        return t.pf[1] >> (11 - bit) & 1
    return t.pf[2] >> (bit - 12) & 1


cdef inline int objects_at(const Tia* t, int x) noexcept nogil:
    """The objects that cover pixel x, a bit each."""
    return (player_at(t, 0, x) << P0 | player_at(t, 1, x) << P1 | missile_at(t, 0, x) << M0 | missile_at(t, 1, x) << M1
            | ball_at(t, x) << BL | playfield_at(t, x) << PF)


cdef inline int both(int objects, int first, int second) noexcept nogil:
    return objects >> first & objects >> second & 1


cdef inline int collisions(int objects) noexcept nogil:
    """The latches that these objects set at one pixel."""
    return (both(objects, M0, P0) | both(objects, M0, P1) << 1 | both(objects, M1, P1) << 2 | both(objects, M1, P0) << 3
            | both(objects, P0, BL) << 4 | both(objects, P0, PF) << 5 | both(objects, P1, BL) << 6
            | both(objects, P1, PF) << 7 | both(objects, M0, BL) << 8 | both(objects, M0, PF) << 9
            | both(objects, M1, BL) << 10 | both(objects, M1, PF) << 11 | both(objects, BL, PF) << 13
            | both(objects, M0, M1) << 14 | both(objects, P0, P1) << 15)


cdef inline bint scores(const Tia* t) noexcept nogil:
    """True if the playfield has the players' colours."""
    return t.ctrlpf & SCORE and not (t.ctrlpf & FIELD_FIRST and (
        shown_player(t, 0) or shown_player(t, 1) or shown_missile(t, 0) or shown_missile(t, 1) or shown_ball(t)))


cdef inline int colour_at(const Tia* t, int x, int objects) noexcept nogil:
    cdef bint score = scores(t) and objects >> PF & 1
    if score and x < WIDTH // 2:
        return t.colour[0]
    if t.ctrlpf & FIELD_FIRST and not score and objects & (1 << PF | 1 << BL):
        return t.colour[2]
    if objects & (1 << P0 | 1 << M0):
        return t.colour[0]
    if score or objects & (1 << P1 | 1 << M1):
        return t.colour[1]
    return t.colour[2 if objects else 3]


cdef inline void plain_pixel(Tia* t, int row, int x, uint8_t* picture) noexcept nogil:
    cdef int objects, colour = 0
    if not t.vblank:
        objects = objects_at(t, x)
        t.latches |= collisions(objects)
        if x >= 8 or not t.comb:
            colour = colour_at(t, x, objects)
    if picture:
        picture[row * WIDTH + x] = colour


cdef inline void plain_beam(Tia* t, int until, uint8_t* picture) noexcept nogil:
    """Move the beam to clock `until`."""
    cdef int row, at
    while t.clock < until:
        row, at = t.clock // LINE - t.top, t.clock % LINE
        if at == 0 and 0 < row <= t.height:
            end_line(t, row - 1)
        if at >= BLANK and 0 <= row < t.height:
            plain_pixel(t, row, at - BLANK, picture)
        t.clock += 1


cdef inline void tia_run_plain(Tia* t, const uint32_t* log, int count, int until, uint8_t* picture) noexcept nogil:
    """As tia_run."""
    cdef int i, clock, register
    for i in range(count):
        clock, register = log[i] >> 14, log[i] >> 8 & 63
        plain_beam(t, clock, picture)
        plain_beam(t, tia_effect(t, register, clock), picture)
        tia_write(t, register, log[i] & 255, clock)
    plain_beam(t, until, picture)
