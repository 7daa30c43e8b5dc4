"""The TIA, the Atari 2600's picture chip, as ale-py 0.12.1 shows it: registers, positions and what a write does.

plain.pxd moves the beam pixel by pixel, for tests. rows.pxd (collisions) and paint.pxd (pictures) do so by masks of
160 bits.

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

Collisions: two objects that cover the same pixel, if VBLANK is off. Priorities and colours: `colour_at` of plain.pxd.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    LINE = 228, BLANK = 68, WIDTH = 160     # clocks
    LONG_AGO = -(1 << 20), NO_END = 1 << 20
    VBLANK = 1, NUSIZ0 = 4, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF, REFP0, REFP1, PF0, PF1, PF2
    RESP0, RESP1, RESM0, RESM1, RESBL       # registers
    GRP0 = 0x1B, GRP1, ENAM0, ENAM1, ENABL, HMP0, HMP1, HMM0, HMM1, HMBL, VDELP0, VDELP1, VDELBL, RESMP0, RESMP1, HMOVE
    HMCLR, CXCLR
    REGISTERS = 64
    P0 = 0, P1, M0, M1, BL, PF              # objects
    NEVER = 256
    REFLECT = 1, SCORE = 2, FIELD_FIRST = 4  # bits of CTRLPF

cdef extern from *:
    """
    /* The line of a clock from 0 to 1 << 26: `clock / 228` by a multiplication, several times as fast. */
    static inline int line_of(int clock) { return (int)((long long)clock * 18837576 >> 32); }
    static const signed char COPIES[8][3] = {
        {0, -1, -1}, {0, 16, -1}, {0, 32, -1}, {0, 16, 32}, {0, 64, -1}, {0, -1, -1}, {0, 32, 64}, {0, -1, -1}};
    """
    int line_of(int clock) noexcept nogil
    const signed char[8][3] COPIES

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
    # What follows is for rows.pxd
    uint8_t dirty           # bit of an object: its mask is out of date
    int32_t least           # clock to which writes that did not move the beam would have moved it
    int32_t comb_end        # clock of the first end of a line that has not ended combs yet, see `line_end`
    uint8_t live            # bit of an object: it shows something somewhere in the line, see `shown`
    uint16_t known          # latches whose bit in `pairs` is up to date
    uint16_t pairs          # latches that a whole line sets
    uint16_t near           # latches whose objects come close to each other; all those of the playfield
    uint8_t moved           # bit of an object but the playfield: its `reach` is out of date
    uint64_t[5] reach       # bit k of 40: the object could cover a pixel of 4 k .. 4 k + 3
    uint16_t[64] same       # a write of this value to the register changes nothing; NEVER: no value is known
    Mask[6] masks


cdef inline void tia_init(Tia* t) noexcept nogil:
    """Power-on: every register 0."""
    memset(t, 0, sizeof(Tia))
    t.top, t.height = 34, 210
    t.hmove = LONG_AGO
    t.dirty, t.moved = 63, 31
    tia_forget(t)


cdef inline void tia_forget(Tia* t) noexcept nogil:
    """From here on no write is left out before it changes something."""
    cdef int i
    for i in range(REGISTERS):
        t.same[i] = NEVER


cdef inline int tia_read(const Tia* t, int address) noexcept nogil:
    """Bits 7 and 6 of a collision register: 0 CXM0P, CXM1P, CXP0FB, CXP1FB, CXM0FB, CXM1FB, CXBLPF, 7 CXPPMM."""
    return (t.latches >> 2 * (address & 7) & 3) << 6


cdef inline int clock_in_line(int clock) noexcept nogil:
    """0 .. 227."""
    return clock - LINE * line_of(clock)


cdef inline int line_end(const Tia* t, int clock) noexcept nogil:
    """The first clock, from this one on, at which a line of the window ends; NO_END below the window."""
    cdef int end = max(line_of(clock + LINE - 1), t.top + 1)
    return end * LINE if end <= t.top + t.height else NO_END


cdef inline void tia_end_frame(Tia* t, int clocks) noexcept nogil:
    """Begin a frame `clocks` after the start of the last one. Replay everything before."""
    t.clock = t.clock - clocks if t.clock > clocks else 0
    t.least = t.least - clocks if t.least > clocks else 0
    t.comb_end = line_end(t, t.clock)
    t.hmove = t.hmove - clocks if t.hmove > LONG_AGO + clocks else LONG_AGO


cdef inline int wrapped(int x) noexcept nogil:
    return x - WIDTH if x >= WIDTH else x + WIDTH if x < 0 else x


cdef inline int copy_distance(int nusiz, int copy) noexcept nogil:
    """Pixels from the first copy to copy 0, 1 or 2; -1 without such a copy."""
    return COPIES[nusiz & 7][copy]


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


cdef inline int shown(const Tia* t, int objects) noexcept nogil:
    """Those of these objects that show something somewhere in the line, a bit each; one without its only copy counts."""
    cdef int found = 0
    if objects & 1 << P0:
        found |= (shown_player(t, 0) != 0) << P0
    if objects & 1 << P1:
        found |= (shown_player(t, 1) != 0) << P1
    if objects & 1 << M0:
        found |= shown_missile(t, 0) << M0
    if objects & 1 << M1:
        found |= shown_missile(t, 1) << M1
    if objects & 1 << BL:
        found |= shown_ball(t) << BL
    if objects & 1 << PF:
        found |= ((t.pf[0] & 0xF0 | t.pf[1] | t.pf[2]) != 0) << PF
    return found
