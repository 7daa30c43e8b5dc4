"""The TIA, the Atari 2600's picture chip, as ale-py 0.12.1 shows it: registers, positions and what a write does.

tia_plain.pxd and tia_rows.pxd move the beam: the first pixel by pixel, for tests, the second by masks of 160 bits.

Time is counted in colour clocks, three in a cycle of the processor, from the start of the frame. A line has 228: 68 of blank,
then 160 pixels; x is the clock in the line less 68. A frame begins with the line in which VSYNC was cleared. The clock of an
access is three times the number of cycles that have passed when the instruction ends: after WSYNC, `LDA #1; STA COLUBK` writes
at clock 15.

The log. One write is `clock << 14 | register << 8 | value`; clocks never fall. The chip adds these delays:
    NUSIZ, RESM       8 clocks
    GRP, REFP, VBLANK 1 clock
    PF0, PF1, PF2     the next multiple of four clocks in the line that is at least two away
    RESP              0, or 11 if the old copies are drawn for 11 more clocks (below)
    all others        0
Writes take effect in the order of the log. A write that follows while another one waits takes effect after it.

The window is the `height` lines from `top`. Only there pixels and collisions exist, and only there a line ends: what lasts
"to the end of the line" lasts through lines outside the window, to the end of the next line inside.

Playfield: 20 bits of four pixels, PF0 from bit 4 up, PF1 from bit 7 down, PF2 from bit 0 up. The right half repeats them, or
mirrors them if bit 0 of CTRLPF is set. This bit counts at once if written before clock 147, else from the end of the line.

Players: NUSIZ & 7 gives the copies: 1, 2 at 16 pixels, 2 at 32, 3 at 16, 2 at 64, double width, 3 at 32, quadruple width.
Wide players begin one pixel farther right. Missiles have the same copies (one, if the player is wide) of 1, 2, 4 or 8 pixels,
bits 4 and 5 of NUSIZ; the ball's width is in the same bits of CTRLPF. Everything wraps around at x = 160.
Delay: GRP0 also copies the new GRP1 to the old one; GRP1 copies GRP0 and ENABL. VDELP and VDELBL show the old ones.
A missile with bit 1 of RESMP is hidden. If the bit is cleared, it starts 4 pixels right of the player, 8 and 16 if it is wide.

RESP puts a player at x = 3 in the blank, else five pixels right of the beam; RESM and RESBL at 2, or four pixels right. With
d the distance from an old copy, not counting the pixel of wide players, to the new position:
    0 <= d < 4          the new copy is drawn in this line
    4 <= d < width + 4  the old copies are drawn for 11 more clocks; then as below
    else                the first copy is left out to the end of the line
The first copy of the list that matches decides. A write to NUSIZ or HMOVE draws the first copy again.
Missiles and ball that are reset soon after HMOVE stand elsewhere, in seven cases: `reset_position`.

HMOVE sends up to 15 pulses, one every four clocks. An object takes the first (HM >> 4) ^ 8 of them; one that comes in the blank
moves it a pixel to the left. HMOVE up to clock 60 or from clock 225 of the line before makes the blank eight pixels longer:
objects move eight to the right, and the first eight pixels of the line are black (the comb). Collisions count below the comb.

The stars: if HMM0 goes from 7x to 6x exactly 63 clocks after HMOVE, missile 0 moves by itself at the end of each line, until
the next HMOVE: by 33 pixels to the left, drawn with NUSIZ | 10 in the next line; by 0, not drawn; by 17; by 18; and again. A
write to NUSIZ0 or RESM0, or the end of RESMP0, draws it as usual.

Collisions: two objects that cover the same pixel, if VBLANK is off. Priorities and colours: `tia_plain.colour_at`.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    LINE = 228, BLANK = 68, WIDTH = 160     # clocks
    LONG_AGO = -(1 << 20)
    VBLANK = 1, NUSIZ0 = 4, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF, REFP0, REFP1, PF0, PF1, PF2
    RESP0, RESP1, RESM0, RESM1, RESBL       # registers
    GRP0 = 0x1B, GRP1, ENAM0, ENAM1, ENABL, HMP0, HMP1, HMM0, HMM1, HMBL, VDELP0, VDELP1, VDELBL, RESMP0, RESMP1, HMOVE
    HMCLR, CXCLR
    P0 = 0, P1, M0, M1, BL, PF              # objects
    REFLECT = 1, SCORE = 2, FIELD_FIRST = 4  # bits of CTRLPF

ctypedef struct Mask:
    uint64_t[3] words       # bit x of 160: the object covers pixel x

ctypedef struct Tia:
    int32_t clock           # the beam: everything before was replayed
    int32_t top, height     # the window, in lines
    int32_t hmove           # clock of the last HMOVE
    int16_t[5] position     # x of the first copy of P0, P1, M0, M1, BL, 0 .. 159
    uint16_t latches        # collisions: bit 2 a of register a's bit 6, bit 2 a + 1 of its bit 7
    uint8_t[2] nusiz, refp, grp, grp_old, vdelp, enam, resmp
    uint8_t[2] hidden       # 1: the player's first copy is left out
    uint8_t[4] colour       # P0, P1, PF, background
    uint8_t[3] pf
    uint8_t[5] hm
    uint8_t ctrlpf, reflect, enabl, enabl_old, vdelbl, vblank
    uint8_t comb, next_comb, no_comb  # of this line and the next; 1: this cartridge never has combs
    uint8_t star, phase, star_shape  # star: missile 0 moves by itself; star_shape: 1 it is wide, 2 it is hidden
    uint8_t dirty           # bit of an object: its mask is out of date
    uint8_t known           # 1: `pairs` holds all collisions of a whole line
    uint16_t pairs
    Mask[6] masks


cdef inline void tia_init(Tia* t) noexcept nogil:
    """Power-on: every register 0."""
    memset(t, 0, sizeof(Tia))
    t.top, t.height = 34, 210
    t.hmove = LONG_AGO
    t.dirty = 63


cdef inline int tia_read(const Tia* t, int address) noexcept nogil:
    """Bits 7 and 6 of a collision register: 0 CXM0P, CXM1P, CXP0FB, CXP1FB, CXM0FB, CXM1FB, CXBLPF, 7 CXPPMM."""
    return (t.latches >> 2 * (address & 7) & 3) << 6


cdef inline void tia_end_frame(Tia* t, int clocks) noexcept nogil:
    """Begin a frame `clocks` after the start of the last one. Replay everything before."""
    t.clock = t.clock - clocks if t.clock > clocks else 0
    t.hmove = t.hmove - clocks if t.hmove > LONG_AGO + clocks else LONG_AGO


cdef inline int wrapped(int x) noexcept nogil:
    return x - WIDTH if x >= WIDTH else x + WIDTH if x < 0 else x


cdef inline int copy_distance(int nusiz, int copy) noexcept nogil:
    """Pixels from the first copy to copy 0, 1 or 2; -1 without such a copy."""
    if copy == 0:
        return 0
    if copy == 1:
        return -1 if nusiz & 7 in (0, 5, 7) else 64 if nusiz & 7 == 4 else 16 if nusiz & 1 else 32
    return 32 if nusiz & 7 == 3 else 64 if nusiz & 7 == 6 else -1


cdef inline int stretch(int nusiz) noexcept nogil:
    """Binary logarithm of the pixels a bit of GRP."""
    return 1 if nusiz & 7 == 5 else 2 if nusiz & 7 == 7 else 0


cdef inline int shown_player(const Tia* t, int player) noexcept nogil:
    """The eight bits that the player shows, the first in bit 7."""
    return t.grp_old[player] if t.vdelp[player] else t.grp[player]


cdef inline bint shown_missile(const Tia* t, int missile) noexcept nogil:
    return t.enam[missile] and not t.resmp[missile] and (missile or t.star_shape != 2)


cdef inline int missile_width(const Tia* t, int missile) noexcept nogil:
    return 1 << (t.nusiz[missile] >> 4 & 3 | (missile == 0 and t.star_shape == 1))


cdef inline bint shown_ball(const Tia* t) noexcept nogil:
    return t.enabl_old if t.vdelbl else t.enabl


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
    cdef int at = clock % LINE
    if register in (NUSIZ0, NUSIZ1, RESM0, RESM1):
        return clock + 8
    if register in (GRP0, GRP1, REFP0, REFP1, VBLANK):
        return clock + 1
    if PF0 <= register <= PF2:
        return clock - at + (at + 5 & ~3)
    if register in (RESP0, RESP1) and reset_case(t, register - RESP0, at) == 1:
        return clock + 11
    return clock


cdef inline void move_objects(Tia* t, int clock) noexcept nogil:
    """HMOVE at `clock`."""
    cdef int object, taken, shift, at = clock % LINE
    cdef bint comb = at <= 60 or at >= 225
    for object in range(5):
        taken = t.hm[object] >> 4 ^ 8
        if comb:  # the last pulse of the blank comes at clock 70
            shift = 8 - (taken if at >= 225 else min(taken, (70 - at) >> 2))
        else:     # the first one of the next blank comes at clock 223
            shift = -max(0, taken + 1 - ((226 - at) >> 2))
        t.position[object] = wrapped(t.position[object] + shift)
    if comb and not t.no_comb:
        # Near the line's end it is for the next line, which is this one before the window.
        if (at == 0 or at >= 225) and t.top <= (clock - 1) // LINE < t.top + t.height:
            t.next_comb = 1
        else:
            t.comb = 1
    t.hidden[0] = t.hidden[1] = t.star = t.star_shape = 0
    t.hmove = clock
    t.dirty |= 31


cdef inline void reset_object(Tia* t, int object, int clock) noexcept nogil:
    """RESP, RESM or RESBL at `clock`."""
    cdef int at = clock % LINE
    if object < M0:
        t.hidden[object] = reset_case(t, object, at) != 0
    if object == M0:
        t.star_shape = 0
    t.position[object] = reset_position(object, at, clock - t.hmove)
    t.dirty |= 1 << object


cdef inline void tia_write(Tia* t, int register, int value, int clock) noexcept nogil:
    """A write at `clock` takes effect; the beam stands at its `tia_effect`."""
    cdef int i
    if register == VBLANK:
        t.vblank = value >> 1 & 1
    elif register == NUSIZ0 or register == NUSIZ1:
        i = register - NUSIZ0
        t.nusiz[i] = value
        t.hidden[i] = 0
        if i == 0:
            t.star_shape = 0
        t.dirty |= 5 << i
    elif COLUP0 <= register <= COLUBK:
        t.colour[register - COLUP0] = value & 0xFE
    elif register == CTRLPF:
        t.ctrlpf = value
        if clock % LINE < 147:
            t.reflect = value & REFLECT
        t.dirty |= 1 << BL | 1 << PF
    elif register == REFP0 or register == REFP1:
        t.refp[register - REFP0] = value >> 3 & 1
        t.dirty |= 1 << (register - REFP0)
    elif PF0 <= register <= PF2:
        t.pf[register - PF0], t.dirty = value, t.dirty | 1 << PF
    elif RESP0 <= register <= RESBL:
        reset_object(t, register - RESP0, clock)
    elif register == GRP0:
        t.grp[0], t.grp_old[1] = value, t.grp[1]
        t.dirty |= 1 << P0 | 1 << P1
    elif register == GRP1:
        t.grp[1], t.grp_old[0], t.enabl_old = value, t.grp[0], t.enabl
        t.dirty |= 1 << P0 | 1 << P1 | 1 << BL
    elif register == ENAM0 or register == ENAM1:
        t.enam[register - ENAM0] = value >> 1 & 1
        t.dirty |= 4 << (register - ENAM0)
    elif register == ENABL:
        t.enabl, t.dirty = value >> 1 & 1, t.dirty | 1 << BL
    elif HMP0 <= register <= HMBL:
        if register == HMM0 and t.hm[M0] >> 4 == 7 and value >> 4 == 6 and clock - t.hmove == 63:
            t.star, t.phase = 1, 0
        t.hm[register - HMP0] = value
    elif register == VDELP0 or register == VDELP1:
        t.vdelp[register - VDELP0] = value & 1
        t.dirty |= 1 << (register - VDELP0)
    elif register == VDELBL:
        t.vdelbl, t.dirty = value & 1, t.dirty | 1 << BL
    elif register == RESMP0 or register == RESMP1:
        i = register - RESMP0
        if t.resmp[i] and not value & 2:
            t.position[M0 + i] = wrapped(t.position[i] + (4 << stretch(t.nusiz[i])))
            if i == 0:
                t.star_shape = 0
        t.resmp[i] = value >> 1 & 1
        t.dirty |= 4 << i
    elif register == HMOVE:
        move_objects(t, clock)
    elif register == HMCLR:
        memset(t.hm, 0, 5)
    elif register == CXCLR:
        t.latches = 0


cdef inline void move_star(Tia* t) noexcept nogil:
    cdef int phase = (t.phase + 1) & 3
    t.phase = phase
    t.position[M0] = wrapped(t.position[M0] - (33 if phase == 1 else 0 if phase == 2 else 17 if phase == 3 else 18))
    t.star_shape = phase if phase < 3 else 0
    t.dirty |= 1 << M0


cdef inline void end_line(Tia* t, int row) noexcept nogil:
    """Line `row` of the window, 0 .. height - 1, has ended. At the end of the last one only the comb changes."""
    t.comb, t.next_comb = t.next_comb, 0
    if row == t.height - 1:
        return
    if t.reflect != t.ctrlpf & REFLECT:
        t.reflect = t.ctrlpf & REFLECT
        t.dirty |= 1 << PF
    t.dirty |= t.hidden[0] | t.hidden[1] << 1
    t.hidden[0] = t.hidden[1] = 0
    if t.star:
        move_star(t)
