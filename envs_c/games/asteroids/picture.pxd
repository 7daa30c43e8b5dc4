"""The pictures of Asteroids, and how they are painted.

On the grey canvas a figure is a stamp. `lay_out` computes once, for every picture and every place in the grid of cells, how
much of each cell the picture covers. To paint a figure, the greys of its stamp are added to the black ground. Lines that
another figure hides are first taken out of the stamp.
"""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from envs_c.games.asteroids.rules cimport WIDE
from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of
from envs_c.stamp cimport AREA, CELL_X, CELL_Y, UNIT_X, UNIT_Y, cover_bits


cdef enum:
    SHIP = 8, EXPLOSION = 24, SHOT = 27, DIGIT = 28     # pictures; 0 .. 3: rocks by size, 4 .. 7: the same, hit
    UFO = 38, SHAPES = 40                                       # large, small; number of pictures
    ROWS = 14, LINES = 28                                       # of the highest picture; a row has two lines
    FIELD_Y = 18, FIELD_HIGH = 178  # pixels
    SCORE_Y = 5
    STAMP_ROWS = 13, NARROW = 12                                # a picture up to NARROW pixels wide takes 8 cells, others 16
    FIRST_ROW = 7, END_ROW = 78                                 # rows of the grey canvas with the field
    FIGURES = 22, LANES = 32    # at most: ship, UFO, 3 shots, 16 rocks, one of them in two parts; rounded up for vectors
    UPPER_PART = LINES, LOWER_PART      # `cut`: what of a figure across the lower edge is not seen
    RED = 0xB83232

cdef extern from *:
    """
    static const unsigned char HEIGHT[40] = {14, 14, 7, 4, 11, 11, 8, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
                                             5, 5, 5, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 3};
    static const unsigned short PICTURE[40][14] = {  // rows of two lines, the high bit at the left
        {0x0300, 0x07E0, 0x07F8, 0x1FF8, 0x1FFE, 0x7FFE, 0xFFFF, 0x7FFE, 0xFFFF, 0x7FFE, 0x0FFC, 0x0FFC, 0x03F0, 0x00F0},
        {0x0FF0, 0x3FFC, 0x3FFF, 0x0FFF, 0x3FFF, 0xFFFF, 0xFFFC, 0xFFFC, 0x7FFE, 0x7FFE, 0x1FFE, 0x0FFC, 0x0FFC, 0x03F0},
        {0x1800, 0x3C00, 0x7E00, 0xFF00, 0xFF00, 0x7E00, 0x0C00}, {0x6000, 0xF000, 0xF000, 0x2000},
        {0xA000, 0x0400, 0x4000, 0x0900, 0x2000, 0x0000, 0x8800, 0x0100, 0x1000, 0x4000, 0x1100},
        {0x4800, 0x0200, 0x2000, 0x8800, 0x0100, 0x4000, 0x1400, 0x4000, 0x0000, 0x2100, 0x8400},
        {0x5000, 0x0200, 0x2000, 0x8100, 0x0400, 0x4000, 0x1000, 0x4100}, {0x4000, 0x1000, 0x8000, 0x2000},
        {0x1000, 0x1000, 0x3800, 0x3800, 0x7C00}, {0x2000, 0x3000, 0x3800, 0x3C00, 0x3000},
        {0x4000, 0x3000, 0x3C00, 0x1800, 0x1000}, {0x0000, 0x4000, 0x3E00, 0x1C00, 0x0C00},
        {0x0400, 0x1C00, 0xFC00, 0x1C00, 0x0400}, {0x0C00, 0x1C00, 0x3E00, 0x4000, 0x0000},
        {0x1000, 0x1800, 0x3C00, 0x3000, 0x4000}, {0x3000, 0x3C00, 0x3800, 0x3000, 0x2000},
        {0x3E00, 0x1C00, 0x1C00, 0x0800, 0x0800}, {0x0C00, 0x3C00, 0x1C00, 0x0C00, 0x0400},
        {0x0800, 0x1800, 0x3C00, 0x0C00, 0x0200}, {0x3000, 0x3800, 0x7C00, 0x0200, 0x0000},
        {0x2000, 0x3800, 0x3F00, 0x3800, 0x2000}, {0x0000, 0x0200, 0x7C00, 0x3800, 0x3000},
        {0x0200, 0x0C00, 0x3C00, 0x1800, 0x0800}, {0x0400, 0x0C00, 0x1C00, 0x3C00, 0x0C00},
        {0x1000, 0x0200, 0x0800, 0x2200, 0x0800}, {0x0800, 0x1000, 0x8000, 0x0400, 0xA200},
        {0x2000, 0x8100, 0x2200, 0x1000, 0x0400}, {0x8000},
        {0xFFF0, 0xF0F0, 0xF0F0, 0xF0F0, 0xFFF0}, {0x0F00, 0xFF00, 0x0F00, 0x0F00, 0xFFF0},
        {0xFFF0, 0x00F0, 0xFFF0, 0xF000, 0xFFF0}, {0xFFF0, 0x00F0, 0x0FF0, 0x00F0, 0xFFF0},
        {0xF0F0, 0xF0F0, 0xFFF0, 0x00F0, 0x00F0}, {0xFFF0, 0xF000, 0xFFF0, 0x00F0, 0xFFF0},
        {0xF000, 0xF000, 0xFFF0, 0xF0F0, 0xFFF0}, {0xFFF0, 0x00F0, 0x00F0, 0x00F0, 0x00F0},
        {0xFFF0, 0xF0F0, 0xFFF0, 0xF0F0, 0xFFF0}, {0xFFF0, 0xF0F0, 0xFFF0, 0x00F0, 0x00F0},
        {0x1000, 0x3800, 0xFE00, 0x7C00, 0x3800}, {0x2000, 0xF800, 0x7000}};
    // Filled by lay_out:
    static unsigned char BROAD[40];                  // width of a picture, in pixels
    static unsigned char EIGHT[256][40][16];         // units covered in each cell, by 8 pixels in a row and x modulo 40
    static unsigned char STAMP[40][5][40][13][16];   // units covered in each cell, by picture, y modulo 5 and x modulo 40
    """
    const uint8_t[SHAPES] HEIGHT
    const uint16_t[SHAPES][ROWS] PICTURE
    uint8_t[SHAPES] BROAD
    uint8_t[256][CELL_X][16] EIGHT
    uint8_t[SHAPES][CELL_Y][CELL_X][STAMP_ROWS][16] STAMP


ctypedef struct Figures:
    # The figures on the field. Each hides those after it.
    uint8_t[LANES] x, y                 # corners: 0 .. 159, 0 .. 177, in pixels of the field
    uint8_t[LANES] broad, high, shape   # size in pixels; index of the picture
    uint8_t[LANES] cut                  # rows without it at the field's upper edge, if it reaches across the lower one
    uint32_t[FIGURES] colour
    int number


cdef inline void place(Figures* figures, int shape, int x, int right, int y, uint32_t colour, int cut=0) noexcept nogil:
    """Add a figure.

    shape: index of the picture.
    x: of the thing, 4 .. 165.
    right: pixels to the right of x at which the picture begins.
    y: first row, in pixels of the field.
    cut: rows at the field's upper edge that do not show it, if it reaches across the lower one: UPPER_PART for all of them;
        LOWER_PART: it is seen at the upper edge only.
    """
    cdef int number = figures.number
    x += right
    figures.x[number] = <uint8_t>(x - WIDE if x >= WIDE else x + WIDE if x < 0 else x)
    figures.y[number] = <uint8_t>(y - FIELD_HIGH if y >= FIELD_HIGH else y + FIELD_HIGH if y < 0 else y)
    figures.broad[number] = BROAD[shape]
    figures.high[number] = 2 * HEIGHT[shape]
    figures.shape[number] = <uint8_t>shape
    figures.cut[number] = <uint8_t>cut
    figures.colour[number] = colour
    figures.number = number + 1


# --- hidden lines ----------------------------------------------------------------------------------------------------

cdef inline bint stands_free(const Figures* figures, int number) noexcept nogil:
    """Whether a figure's box overlaps no box of the figures before it."""
    cdef uint8_t x = figures.x[number], y = figures.y[number], broad = figures.broad[number], high = figures.high[number]
    cdef uint8_t dx, dy, met = 0
    cdef long k
    for k in range(LANES):
        dx = <uint8_t>(figures.x[k] - x + (WIDE if figures.x[k] < x else 0))
        dy = <uint8_t>(figures.y[k] - y + (FIELD_HIGH if figures.y[k] < y else 0))
        met |= (((dx < broad) | (dx > <uint8_t>(WIDE - figures.broad[k])))
                & ((dy < high) | (dy > <uint8_t>(FIELD_HIGH - figures.high[k]))) & (<int8_t>k < <int8_t>number))
    return met == 0


cdef inline int around(int difference, int whole) noexcept nogil:
    """A distance on a ring of length `whole`, by the shorter way."""
    return difference - whole if 2 * difference > whole else difference + whole if 2 * difference < -whole else difference


cdef inline int last_line(const Figures* figures, int number) noexcept nogil:
    """The figure's line in the field's last row, which is never seen; those after it are at the field's upper edge."""
    return FIELD_HIGH - 1 - figures.y[number]


cdef inline void look(const Figures* figures, int number, uint16_t* seen) noexcept nogil:
    """Set `seen` to the bits of a figure's lines that are seen: neither cut off nor behind earlier figures."""
    cdef int high = figures.high[number], line, other, dx, dy, hidden, first, end, last = last_line(figures, number)
    for line in range(high):
        seen[line] = PICTURE[figures.shape[number]][line >> 1]
    if last < high:
        first = 0 if figures.cut[number] == LOWER_PART else last
        end = last + 1 if figures.cut[number] == LOWER_PART else min(last + 1 + figures.cut[number], high)
        for line in range(first, end):
            seen[line] = 0
    for other in range(number):
        dx = around(figures.x[other] - figures.x[number], WIDE)
        dy = around(figures.y[other] - figures.y[number], FIELD_HIGH)
        if -16 < dx < 16:
            last = last_line(figures, other)
            first, end = dy, dy + figures.high[other]
            if last < figures.high[other] and figures.cut[other] == LOWER_PART:
                first += last + 1
            elif last < figures.high[other] and figures.cut[other] == UPPER_PART:
                end = dy + last
            for line in range(max(first, 0), min(end, high)):
                hidden = PICTURE[figures.shape[other]][(line - dy) >> 1]
                seen[line] &= <uint16_t>~(hidden >> dx if dx >= 0 else hidden << -dx)


# --- in grey ---------------------------------------------------------------------------------------------------------

cdef inline void add_line(uint8_t* cells, int bits, int x, int y, int line, int sign) noexcept nogil:
    """Add (sign 1) or take away (sign -1) the units of one line of a picture in a stamp for x and y."""
    cdef int next_x = x + 8, shift = (x * UNIT_X % CELL_X + 8 * UNIT_X) // CELL_X
    cdef const uint8_t* left = EIGHT[bits >> 8][x]
    cdef const uint8_t* right = EIGHT[bits & 255][next_x - CELL_X if next_x >= CELL_X else next_x]
    cdef int cell = UNIT_Y * (y + line) // CELL_Y
    cdef int units = min(UNIT_Y, CELL_Y * (cell + 1) - UNIT_Y * (y + line)) * sign, _part
    cdef long k
    cells += 16 * (cell - UNIT_Y * y // CELL_Y)
    for _part in range(2):  # the line's units in this row of cells, then those in the next
        for k in range(16):
            cells[k] += <uint8_t>(units * left[k])
        for k in range(8):
            cells[shift + k] += <uint8_t>(units * right[k])
        cells += 16
        units = UNIT_Y * sign - units


cdef inline void add_cells(uint8_t* out, const uint8_t* cells, int rows, long breadth, int before_edge,
                           uint32_t colour) noexcept nogil:
    """Add the greys of a stamp to the canvas.

    rows, breadth: of the stamp, in cells.
    before_edge: cells of a row left of the right edge; the others go to the left edge, one row of bytes earlier.
    """
    cdef uint32_t shade = (grey_of(colour) * 65536 + AREA // 2) // AREA  # grey of one unit, times 65,536
    cdef uint8_t[16] greys
    cdef int _row
    cdef long k
    for _row in range(rows):
        for k in range(breadth):
            greys[k] = <uint8_t>((cells[k] * shade + 32768) >> 16)
        if before_edge >= breadth:
            for k in range(breadth):
                out[k] += greys[k]
        else:
            for k in range(before_edge):
                out[k] += greys[k]
            for k in range(before_edge, breadth):
                out[k - SMALL] += greys[k]
        cells += 16
        out += SMALL


cdef inline void add_stamp(uint8_t* grey, int shape, int x, int y, int first, int end, const uint16_t* seen,
                           uint32_t colour) noexcept nogil:
    """Add a picture to the grey canvas.

    x, y: corner on the screen, in pixels.
    first, end: rows first .. end - 1 of the canvas are painted.
    seen: bits of the lines that are not hidden; NULL if all are seen.
    """
    cdef int place_x = x % CELL_X, place_y = (y + 2 * CELL_Y) % CELL_Y, column = x * UNIT_X // CELL_X
    cdef int top = UNIT_Y * (y + 2 * CELL_Y) // CELL_Y - 4  # y may be as low as -9
    cdef int bottom = (UNIT_Y * (y + 2 * HEIGHT[shape] + 2 * CELL_Y) + CELL_Y - 1) // CELL_Y - 4, line, hidden
    cdef const uint8_t* cells = &STAMP[shape][place_y][place_x][0][0]
    cdef uint8_t[STAMP_ROWS * 16] cut
    if seen != NULL:
        memcpy(cut, cells, sizeof(cut))
        for line in range(2 * HEIGHT[shape]):
            hidden = PICTURE[shape][line >> 1] & ~seen[line]
            if hidden:
                add_line(cut, hidden, place_x, place_y, line, -1)
        cells = cut
    first = max(first, top)
    cells += 16 * (first - top)
    grey += SMALL * first + column
    if BROAD[shape] <= NARROW:
        add_cells(grey, cells, min(bottom, end) - first, 8, SMALL - column, colour)
    else:
        add_cells(grey, cells, min(bottom, end) - first, 16, SMALL - column, colour)


# --- figures and digits ----------------------------------------------------------------------------------------------

cdef inline void paint_line(Canvas* canvas, int bits, int x, int y, uint32_t colour) noexcept nogil:
    cdef int column
    for column in range(16):
        if bits & (0x8000 >> column):
            canvas_rect(canvas, (x + column) % WIDE, y, 1, 1, colour)


cdef inline void draw_figure(const Figures* figures, int number, Canvas* canvas) noexcept nogil:
    cdef int shape = figures.shape[number], x = figures.x[number], y = figures.y[number], high = figures.high[number], line
    cdef uint32_t colour = figures.colour[number]
    cdef uint16_t[LINES] bits
    cdef const uint16_t* seen = NULL
    if canvas.rgb != NULL:
        look(figures, number, bits)
        for line in range(high):
            paint_line(canvas, bits[line], x, FIELD_Y + (y + line) % FIELD_HIGH, colour)
        return
    if y + high >= FIELD_HIGH or not stands_free(figures, number):
        look(figures, number, bits)
        seen = bits
    add_stamp(canvas.grey, shape, x, FIELD_Y + y, FIRST_ROW, END_ROW, seen, colour)
    if y + high > FIELD_HIGH:
        add_stamp(canvas.grey, shape, x, FIELD_Y + y - FIELD_HIGH, FIRST_ROW, END_ROW, seen, colour)


cdef inline void draw_above(Canvas* canvas, int x, uint32_t colour) noexcept nogil:
    """Paint the upper line of a shot in the field's first line, which is above the field. x: of the shot, 4 .. 165."""
    cdef uint16_t[2] seen = [0x8000, 0]
    x = (x + 1) % WIDE
    if canvas.rgb != NULL:
        paint_line(canvas, 0x8000, x, FIELD_Y - 1, colour)
    else:
        add_stamp(canvas.grey, SHOT, x, FIELD_Y - 1, FIRST_ROW - 1, END_ROW, seen, colour)


cdef inline void draw_digit(Canvas* canvas, int x, int digit, int before) noexcept nogil:
    """Paint the digit of two frames. before: of the frame before."""
    cdef int row
    cdef uint16_t[10] more
    if canvas.rgb == NULL:
        add_stamp(canvas.grey, DIGIT + digit, x, SCORE_Y, 0, FIRST_ROW, NULL, RED)
        if before == digit:
            return
    for row in range(10):
        more[row] = PICTURE[DIGIT + before][row >> 1] & ~PICTURE[DIGIT + digit][row >> 1]
        if canvas.rgb != NULL:
            paint_line(canvas, PICTURE[DIGIT + digit][row >> 1] | more[row], x, SCORE_Y + row, RED)
    if canvas.rgb == NULL:
        add_stamp(canvas.grey, DIGIT + before, x, SCORE_Y, 0, FIRST_ROW, more, RED)


cdef inline void lay_out() noexcept nogil:
    cdef int shape, x, y, line, column, bits
    for bits in range(256):
        for x in range(CELL_X):
            cover_bits(bits, x, EIGHT[bits][x])
    for shape in range(SHAPES):
        for line in range(2 * HEIGHT[shape]):
            bits = PICTURE[shape][line >> 1]
            for column in range(16):
                if bits & (0x8000 >> column) and BROAD[shape] <= column:
                    BROAD[shape] = <uint8_t>(column + 1)
            for y in range(CELL_Y):
                for x in range(CELL_X):
                    add_line(&STAMP[shape][y][x][0][0], bits, x, y, line, 1)
