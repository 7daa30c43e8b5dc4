"""A line of the TIA's picture: from the masks of the objects to a row of pixels. paint.pxd moves the beam.

A write that changes an object within a line first adds the object's pixels up to there to the line. When the line ends, the
rest of all objects is added, and the line becomes three layers: the pixels with the colour of player 0, of player 1 and of the
playfield; all others are background. Where a colour or the priority changes within the line, it is painted up to there. Lines
that are equal to the one before share its row of pixels.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from envs_c.console.tia.tia cimport BL, BLANK, FIELD_FIRST, LINE, M0, M1, P0, P1, PF, SCORE, WIDTH, Mask, Tia
from envs_c.console.tia.masks cimport below, lowest, make_mask, make_masks
from envs_c.console.tia.pixels cimport BELOW, console_paint
from envs_c.console.tia.plain cimport scores


cdef enum:
    MOST_LINES = 250
    COMB = 8            # pixels
    OBJECTS = 63        # all of them, a bit each
    OUTSIDE = 1 << 24   # clock of a line's first pixel while the beam is above or below the window
    BLACK = 255         # of pixels without a colour, such as the comb's: no palette index, since those are even


ctypedef struct Layers:
    uint64_t[3][3] words        # bit x of 160, of the colours of player 0, of player 1, and of playfield and ball
    uint8_t[8] colours          # of these and of the background, as painted; of layers without a pixel 0


ctypedef struct Painter:
    Tia tia
    const uint8_t* shades       # (256,) the byte that is written for each palette index, and for BLACK
    int32_t rows                # rows of `pixels` that are complete; the first one is blank
    int32_t row                 # of the window, in which the beam is; -1 above it, its height below
    int32_t origin              # clock of the line's first pixel, or OUTSIDE
    int32_t end                 # clock at the end of the line, or where the beam enters the window
    int32_t painted             # of the current line: pixels before this one are written
    int32_t comb                # of the current line: the first pixel of the comb; 8 without one
    int32_t last_comb           # of the line before
    uint8_t blank               # what pixels have that the beam did not cross
    uint8_t whole               # 1: `last` is the line before
    uint8_t changed             # 1: this line may differ from the one before
    uint8_t split               # 1: objects have changed within the line, so that `line` has parts of them
    uint8_t[6] added            # of each object: its pixels before this one are in `line`
    Mask[6] line
    Layers last
    int16_t[MOST_LINES] kept    # the row of each line of the window; 0 for lines that the beam did not cross
    uint8_t[(MOST_LINES + 2) * WIDTH] pixels


cdef inline void painter_begin(Painter* p, const Tia* t, const uint8_t* shades, int blank) noexcept nogil:
    """A picture begins, with the chip as it is now. shades: (256,), kept. blank: the byte of pixels that stay unwritten."""
    cdef int row = t.clock // LINE - t.top, at = t.clock % LINE, x
    memcpy(&p.tia, t, sizeof(Tia))
    p.shades = shades
    p.blank = <uint8_t>blank
    p.rows, p.last_comb, p.whole = 1, COMB, 0
    memset(p.kept, 0, sizeof(p.kept))
    memset(p.pixels, blank, WIDTH)
    if at == 0:  # the end of a line, or the place where the window begins
        row, at = row - 1, LINE
    if row < 0 or row >= t.height:
        begin_outside(p, row < 0)
        return
    begin_line(p, row, t.clock - at)
    x = at - BLANK
    if x > 0:
        p.painted, p.split, p.changed = x, 1, 1
        memset(row_of(p), blank, x)
        memset(p.added, x, sizeof(p.added))
        memset(p.line, 0, sizeof(p.line))
        p.comb = min(x, COMB) if t.comb else COMB


cdef inline void painter_end(Painter* p) noexcept nogil:
    """The picture ends where the beam stands."""
    cdef int x = p.tia.clock - p.origin
    if x > 0:
        paint_to(p, x)
        if p.comb < x:
            memset(row_of(p) + p.comb, p.shades[BLACK], min(COMB, x) - p.comb)
        memset(row_of(p) + x, p.blank, WIDTH - x)
        p.kept[p.row] = <int16_t>p.rows
        p.rows += x == WIDTH


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


cdef inline void begin_line(Painter* p, int row, int clock) noexcept nogil:
    """The beam enters a line of the window, which began at `clock`."""
    p.row, p.origin, p.end = row, clock + BLANK, clock + LINE
    p.painted = p.split = 0
    p.comb = 0 if p.tia.comb else COMB


cdef inline void begin_outside(Painter* p, bint above) noexcept nogil:
    """The beam is outside the window."""
    p.origin = OUTSIDE
    p.row = -1 if above else p.tia.height
    p.end = p.tia.top * LINE if above else OUTSIDE
    p.painted = p.split = 0


cdef inline void make_layers(const Painter* p, const Mask* m, Layers* out) noexcept nogil:
    """The layers of these masks: colours by priority, as in plain.pxd."""
    cdef const Tia* t = &p.tia
    cdef uint64_t f, s, b
    cdef uint64_t[3] some
    cdef bint score = scores(t)
    cdef int word, k
    some[0] = some[1] = some[2] = 0
    memset(out.colours, 0, sizeof(out.colours))
    for word in range(3):
        f, s, b = m[P0].words[word] | m[M0].words[word], m[P1].words[word] | m[M1].words[word], m[BL].words[word]
        if score:
            f |= m[PF].words[word] & below(WIDTH // 2 - 64 * word)
            s |= m[PF].words[word] & ~below(WIDTH // 2 - 64 * word)
        else:
            b |= m[PF].words[word]
        if t.ctrlpf & FIELD_FIRST and not score:
            f, s = f & ~b, s & ~b
        s &= ~f
        b &= ~(f | s)
        out.words[0][word], out.words[1][word], out.words[2][word] = f, s, b
        some[0], some[1], some[2] = some[0] | f, some[1] | s, some[2] | b
    for k in range(3):
        out.colours[k] = p.shades[t.colour[k]] if some[k] else 0
    out.colours[3] = p.shades[t.colour[3]]


cdef inline void add_object(Painter* p, int object, int x) noexcept nogil:
    """Add the pixels before x of an object to the current line, whose `line` has begun."""
    cdef const uint64_t* low = BELOW[p.added[object]]
    cdef const uint64_t* high = BELOW[x]
    cdef const uint64_t* mask = p.tia.masks[object].words
    cdef uint64_t* words = p.line[object].words
    if p.added[object] < x:
        p.added[object] = <uint8_t>x
        if p.tia.live >> object & 1:
            if p.tia.dirty >> object & 1:
                p.tia.dirty &= <uint8_t>~(1 << object)
                make_mask(&p.tia, object)
            words[0] |= mask[0] & (high[0] ^ low[0])
            words[1] |= mask[1] & (high[1] ^ low[1])
            words[2] |= mask[2] & (high[2] ^ low[2])


cdef inline void begin_split(Painter* p) noexcept nogil:
    """An object changes within the current line."""
    if not p.split:
        p.split = 1
        memset(p.added, 0, sizeof(p.added))
        memset(p.line, 0, sizeof(p.line))


cdef inline void add(Painter* p, int objects, int x) noexcept nogil:
    """Add the pixels before x of these objects, a bit each, to the current line."""
    begin_split(p)
    while objects:
        add_object(p, lowest(objects), x)
        objects &= objects - 1


cdef inline uint8_t* row_of(Painter* p) noexcept nogil:
    """The row of the current line."""
    return p.pixels + p.rows * WIDTH


cdef inline void paint_to(Painter* p, int x) noexcept nogil:
    """Write the pixels before x of the current line that are not written."""
    cdef Layers layers
    cdef uint64_t[3] inside
    cdef int word
    if x <= p.painted:
        return
    if p.tia.vblank:
        memset(row_of(p) + p.painted, p.shades[BLACK], x - p.painted)
    else:
        add(p, p.tia.live, x)
        make_layers(p, p.line, &layers)
        for word in range(3):
            inside[word] = BELOW[x][word] ^ BELOW[p.painted][word]
        console_paint(layers.words[0], layers.colours, inside, row_of(p))
    p.painted = x


cdef inline bint same_layers(const Layers* a, const Layers* b) noexcept nogil:
    cdef uint64_t[2] colours
    cdef uint64_t differ
    cdef int k, word
    memcpy(&colours[0], a.colours, 8)
    memcpy(&colours[1], b.colours, 8)
    differ = colours[0] ^ colours[1]
    for k in range(3):
        for word in range(3):
            differ |= a.words[k][word] ^ b.words[k][word]
    return differ == 0


cdef inline bint paint_whole(Painter* p) noexcept nogil:
    """Write the current line, of which nothing is written yet, unless it is equal to the one before: then returns False."""
    cdef Layers layers
    if p.whole and not p.changed and not p.tia.dirty and p.comb == p.last_comb:
        return False
    if p.tia.vblank:
        memset(&layers, 0, sizeof(Layers))
        layers.colours[3] = p.shades[BLACK]
    elif p.split:
        add(p, p.tia.live, WIDTH)
        make_layers(p, p.line, &layers)
    else:
        make_masks(&p.tia, OBJECTS)
        make_layers(p, p.tia.masks, &layers)
    if p.whole and p.comb == p.last_comb and same_layers(&layers, &p.last):
        return False
    memcpy(&p.last, &layers, sizeof(Layers))
    console_paint(layers.words[0], layers.colours, BELOW[WIDTH], row_of(p))
    return True


cdef inline void finish_row(Painter* p) noexcept nogil:
    """The beam has crossed the last pixel of a line."""
    cdef uint8_t* pixels = row_of(p)
    cdef bint whole = p.painted == 0, new = True
    if whole:
        new = paint_whole(p)
    else:
        paint_to(p, WIDTH)
    if new:
        if p.comb == 0:
            memset(pixels, p.shades[BLACK], COMB)
        elif p.comb < COMB:
            memset(pixels + p.comb, p.shades[BLACK], COMB - p.comb)
        if (whole and p.whole) or memcmp(pixels, pixels - WIDTH, WIDTH) != 0:
            p.rows += 1
    p.kept[p.row] = <int16_t>(p.rows - 1)
    p.whole, p.changed, p.last_comb = whole, p.split, p.comb


cdef inline bint is_seen(Painter* p, int k, int x) noexcept nogil:
    """True if the colour of layer k, or of the background, may be between what is painted and pixel x."""
    cdef int objects = (1 << P0 | 1 << M0) if k == 0 else (1 << P1 | 1 << M1) if k == 1 else (1 << BL | 1 << PF), word
    cdef uint64_t found = 0
    if k == 3 or x <= p.painted or p.tia.vblank:
        return k == 3
    if p.tia.ctrlpf & SCORE:
        objects |= 1 << PF
    add(p, objects, x)
    while objects:
        for word in range(3):
            found |= p.line[lowest(objects)].words[word] & (BELOW[x][word] ^ BELOW[p.painted][word])
        objects &= objects - 1
    return found != 0
