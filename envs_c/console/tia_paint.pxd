"""Pictures of the TIA, drawn from the log of a frame's writes: a line at a time, by masks of 160 bits.

A `Painter` replays the log from the chip as it was when the frame began. While the beam crosses a line, the pixels of three
layers are collected: those with the colour of player 0, of player 1 and of the playfield; all others are background. A line is
painted when it ends, or where one of its colours changes. Lines that are equal to the one before share its row of pixels.

Everything equals tia_plain.pxd pixel by pixel.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from envs_c.console.tia cimport (
    BL, BLANK, COLUBK, COLUP0, FIELD_FIRST, HMBL, HMCLR, HMM1, HMP0, HMP1, LINE, M0, M1, P0, P1, PF, SCORE, WIDTH, Mask, Tia,
    shown_ball, shown_missile, shown_player)
from envs_c.console.tia_masks cimport below, make_masks
from envs_c.console.tia_rows cimport end_in_row, enter_row, turns
from envs_c.console.tia_writes cimport tia_effect, tia_write


cdef enum:
    MOST_LINES = 250
    COMB = 8            # pixels


cdef extern from *:
    """
    /* Write 8 * count pixels: colour k where layer k has a bit, colour 3 where none has. Layers: bit x is pixel x. */
    #if defined(__AVX2__)
    #include <immintrin.h>
    static inline __m256i console_bytes(uint32_t bits) {
        const __m256i each = _mm256_set1_epi64x((long long)0x8040201008040201ULL);
        const __m256i from = _mm256_setr_epi64x(0, 0x0101010101010101LL, 0x0202020202020202LL, 0x0303030303030303LL);
        __m256i all = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), from), each);
        return _mm256_cmpeq_epi8(all, each);
    }
    static inline void console_paint(uint64_t first, uint64_t second, uint64_t third, const uint8_t *colours, int count,
                                     uint8_t *out) {
        const __m256i c0 = _mm256_set1_epi8((char)colours[0]), c1 = _mm256_set1_epi8((char)colours[1]);
        const __m256i c2 = _mm256_set1_epi8((char)colours[2]), c3 = _mm256_set1_epi8((char)colours[3]);
        for (int x = 0; x < count; x += 4) {
            __m256i pixels = _mm256_blendv_epi8(c3, c0, console_bytes((uint32_t)(first >> 8 * x)));
            pixels = _mm256_blendv_epi8(pixels, c1, console_bytes((uint32_t)(second >> 8 * x)));
            pixels = _mm256_blendv_epi8(pixels, c2, console_bytes((uint32_t)(third >> 8 * x)));
            _mm256_storeu_si256((__m256i *)(out + 8 * x), pixels);
        }
    }
    #else
    static inline uint64_t console_bytes(uint64_t bits) {
        bits = (bits & 0xFF) * 0x0101010101010101ULL & 0x8040201008040201ULL;
        return (bits + 0x7F7F7F7F7F7F7F7FULL) >> 7 & 0x0101010101010101ULL;
    }
    static inline void console_paint(uint64_t first, uint64_t second, uint64_t third, const uint8_t *colours, int count,
                                     uint8_t *out) {
        for (int x = 0; x < count; x++) {
            uint64_t f = console_bytes(first >> 8 * x), s = console_bytes(second >> 8 * x), b = console_bytes(third >> 8 * x);
            uint64_t none = 0x0101010101010101ULL ^ f ^ s ^ b;
            uint64_t eight = f * colours[0] | s * colours[1] | b * colours[2] | none * colours[3];
            memcpy(out + 8 * x, &eight, 8);
        }
    }
    #endif

    /* The bits below pixel x, as four words; the last one is empty. */
    #define BELOW_WORD(x, o) ((x) <= (o) ? 0 : (x) >= (o) + 64 ? ~0ULL : (1ULL << (((x) - (o)) & 63)) - 1)
    #define BELOW_1(x) {BELOW_WORD(x, 0), BELOW_WORD(x, 64), BELOW_WORD(x, 128), 0}
    #define BELOW_10(x) BELOW_1(x), BELOW_1(x + 1), BELOW_1(x + 2), BELOW_1(x + 3), BELOW_1(x + 4), BELOW_1(x + 5), \
        BELOW_1(x + 6), BELOW_1(x + 7), BELOW_1(x + 8), BELOW_1(x + 9)
    #define BELOW_40(x) BELOW_10(x), BELOW_10(x + 10), BELOW_10(x + 20), BELOW_10(x + 30)
    static const uint64_t BELOW[161][4] = {BELOW_40(0), BELOW_40(40), BELOW_40(80), BELOW_40(120), BELOW_1(160)};
    """
    const uint64_t[161][4] BELOW
    void console_paint(uint64_t first, uint64_t second, uint64_t third, const uint8_t* colours, int count,
                       uint8_t* out) noexcept nogil


ctypedef struct Layers:
    uint64_t[3][4] words        # bit x of 160, of the colours of player 0, of player 1, and of playfield and ball
    uint8_t[8] colours          # of these and of the background, as painted; of layers without a pixel 0


ctypedef struct Painter:
    Tia tia
    const uint8_t* shades       # (256,) the byte that is written for each palette index
    int32_t rows                # rows of `pixels` that are complete; the first one is blank
    int32_t painted             # of the current line: pixels before this one are written
    int32_t comb                # of the current line: the first pixel of the comb; 8 without one
    int32_t last_comb           # of the line before
    uint8_t blank               # what pixels have that the beam did not cross
    uint8_t layered             # 1: `now` is up to date
    uint8_t whole               # 1: `last` is the line before
    int32_t edge                # clock of the first pixel of the line in whose blank the beam is
    uint64_t[3][4] now          # the layers that the chip shows
    Layers line                 # the current line from `painted` on
    Layers last
    int16_t[MOST_LINES] kept    # the row of each line of the window; 0 for lines that the beam did not cross
    uint8_t[(MOST_LINES + 2) * WIDTH] pixels


cdef inline void painter_begin(Painter* p, const Tia* t, const uint8_t* shades, int blank) noexcept nogil:
    """A picture begins, with the chip as it is now. shades: (256,), kept. blank: the byte of pixels that stay unwritten."""
    cdef int row = t.clock // LINE - t.top, x = t.clock % LINE - BLANK
    memcpy(&p.tia, t, sizeof(Tia))
    p.shades = shades
    p.blank = <uint8_t>blank
    p.rows, p.painted, p.comb, p.edge, p.layered, p.whole = 1, 0, COMB, -LINE, 0, 0
    memset(p.now, 0, sizeof(p.now))
    memset(&p.line, 0, sizeof(Layers))
    memset(p.kept, 0, sizeof(p.kept))
    memset(p.pixels, blank, WIDTH)
    if 0 <= row < t.height and x > 0:
        memset(row_of(p), blank, x)
        p.painted = x


cdef inline void painter_end(Painter* p) noexcept nogil:
    """The picture ends where the beam stands."""
    cdef int row = p.tia.clock // LINE - p.tia.top, x = p.tia.clock % LINE - BLANK
    if 0 <= row < p.tia.height and x > 0:
        paint_to(p, x)
        if p.comb < x:
            memset(row_of(p) + p.comb, p.shades[0], min(COMB, x) - p.comb)
        memset(row_of(p) + x, p.blank, WIDTH - x)
        p.kept[row] = <int16_t>p.rows


cdef inline void painter_fill(Painter* p, const Painter* older) noexcept nogil:
    """After `painter_end`: the pixels that the beam did not cross at the picture's end are those of an older picture."""
    cdef int row = p.tia.clock // LINE - p.tia.top, x = max(p.tia.clock % LINE - BLANK, 0), line
    if row < 0:
        row = x = 0
    for line in range(row, p.tia.height):
        memcpy(row_of(p) + x, older.pixels + older.kept[line] * WIDTH + x, WIDTH - x)
        p.kept[line] = <int16_t>p.rows
        p.rows += 1
        x = 0


cdef inline void make_layers(Painter* p) noexcept nogil:
    """The layers that the chip shows: colours by priority, as in tia_plain.pxd."""
    cdef Tia* t = &p.tia
    cdef const Mask* m = &t.masks[0]
    cdef uint64_t f, s, b
    cdef bint score = t.ctrlpf & SCORE and not (t.ctrlpf & FIELD_FIRST and (
        shown_player(t, 0) or shown_player(t, 1) or shown_missile(t, 0) or shown_missile(t, 1) or shown_ball(t)))
    cdef int word
    make_masks(t, 63)
    for word in range(3):
        f, s, b = m[P0].words[word] | m[M0].words[word], m[P1].words[word] | m[M1].words[word], m[BL].words[word]
        if score:
            f |= m[PF].words[word] & below(WIDTH // 2 - 64 * word)
            s |= m[PF].words[word] & ~below(WIDTH // 2 - 64 * word)
        else:
            b |= m[PF].words[word]
        if t.ctrlpf & FIELD_FIRST and not score:
            f, s = f & ~b, s & ~b
        p.now[0][word], p.now[1][word], p.now[2][word] = f, s & ~f, b & ~(f | s)
    p.layered = 1


cdef inline void clear_line(Painter* p) noexcept nogil:
    """No layer has a pixel that is not written."""
    cdef int k, word
    for k in range(3):
        for word in range(4):
            p.line.words[k][word] = 0


cdef inline uint8_t* row_of(Painter* p) noexcept nogil:
    """The row of the current line."""
    return p.pixels + p.rows * WIDTH


cdef inline void shade(Painter* p) noexcept nogil:
    """The colours of the current line's layers."""
    cdef int k
    for k in range(3):
        p.line.colours[k] = p.shades[p.tia.colour[k]] if p.line.words[k][0] | p.line.words[k][1] | p.line.words[k][2] else 0
    p.line.colours[3] = p.shades[p.tia.colour[3]]


cdef inline void paint_to(Painter* p, int x) noexcept nogil:
    """Write the pixels before x of the current line that are not written."""
    cdef int first = p.painted & ~63, word
    cdef uint8_t[64] kept
    cdef uint64_t* f = p.line.words[0]
    cdef uint64_t* s = p.line.words[1]
    cdef uint64_t* b = p.line.words[2]
    if x <= p.painted:
        return
    shade(p)
    if p.painted > 0:
        memcpy(kept, row_of(p) + first, 64)
    for word in range(3):
        if 64 * word + 64 > first and 64 * word < x:
            console_paint(f[word], s[word], b[word], p.line.colours, 8 if word < 2 else 4, row_of(p) + 64 * word)
    if p.painted > 0:
        memcpy(row_of(p) + first, kept, p.painted - first)
    p.painted = x
    clear_line(p)


cdef inline void cross(Painter* p, int x0, int x1) noexcept nogil:
    """Move the beam over pixels x0 .. x1 - 1 of the current line."""
    cdef int k, word
    cdef const uint64_t* low = BELOW[x0]
    cdef const uint64_t* high = BELOW[x1]
    cdef uint64_t[4] inside
    if p.tia.comb:
        p.comb = min(p.comb, x0)
    if p.tia.vblank:
        paint_to(p, x0)
        memset(row_of(p) + x0, p.shades[0], x1 - x0)
        p.painted = x1
        return
    if p.tia.dirty or not p.layered:
        make_layers(p)
    if x0 == 0 and x1 == WIDTH:
        memcpy(p.line.words, p.now, sizeof(p.now))
        return
    for word in range(4):
        inside[word] = high[word] ^ low[word]
    for k in range(3):
        for word in range(4):
            p.line.words[k][word] |= p.now[k][word] & inside[word]


cdef inline void finish_row(Painter* p, int row) noexcept nogil:
    """The beam has crossed the last pixel of a line."""
    cdef uint8_t* pixels = row_of(p)
    cdef bint whole = p.painted == 0, same = False
    if whole:
        shade(p)
        same = p.whole and p.comb == p.last_comb and memcmp(&p.line, &p.last, sizeof(Layers)) == 0
        memcpy(&p.last, &p.line, sizeof(Layers))
        p.last_comb = p.comb
    if not same:
        paint_to(p, WIDTH)
        memset(pixels + p.comb, p.shades[0], COMB - p.comb)
        if memcmp(pixels, pixels - WIDTH, WIDTH) != 0:
            p.rows += 1
    clear_line(p)
    p.painted, p.comb, p.whole = 0, COMB, whole
    p.kept[row] = <int16_t>(p.rows - 1)


cdef inline void paint_until(Painter* p, int until) noexcept nogil:
    """Move the beam to clock `until`, or to where it already waits to move."""
    cdef Tia* t = &p.tia
    cdef int row, x0, x1
    until = max(until, t.least)
    if t.clock > p.edge - BLANK and until <= p.edge:  # within one blank
        t.clock = max(t.clock, until)
        return
    while t.clock < until:
        row = enter_row(t, until)
        if row < 0:
            continue
        x0 = max(t.clock % LINE - BLANK, 0)
        x1 = end_in_row(t, until)
        if x1 <= 0:
            p.edge = t.clock - x1
        if x0 < x1:
            cross(p, x0, x1)
            if x1 == WIDTH:
                finish_row(p, row)
                if x0 == 0:
                    skip_lines(p, row, until)


cdef inline void skip_lines(Painter* p, int row, int until) noexcept nogil:
    """Whole lines that follow before `until` and are equal to line `row`, which is complete."""
    cdef Tia* t = &p.tia
    cdef int line, last = min(until // LINE - t.top, t.height)
    if last > row + 1 and not (t.comb or t.next_comb or turns(t)):
        for line in range(row + 1, last):
            p.kept[line] = p.kept[row]
        t.clock += LINE * (last - row - 1)


cdef inline void recolour(Painter* p, int k, int value) noexcept nogil:
    """COLUP0, COLUP1, COLUPF or COLUBK, where the beam stands: k is 0 to 3."""
    cdef const uint64_t* layer = p.line.words[k] if k < 3 else NULL
    cdef int x = p.tia.clock % LINE - BLANK
    if x > p.painted and (layer == NULL or layer[0] | layer[1] | layer[2]):
        if p.tia.top <= p.tia.clock // LINE < p.tia.top + p.tia.height:
            paint_to(p, x)
    p.tia.colour[k] = value & 0xFE


cdef inline void paint_log(Painter* p, const uint32_t* log, int count, int until) noexcept nogil:
    """Replay writes and move the beam to clock `until`. log: (count,), as in tia.pxd."""
    cdef int i, register, value, clock
    for i in range(count):
        register, value, clock = log[i] >> 8 & 63, log[i] & 255, log[i] >> 14
        if register in (HMP0, HMP1, HMM1, HMBL, HMCLR):  # nothing is seen of these
            tia_write(&p.tia, register, value, clock)
            continue
        paint_until(p, tia_effect(&p.tia, register, clock))
        if COLUP0 <= register <= COLUBK:
            recolour(p, register - COLUP0, value)
        else:
            tia_write(&p.tia, register, value, clock)
    paint_until(p, until)
