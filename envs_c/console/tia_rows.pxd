"""The TIA by masks: `tia_run`, which equals tia_plain.pxd bit for bit.

A mask has a bit for each pixel of a line. It is made again only if a register of its object has changed. Between two writes
the beam crosses a part of a line, then whole lines that are all alike: their collisions are found once, and their picture is
copied. The collisions of a whole line are kept, so a part of it is looked at only if it could set a latch that is not set.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.console.tia cimport (
    BL, BLANK, FIELD_FIRST, LINE, M0, M1, P0, P1, PF, REFLECT, SCORE, WIDTH, Mask, Tia, copy_distance, end_line,
    missile_width, shown_ball, shown_missile, shown_player, stretch, tia_effect, tia_write, wrapped)

cdef enum:
    LAST = 0xFFFFFFFF   # the bits of a mask's last word


cdef inline uint64_t spread(uint64_t bits) noexcept nogil:
    """16 bits, each four times."""
    bits = (bits | bits << 24) & 0x000000FF000000FFULL
    bits = (bits | bits << 12) & 0x000F000F000F000FULL
    bits = (bits | bits << 6) & 0x0303030303030303ULL
    bits = (bits | bits << 3) & 0x1111111111111111ULL
    return bits * 15


cdef inline uint32_t reversed8(uint32_t bits) noexcept nogil:
    bits = (bits & 0xF0) >> 4 | (bits & 0x0F) << 4
    bits = (bits & 0xCC) >> 2 | (bits & 0x33) << 2
    return (bits & 0xAA) >> 1 | (bits & 0x55) << 1


cdef inline uint64_t doubled(uint64_t bits) noexcept nogil:
    """8 or 16 bits, each twice."""
    bits = (bits | bits << 8) & 0x00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F
    bits = (bits | bits << 2) & 0x33333333
    bits = (bits | bits << 1) & 0x55555555
    return bits * 3


cdef inline void put(Mask* mask, uint64_t bits, int x) noexcept nogil:
    """Set up to 32 bits from pixel x on, around the end of the line."""
    cdef int word = x >> 6, shift = x & 63
    mask.words[word] |= bits << shift
    if word < 2 and shift > 32:
        mask.words[word + 1] |= bits >> (64 - shift)
    mask.words[0] |= mask.words[2] >> 32
    mask.words[2] &= LAST


cdef inline void put_copies(Mask* mask, uint64_t bits, int x, int nusiz, int first) noexcept nogil:
    """Set the bits for the copies from `first` on."""
    cdef int copy, distance
    if bits:
        for copy in range(first, 3):
            distance = copy_distance(nusiz, copy)
            if distance >= 0:
                put(mask, bits, wrapped(x + distance))


cdef inline void mask_player(Tia* t, int player) noexcept nogil:
    cdef uint64_t bits = shown_player(t, player)
    cdef int wide = stretch(t.nusiz[player])
    if not t.refp[player]:
        bits = reversed8(bits)
    if wide:
        bits = doubled(bits)
    if wide == 2:
        bits = doubled(bits)
    put_copies(&t.masks[player], bits, wrapped(t.position[player] + (wide > 0)), t.nusiz[player], t.hidden[player])


cdef inline void mask_playfield(Tia* t) noexcept nogil:
    cdef uint32_t left = t.pf[0] >> 4 | reversed8(t.pf[1]) << 4 | <uint32_t>t.pf[2] << 12, right = left
    cdef Mask* mask = &t.masks[PF]
    if t.reflect:
        right = reversed8(t.pf[2]) | <uint32_t>t.pf[1] << 8 | reversed8(t.pf[0] & 0xF0) << 16
    mask.words[0] = spread(left & 0xFFFF)
    mask.words[1] = spread(left >> 16) | spread(right & 0xFFF) << 16
    mask.words[2] = spread(right >> 12)


cdef inline void make_masks(Tia* t) noexcept nogil:
    """Make the masks that are out of date."""
    cdef int object
    for object in range(6):
        if t.dirty >> object & 1:
            memset(&t.masks[object], 0, sizeof(Mask))
            if object < M0:
                mask_player(t, object)
            elif object == PF:
                mask_playfield(t)
            elif object == BL:
                if shown_ball(t):
                    put(&t.masks[BL], (1 << (1 << (t.ctrlpf >> 4 & 3))) - 1, t.position[BL])
            elif shown_missile(t, object - M0):
                put_copies(&t.masks[object], (1 << missile_width(t, object - M0)) - 1, t.position[object],
                           t.nusiz[object - M0], 0)
    t.dirty = 0
    t.known = 0


cdef inline int meet(const Mask* a, const Mask* b, const Mask* part) noexcept nogil:
    return (a.words[0] & b.words[0] & part.words[0] | a.words[1] & b.words[1] & part.words[1]
            | a.words[2] & b.words[2] & part.words[2]) != 0


cdef inline int collisions_in(const Tia* t, const Mask* part) noexcept nogil:
    """The latches that are set in this part of a line."""
    cdef const Mask* m = &t.masks[0]
    return (meet(&m[M0], &m[P0], part) | meet(&m[M0], &m[P1], part) << 1 | meet(&m[M1], &m[P1], part) << 2
            | meet(&m[M1], &m[P0], part) << 3 | meet(&m[P0], &m[BL], part) << 4 | meet(&m[P0], &m[PF], part) << 5
            | meet(&m[P1], &m[BL], part) << 6 | meet(&m[P1], &m[PF], part) << 7 | meet(&m[M0], &m[BL], part) << 8
            | meet(&m[M0], &m[PF], part) << 9 | meet(&m[M1], &m[BL], part) << 10 | meet(&m[M1], &m[PF], part) << 11
            | meet(&m[BL], &m[PF], part) << 13 | meet(&m[M0], &m[M1], part) << 14 | meet(&m[P0], &m[P1], part) << 15)


cdef inline uint64_t below(int x) noexcept nogil:
    """The bits below x in a word; none for x <= 0, all for x >= 64."""
    return 0 if x <= 0 else <uint64_t>0xFFFFFFFFFFFFFFFFULL if x >= 64 else (<uint64_t>1 << x) - 1


cdef inline void latch(Tia* t, int x0, int x1) noexcept nogil:
    """Latch the collisions of pixels x0 .. x1 - 1."""
    cdef Mask part
    cdef int word
    if not t.known:
        part.words[0] = part.words[1] = part.words[2] = <uint64_t>0xFFFFFFFFFFFFFFFFULL
        t.pairs = collisions_in(t, &part)
        t.known = 1
    if t.pairs & ~t.latches:
        if x1 - x0 == WIDTH:
            t.latches |= t.pairs
            return
        for word in range(3):
            part.words[word] = below(x1 - 64 * word) & ~below(x0 - 64 * word)
        t.latches |= collisions_in(t, &part)


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
    if t.dirty:
        make_masks(t)
    latch(t, x0, x1)
    if picture:
        if t.comb and x0 < 8:
            memset(line + x0, 0, min(8, x1) - x0)
            x0 = min(8, x1)
        if x0 < x1:
            paint(t, x0, x1, line)


cdef inline int repeat(Tia* t, int row, int until, uint8_t* picture) noexcept nogil:
    """Copy a row to the whole lines that follow before `until` and are equal to it. Returns their number."""
    cdef int i, last = min(until // LINE - t.top, t.height)
    if t.comb or t.next_comb or t.hidden[0] or t.hidden[1] or t.star or t.reflect != t.ctrlpf & REFLECT:
        return 0
    if picture:
        for i in range(row + 1, last):
            memcpy(picture + i * WIDTH, picture + row * WIDTH, WIDTH)
    return max(0, last - row - 1)


cdef inline void beam(Tia* t, int until, uint8_t* picture) noexcept nogil:
    """Move the beam to clock `until`."""
    cdef int row, at, x0, x1, end
    while t.clock < until:
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


cdef inline void tia_run(Tia* t, const uint32_t* log, int count, int until, uint8_t* picture) noexcept nogil:
    """Replay writes and move the beam.

    log: (count,), the writes that follow those replayed before.
    until: clock up to which the beam moves and collisions are latched.
    picture: (height, WIDTH) palette indices of the window, or NULL.
    """
    cdef int i, clock, register
    for i in range(count):
        clock, register = log[i] >> 14, log[i] >> 8 & 63
        beam(t, tia_effect(t, register, clock), picture)
        tia_write(t, register, log[i] & 255, clock)
    beam(t, until, picture)
