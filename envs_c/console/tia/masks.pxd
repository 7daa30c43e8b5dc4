"""Masks of the TIA's objects, and their collisions.

A mask has a bit for each of the 160 pixels of a line. It is made again only if it is needed and a register of its object has
changed. The collisions of a whole line are kept, so a part of it is looked at only if it could set a latch that is not set.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from envs_c.console.tia.tia cimport (
    BL, BLANK, LINE, M0, M1, P0, P1, PF, WIDTH, Mask, Tia, clock_in_line, copy_distance, line_of, missile_width, shown_ball,
    shown_missile, shown_player, stretch, wrapped)


cdef enum:
    LAST = 0xFFFFFFFF   # the bits of a mask's last word


cdef extern from *:
    """
    /* the two objects of each latch, and the latches that a set of objects, a bit each, can set with each other */
    static const unsigned char FIRST[16] = {2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3, 0, 4, 2, 0};
    static const unsigned char SECOND[16] = {0, 1, 1, 0, 4, 5, 4, 5, 4, 5, 4, 5, 0, 5, 3, 1};
    #define BOTH(s, a, b, k) (((s) >> (a) & (s) >> (b) & 1) << (k))
    #define WITHIN(s) (BOTH(s, 2, 0, 0) | BOTH(s, 2, 1, 1) | BOTH(s, 3, 1, 2) | BOTH(s, 3, 0, 3) | BOTH(s, 0, 4, 4) \
        | BOTH(s, 0, 5, 5) | BOTH(s, 1, 4, 6) | BOTH(s, 1, 5, 7) | BOTH(s, 2, 4, 8) | BOTH(s, 2, 5, 9) | BOTH(s, 3, 4, 10) \
        | BOTH(s, 3, 5, 11) | BOTH(s, 4, 5, 13) | BOTH(s, 2, 3, 14) | BOTH(s, 0, 1, 15))
    #define FOUR(s) WITHIN(s), WITHIN(s + 1), WITHIN(s + 2), WITHIN(s + 3)
    #define SIXTEEN(s) FOUR(s), FOUR(s + 4), FOUR(s + 8), FOUR(s + 12)
    /* the bits of each byte four times, in order and reversed */
    #define AT(b, from, to) (((b) >> (from) & 1) * (0xFu << 4 * (to)))
    #define EIGHT(b, f) (AT(b, 0, 0 ^ f) | AT(b, 1, 1 ^ f) | AT(b, 2, 2 ^ f) | AT(b, 3, 3 ^ f) \
        | AT(b, 4, 4 ^ f) | AT(b, 5, 5 ^ f) | AT(b, 6, 6 ^ f) | AT(b, 7, 7 ^ f))
    #define BYTES_4(b, f) EIGHT(b, f), EIGHT(b + 1, f), EIGHT(b + 2, f), EIGHT(b + 3, f)
    #define BYTES_16(b, f) BYTES_4(b, f), BYTES_4(b + 4, f), BYTES_4(b + 8, f), BYTES_4(b + 12, f)
    #define BYTES_64(b, f) BYTES_16(b, f), BYTES_16(b + 16, f), BYTES_16(b + 32, f), BYTES_16(b + 48, f)
    static const unsigned int FOURFOLD[256] = {BYTES_64(0, 0), BYTES_64(64, 0), BYTES_64(128, 0), BYTES_64(192, 0)};
    static const unsigned int FOURFOLD_REVERSED[256] = {BYTES_64(0, 7), BYTES_64(64, 7), BYTES_64(128, 7), BYTES_64(192, 7)};
    #define BACKWARDS(b) (((b) & 1) << 7 | ((b) & 2) << 5 | ((b) & 4) << 3 | ((b) & 8) << 1 \
        | ((b) & 16) >> 1 | ((b) & 32) >> 3 | ((b) & 64) >> 5 | ((b) & 128) >> 7)
    #define BACK_4(b) BACKWARDS(b), BACKWARDS(b + 1), BACKWARDS(b + 2), BACKWARDS(b + 3)
    #define BACK_16(b) BACK_4(b), BACK_4(b + 4), BACK_4(b + 8), BACK_4(b + 12)
    #define BACK_64(b) BACK_16(b), BACK_16(b + 16), BACK_16(b + 32), BACK_16(b + 48)
    static const unsigned char REVERSED[256] = {BACK_64(0), BACK_64(64), BACK_64(128), BACK_64(192)};
    /* a multiplier for each NUSIZ & 7 that makes the copies: they are 16, 32 or 64 pixels apart */
    static const unsigned int COPIED[8] = {1, 0x11, 0x101, 0x111, 0x10001, 1, 0x10101, 1};
    static const unsigned short LATCHES[64] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};
    """
    int lowest "__builtin_ctz"(unsigned int bits) noexcept nogil
    const uint8_t[16] FIRST, SECOND
    const uint32_t[256] FOURFOLD, FOURFOLD_REVERSED
    const uint16_t[64] LATCHES
    const uint8_t[256] REVERSED
    const uint32_t[8] COPIED


cdef inline uint64_t doubled(uint64_t bits) noexcept nogil:
    """8 or 16 bits, each twice."""
    bits = (bits | bits << 8) & 0x00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F
    bits = (bits | bits << 2) & 0x33333333
    bits = (bits | bits << 1) & 0x55555555
    return bits * 3


cdef inline void put(uint64_t* words, uint64_t bits, int x) noexcept nogil:
    """Set up to 32 bits from pixel x, 0 .. 159, on; those after the line's end are at its beginning. words: three."""
    cdef uint64_t low = bits << (x & 63), high = bits >> 1 >> (63 - (x & 63))
    if x < 64:
        words[0] |= low
        words[1] |= high
    elif x < 128:
        words[1] |= low
        words[2] |= high
    else:
        words[2] |= low & LAST
        words[0] |= low >> 32


cdef inline void put_copies(uint64_t* words, uint64_t bits, int x, int nusiz, bint hidden) noexcept nogil:
    """Set the bits for all copies, or without the first one."""
    if not hidden:
        put(words, bits, x)
    if copy_distance(nusiz, 1) > 0:
        put(words, bits, wrapped(x + copy_distance(nusiz, 1)))
        if copy_distance(nusiz, 2) > 0:
            put(words, bits, wrapped(x + copy_distance(nusiz, 2)))


cdef inline void mask_player(const Tia* t, int player, uint64_t* words) noexcept nogil:
    cdef uint64_t bits = shown_player(t, player)
    cdef int wide = stretch(t.nusiz[player])
    if bits == 0:
        return
    if not t.refp[player]:
        bits = REVERSED[bits]
    if wide:
        bits = doubled(bits)
    if wide == 2:
        bits = doubled(bits)
    put_copies(words, bits, wrapped(t.position[player] + (wide > 0)), t.nusiz[player], t.hidden[player])


cdef inline void mask_playfield(const Tia* t, uint64_t* words) noexcept nogil:
    cdef uint64_t left = FOURFOLD[t.pf[0] >> 4] | <uint64_t>FOURFOLD_REVERSED[t.pf[1]] << 16, right
    cdef uint64_t end = FOURFOLD[t.pf[2]]  # of the left half: 16 pixels in the first word, 16 in the second
    left |= end << 48
    right, end = left, end >> 16
    words[1] = end
    if t.reflect:
        right = FOURFOLD_REVERSED[t.pf[2]] | <uint64_t>FOURFOLD[t.pf[1]] << 32
        end = FOURFOLD_REVERSED[t.pf[0] & 0xF0]
    words[0] = left
    words[1] |= right << 16
    words[2] = right >> 48 | end << 16


cdef inline void make_mask(Tia* t, int object) noexcept nogil:
    """Make a mask again, and forget its collisions."""
    cdef uint64_t[3] words
    cdef uint64_t* kept = t.masks[object].words
    t.known &= <uint16_t>(~LATCHES[63] | LATCHES[63 ^ 1 << object])
    if object == PF:
        mask_playfield(t, kept)
        return
    words[0] = words[1] = words[2] = 0
    if object < M0:
        mask_player(t, object, words)
    elif object == BL:
        if shown_ball(t):
            put(words, (1 << (1 << (t.ctrlpf >> 4 & 3))) - 1, t.position[BL])
    elif shown_missile(t, object - M0):
        put_copies(words, (1 << missile_width(t, object - M0)) - 1, t.position[object], t.nusiz[object - M0], False)
    kept[0], kept[1], kept[2] = words[0], words[1], words[2]


cdef inline void make_masks(Tia* t, int objects) noexcept nogil:
    """Make those of these masks that are out of date. objects: a bit each."""
    cdef int dirty = t.dirty & objects
    t.dirty &= <uint8_t>~objects
    while dirty:
        make_mask(t, lowest(dirty))
        dirty &= dirty - 1


cdef inline uint64_t below(int x) noexcept nogil:
    """The bits below x in a word; none for x <= 0, all for x >= 64."""
    return 0 if x <= 0 else <uint64_t>0xFFFFFFFFFFFFFFFFULL if x >= 64 else (<uint64_t>1 << x) - 1


cdef inline int collisions_in(const Tia* t, int wanted, int x0, int x1) noexcept nogil:
    """Those of the wanted latches that pixels x0 .. x1 - 1 set."""
    cdef const Mask* a
    cdef const Mask* b
    cdef int pair, found = 0
    cdef uint64_t first = below(x1) & ~below(x0), second = below(x1 - 64) & ~below(x0 - 64)
    cdef uint64_t third = below(x1 - 128) & ~below(x0 - 128)
    while wanted:
        pair = lowest(wanted)
        wanted &= wanted - 1
        a = &t.masks[FIRST[pair]]
        b = &t.masks[SECOND[pair]]
        if a.words[0] & b.words[0] & first | a.words[1] & b.words[1] & second | a.words[2] & b.words[2] & third:
            found |= 1 << pair
    return found


cdef inline uint64_t reach_of(const Tia* t, int object) noexcept nogil:
    """The groups of four pixels that an object could cover, if it shows all it can. Bit k of 40: pixels 4 k .. 4 k + 3."""
    cdef int x = t.position[object], pixels, nusiz = 0
    cdef uint64_t groups
    if object == BL:
        pixels = 1 << (t.ctrlpf >> 4 & 3)
    else:
        nusiz = t.nusiz[object & 1]
        pixels = missile_width(t, object - M0) if object >= M0 else 8 << stretch(nusiz)
        x += object < M0 and pixels > 8
    groups = ((<uint64_t>2 << ((x + pixels - 1) >> 2)) - (<uint64_t>1 << (x >> 2))) * COPIED[nusiz & 7]
    return (groups | groups >> 40) & <uint64_t>0xFFFFFFFFFFULL  # around the line's end


cdef inline void find_near(Tia* t, int objects) noexcept nogil:
    """Bring `near` up to date for these objects, a bit each."""
    cdef const uint64_t* r = t.reach
    cdef int moved = t.moved & objects
    if moved:
        t.moved &= <uint8_t>~moved
        while moved:
            t.reach[lowest(moved)] = reach_of(t, lowest(moved))
            moved &= moved - 1
        t.near = <uint16_t>(
            LATCHES[63] & ~LATCHES[31] | ((r[M0] & r[P0]) != 0) | ((r[M0] & r[P1]) != 0) << 1 | ((r[M1] & r[P1]) != 0) << 2
            | ((r[M1] & r[P0]) != 0) << 3 | ((r[P0] & r[BL]) != 0) << 4 | ((r[P1] & r[BL]) != 0) << 6
            | ((r[M0] & r[BL]) != 0) << 8 | ((r[M1] & r[BL]) != 0) << 10 | ((r[M0] & r[M1]) != 0) << 14
            | ((r[P0] & r[P1]) != 0) << 15)


cdef inline int wanted(Tia* t) noexcept nogil:
    """The latches that are not set, but could be."""
    cdef int latches = LATCHES[t.live] & ~t.latches
    if latches:
        find_near(t, t.live)
    return latches & t.near


cdef inline int colliding(Tia* t, int latches) noexcept nogil:
    """Those of these latches that a whole line sets."""
    cdef int new
    if t.dirty & t.live:
        make_masks(t, t.live)
    new = latches & ~t.known
    if new:
        t.pairs = <uint16_t>(t.pairs & ~new | collisions_in(t, new, 0, WIDTH))
        t.known |= <uint16_t>new
    return latches & t.pairs


cdef inline void latch(Tia* t, int x0, int x1) noexcept nogil:
    """Latch the collisions of pixels x0 .. x1 - 1."""
    cdef int latches = wanted(t)
    if latches:
        latches = colliding(t, latches)
        t.latches |= <uint16_t>(collisions_in(t, latches, x0, x1) if x1 - x0 < WIDTH else latches)


cdef inline void latch_until(Tia* t, int until) noexcept nogil:
    """Latch the collisions from where the beam stands to clock `until`; no line between them changes anything at its end."""
    cdef int latches = wanted(t), first, last, x0, x1, lines
    first, last = max(t.clock, t.top * LINE), min(until, (t.top + t.height) * LINE) - 1
    if first > last:
        return
    latches = colliding(t, latches)
    if not latches:
        return
    lines = line_of(last) - line_of(first)
    x0, x1 = max(clock_in_line(first) - BLANK, 0), max(clock_in_line(last) - BLANK + 1, 0)
    if lines == 0 and (x0 > 0 or x1 < WIDTH):
        latches = collisions_in(t, latches, x0, x1) if x0 < x1 else 0
    elif lines == 1 and x0 > 0 and x1 < WIDTH:
        latches = collisions_in(t, latches, x0, WIDTH) | collisions_in(t, latches, 0, x1)
    t.latches |= <uint16_t>latches
