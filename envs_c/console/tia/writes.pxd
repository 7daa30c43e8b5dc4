"""What a write to a register of the TIA does, and the end of a line: the rules of tia.pxd."""

from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memset

from envs_c.console.tia.tia cimport (
    BL, BLANK, COLUBK, COLUP0, COLUP1, COLUPF, CTRLPF, CXCLR, ENABL, ENAM0, ENAM1, GRP0, GRP1, HMBL, HMCLR, HMM0, HMM1, HMOVE,
    HMP0, HMP1, LINE, M0, NEVER, NUSIZ0, NUSIZ1, P0, P1, PF, PF0, PF1, PF2, REFLECT, REFP0, REFP1, RESBL, RESM0, RESM1, RESMP0,
    RESMP1, RESP0, RESP1, VBLANK, VDELBL, VDELP0, VDELP1, Tia, clock_in_line, copy_distance, line_of, shown, shown_ball,
    shown_player, stretch, wrapped)


cdef extern from *:
    """
    /* Clocks from a write to each register to where it takes effect, but for RESP; then rounded down to four clocks for PF. */
    static const unsigned char DELAYS[64] = {
        [0x01] = 1, [0x04] = 8, [0x05] = 8, [0x0B] = 1, [0x0C] = 1, [0x0D] = 5, [0x0E] = 5, [0x0F] = 5, [0x12] = 8, [0x13] = 8,
        [0x1B] = 1, [0x1C] = 1};
    """
    const uint8_t[64] DELAYS


cdef inline int reset_position(int object, int at, int since) noexcept nogil:
    """Position after RESxx at clock `at` of a line, `since` clocks after HMOVE."""
    if object < M0:
        return 3 if at < BLANK else wrapped(at - BLANK + 5)
    if object == M0:
        if since == 60 and at == 69:
            return 8
    elif since == 9 and at == 18:
        return 3
    elif object == BL:
        if since == 18 and at == 27:
            return 5
        if since == 21 and at == 30:
            return 6
        if since == 54 and (at == 60 or at == 69):
            return 10
    return 2 if at < BLANK else wrapped(at - BLANK + 4)


cdef inline int reset_case(const Tia* t, int player, int at) noexcept nogil:
    """What RESP at clock `at` does: 0 the new copy is drawn, 1 the old ones for 11 more clocks, 2 neither."""
    cdef int copy, distance
    for copy in range(3):
        distance = copy_distance(t.nusiz[player], copy)
        if distance >= 0:
            distance = wrapped(reset_position(player, at, 0) - wrapped(t.position[player] + distance))
            if distance < 4:
                return 0
            if distance < (8 << stretch(t.nusiz[player])) + 4:
                return 1
    return 2


cdef inline int tia_effect(const Tia* t, int register, int clock) noexcept nogil:
    """The clock to which the beam moves before a write at `clock` takes effect."""
    if register in (RESP0, RESP1):
        return clock + 11 if reset_case(t, register - RESP0, clock_in_line(clock)) == 1 else clock
    return (clock + DELAYS[register]) & (~3 if PF0 <= register <= PF2 else ~0)  # a line is a multiple of four clocks


cdef inline void touch(Tia* t, int objects) noexcept nogil:
    """What these objects show has changed. objects: a bit each."""
    t.dirty |= <uint8_t>objects
    t.live = <uint8_t>(t.live & ~objects | shown(t, objects))


cdef inline void move(Tia* t, int objects) noexcept nogil:
    """These objects, all but the playfield, have moved or have other sizes or copies. objects: a bit each."""
    t.moved |= <uint8_t>objects
    t.dirty |= <uint8_t>objects


cdef inline void shape_star(Tia* t, int shape) noexcept nogil:
    """Missile 0 has this `star_shape` from now on."""
    t.star_shape = shape
    move(t, 1 << M0)
    touch(t, 1 << M0)


cdef inline void begin_comb(Tia* t, int clock) noexcept nogil:
    """The comb of an HMOVE at `clock`, if it makes one."""
    cdef int at = clock_in_line(clock)
    if (at <= 60 or at >= 225) and not t.no_comb:
        # Near the line's end it is for the next line, which is this one before the window.
        if (at == 0 or at >= 225) and t.top <= line_of(clock - 1) < t.top + t.height:
            t.next_comb = 1
        else:
            t.comb = 1


cdef inline bint pulls_nothing(const Tia* t, int at) noexcept nogil:
    """True if HMOVE at clock `at` of a line moves no object, as most do."""
    return ((t.hm[0] | t.hm[1] | t.hm[2] | t.hm[3] | t.hm[4]) & 0xF0) == 0 and (at <= 38 or at >= 225)


cdef inline void pull(Tia* t, int at) noexcept nogil:
    """Move the objects by HMOVE at clock `at` of a line."""
    cdef bint blank = at <= 60 or at >= 225
    cdef int object, taken, shift, changed = 0
    # The last pulse of the blank comes at clock 70, the first one of the next blank at clock 223.
    cdef int most = (70 - at) >> 2 if at <= 60 else 15, late = (226 - at) >> 2
    for object in range(5):
        taken = t.hm[object] >> 4 ^ 8
        shift = 8 - min(taken, most) if blank else -max(0, taken + 1 - late)
        if shift:
            t.position[object] = wrapped(t.position[object] + shift)
            changed |= 1 << object
    move(t, changed)


cdef inline void move_objects(Tia* t, int clock) noexcept nogil:
    """HMOVE at `clock`."""
    cdef int at = clock_in_line(clock)
    if not pulls_nothing(t, at):
        pull(t, at)
    begin_comb(t, clock)
    t.hmove = clock
    if t.hidden[0] or t.hidden[1]:
        move(t, t.hidden[0] | t.hidden[1] << 1)
        t.hidden[0] = t.hidden[1] = 0
    if t.star or t.star_shape:
        t.star = 0
        shape_star(t, 0)


cdef inline void reset_object(Tia* t, int object, int clock) noexcept nogil:
    """RESP, RESM or RESBL at `clock`."""
    cdef int at = clock_in_line(clock)
    if object < M0:
        t.hidden[object] = reset_case(t, object, at) != 0
        t.same[NUSIZ0 + object] = NEVER  # it draws the first copy again
    if object == M0 and t.star_shape:
        shape_star(t, 0)
    t.position[object] = reset_position(object, at, clock - t.hmove)
    move(t, 1 << object)


cdef inline void write_colour(Tia* t, int k, int value) noexcept nogil:
    """COLUP0, COLUP1, COLUPF or COLUBK: k is 0 to 3."""
    t.same[COLUP0 + k] = <uint16_t>value
    t.colour[k] = value & 0xFE


cdef inline void write_motion(Tia* t, int object, int value, int clock) noexcept nogil:
    """HMP0, HMP1, HMM0, HMM1 or HMBL."""
    t.same[HMP0 + object] = <uint16_t>value
    if object == M0 and t.hm[M0] >> 4 == 7 and value >> 4 == 6 and clock - t.hmove == 63:
        t.star, t.phase = 1, 0
        t.same[NUSIZ0] = NEVER
    t.hm[object] = value


cdef inline void clear_motion(Tia* t) noexcept nogil:
    """HMCLR."""
    cdef int i
    memset(t.hm, 0, 5)
    for i in range(5):
        t.same[HMP0 + i] = 0


cdef inline void write_playfield(Tia* t, int k, int value) noexcept nogil:
    """PF0, PF1 or PF2."""
    t.same[PF0 + k] = <uint16_t>value
    t.pf[k] = value
    touch(t, 1 << PF)


cdef inline void write_missile(Tia* t, int missile, int value) noexcept nogil:
    """ENAM0 or ENAM1."""
    t.same[ENAM0 + missile] = <uint16_t>value
    t.enam[missile] = value >> 1 & 1
    touch(t, 4 << missile)


cdef inline void write_ball(Tia* t, int value) noexcept nogil:
    """ENABL."""
    t.same[ENABL] = <uint16_t>value
    t.same[GRP1] = NEVER
    t.enabl = value >> 1 & 1
    touch(t, 1 << BL)


cdef inline void write_player(Tia* t, int player, int value) noexcept nogil:
    """GRP0 or GRP1: the other player's old one, and under GRP1 the old ENABL, are taken over."""
    cdef int other = 1 - player, changed = 0
    t.same[GRP0 + player] = <uint16_t>value
    if t.grp[player] != value:
        t.grp[player] = value
        changed = (not t.vdelp[player]) << player
    if t.grp_old[other] != t.grp[other]:
        t.grp_old[other] = t.grp[other]
        changed |= (t.vdelp[other] != 0) << other
    if player and t.enabl_old != t.enabl:
        t.enabl_old = t.enabl
        changed |= (t.vdelbl != 0) << BL
    # A second write to a register changes something if the other one was written in between.
    t.same[GRP0 + other] = NEVER
    if t.grp_old[player] == t.grp[player] and (player or t.enabl_old == t.enabl):
        t.same[GRP0 + other] = t.grp[other]
    if changed:
        touch(t, changed)


cdef inline void tia_write(Tia* t, int register, int value, int clock) noexcept nogil:
    """A write at `clock` takes effect; the beam stands at its `tia_effect`."""
    cdef int i
    t.same[register] = <uint16_t>value
    if register in (COLUP0, COLUP1, COLUPF, COLUBK):
        write_colour(t, register - COLUP0, value)
    elif register in (HMP0, HMP1, HMM0, HMM1, HMBL):
        write_motion(t, register - HMP0, value, clock)
    elif register in (GRP0, GRP1):
        write_player(t, register - GRP0, value)
    elif register in (PF0, PF1, PF2):
        write_playfield(t, register - PF0, value)
    elif register in (NUSIZ0, NUSIZ1):
        i = register - NUSIZ0
        t.nusiz[i] = value
        t.hidden[i] = 0
        if i == 0 and t.star_shape:
            shape_star(t, 0)
        if i == 0 and t.star:
            t.same[NUSIZ0] = NEVER
        move(t, 5 << i)
    elif register == CTRLPF:
        t.ctrlpf = value
        if clock_in_line(clock) < 147:
            t.reflect = value & REFLECT
        if t.reflect != value & REFLECT:
            t.same[CTRLPF] = NEVER
        move(t, 1 << BL)
        t.dirty |= 1 << PF
    elif register in (REFP0, REFP1):
        t.refp[register - REFP0] = value >> 3 & 1
        t.dirty |= <uint8_t>(1 << (register - REFP0))
    elif register in (ENAM0, ENAM1):
        write_missile(t, register - ENAM0, value)
    elif register == ENABL:
        write_ball(t, value)
    elif register in (VDELP0, VDELP1):
        t.vdelp[register - VDELP0] = value & 1
        touch(t, 1 << (register - VDELP0))
    elif register == VDELBL:
        t.vdelbl = value & 1
        touch(t, 1 << BL)
    elif register in (RESMP0, RESMP1):
        i = register - RESMP0
        if t.resmp[i] and not value & 2:
            t.position[M0 + i] = wrapped(t.position[i] + (4 << stretch(t.nusiz[i])))
            if i == 0:
                t.star_shape = 0
        t.resmp[i] = value >> 1 & 1
        move(t, 4 << i)
        touch(t, 4 << i)
    elif register == VBLANK:
        t.vblank = value >> 1 & 1
    else:
        t.same[register] = NEVER  # these do the same again at another clock
        if register in (RESP0, RESP1, RESM0, RESM1, RESBL):
            reset_object(t, register - RESP0, clock)
        elif register == HMOVE:
            move_objects(t, clock)
        elif register == HMCLR:
            clear_motion(t)
        elif register == CXCLR:
            t.latches = 0


cdef inline void move_star(Tia* t) noexcept nogil:
    cdef int phase = (t.phase + 1) & 3
    t.phase = phase
    t.position[M0] = wrapped(t.position[M0] - (33 if phase == 1 else 0 if phase == 2 else 17 if phase == 3 else 18))
    shape_star(t, phase if phase < 3 else 0)


cdef inline void end_line(Tia* t, int row) noexcept nogil:
    """Line `row` of the window, 0 .. height - 1, has ended. At the end of the last one only the comb changes."""
    t.comb, t.next_comb = t.next_comb, 0
    if row == t.height - 1:
        return
    if t.reflect != t.ctrlpf & REFLECT:
        t.reflect = t.ctrlpf & REFLECT
        t.dirty |= 1 << PF
    if t.hidden[0] or t.hidden[1]:
        t.dirty |= t.hidden[0] | t.hidden[1] << 1
        t.hidden[0] = t.hidden[1] = 0
    if t.star:
        move_star(t)
