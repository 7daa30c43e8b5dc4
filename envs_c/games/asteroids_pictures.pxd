"""Asteroids' pictures, and how they are painted.

On the grey canvas a figure that stands free is added cell by cell: `lay_out` counts once for every picture, row and place in
the grid of cells what falls into each cell. Where figures overlap, they are cut line by line to what is seen of them.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.asteroids_rules cimport WIDE
from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of


cdef enum:
    SHIP = 8, EXPLOSION = 24, SHOT = 27, DIGIT = 28, SHAPES = 38    # pictures; 0 .. 3 rocks by size, 4 .. 7 when hit
    ROWS = 14, LINES = 28                                       # of the highest picture; two lines a row
    FIELD_Y = 18, FIELD_END = 195, FIELD_HIGH = 178             # pixels
    SCORE_Y = 5
    CELL_X = 40, UNITS_X = 21, CELL_Y = 5                       # 21 cells of the grey canvas are 40 pixels, 2 are 5
    STAMP_ROWS = 13
    RED = 0xB83232

cdef extern from *:
    """
    static const unsigned char HEIGHT[38] = {14, 14, 7, 4, 11, 11, 8, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
                                             5, 5, 5, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    static const unsigned short PICTURE[38][14] = {  // rows of two lines, the high bit at the left
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
        {0xFFF0, 0xF0F0, 0xFFF0, 0xF0F0, 0xFFF0}, {0xFFF0, 0xF0F0, 0xFFF0, 0x00F0, 0x00F0}};
    static unsigned char COVER[38][40][14][16];  // of a picture at x modulo 40, a row's units in each cell; made by lay_out
    static unsigned char EIGHT[256][40][16];     // of eight pixels, the same
    static unsigned char BROAD[38];              // columns of a picture
    static unsigned char STAMP[38][5][40][13][16];   // of a whole picture at y modulo 5, x modulo 40: units in each cell
    """
    const uint8_t[SHAPES] HEIGHT
    const uint16_t[SHAPES][ROWS] PICTURE
    uint8_t[SHAPES][CELL_X][ROWS][16] COVER
    uint8_t[256][CELL_X][16] EIGHT
    uint8_t[SHAPES] BROAD
    uint8_t[SHAPES][CELL_Y][CELL_X][STAMP_ROWS][16] STAMP


ctypedef struct Figure:
    int shape, x, y         # its corner: x 0 .. 159, y 0 .. 177 in pixels of the field
    uint32_t colour


cdef inline void cover_row(int bits, int x, uint8_t* cover) noexcept nogil:
    """Units of a row, its first pixel at x (0 .. 39), that fall in each of 16 cells from that pixel's on."""
    cdef int column, unit, part
    memset(cover, 0, 16)
    for column in range(16):
        if bits & (0x8000 >> column):
            unit = x * UNITS_X % CELL_X + column * UNITS_X
            part = min(CELL_X - unit % CELL_X, UNITS_X)
            cover[unit // CELL_X] += <uint8_t>part
            if part < UNITS_X:
                cover[unit // CELL_X + 1] += <uint8_t>(UNITS_X - part)


cdef inline void cover_line(int bits, int x, uint8_t* cover) noexcept nogil:
    """The same by two lookups, eight pixels each."""
    cdef int next_x = x + 8, shift = (x * UNITS_X % CELL_X + 8 * UNITS_X) // CELL_X
    cdef const uint8_t* right = EIGHT[bits & 255][next_x - CELL_X if next_x >= CELL_X else next_x]
    cdef long k
    memcpy(cover, EIGHT[bits >> 8][x], 16)
    for k in range(8):
        cover[shift + k] += right[k]


cdef inline void add_cells(uint8_t* grey, int row, int column, const uint16_t* cells, uint32_t shade) noexcept nogil:
    """Add 16 cells of a figure to what is there."""
    cdef long k
    cdef int at
    cdef uint8_t* out = grey + row * SMALL + column
    if column <= SMALL - 16:
        for k in range(16):
            out[k] += <uint8_t>((cells[k] * shade + 32768) >> 16)
        return
    for k in range(16):  # across the edge
        at = column + <int>k
        grey[row * SMALL + (at if at < SMALL else at - SMALL)] += <uint8_t>((cells[k] * shade + 32768) >> 16)


cdef inline uint32_t shade_of(uint32_t colour) noexcept nogil:
    """Grey a unit of a cell, times 65,536."""
    return (grey_of(colour) * 65536 + CELL_X * CELL_Y // 2) // (CELL_X * CELL_Y)


cdef inline void add_rows(uint8_t* grey, const uint8_t* cover, int rows, int high, int x, int y, int low, int end,
                          uint32_t colour) noexcept nogil:
    """Add a figure: rows of `high` pixels, the first at y on the screen; what is not in low .. end - 1 is cut off."""
    cdef uint32_t shade = shade_of(colour)
    cdef uint16_t[16] cells
    cdef long k
    cdef int row, top, bottom, cell, now = -1, here, column = x * UNITS_X // CELL_X
    for row in range(rows):
        top = 2 * max(y + row * high, low)
        bottom = 2 * min(y + row * high + high, end)
        if top >= bottom:
            continue
        cell = top // CELL_Y
        if cell != now:
            if now >= 0:
                add_cells(grey, now, column, cells, shade)
            memset(cells, 0, sizeof(cells))
            now = cell
        here = min(bottom, CELL_Y * cell + CELL_Y) - top
        for k in range(16):
            cells[k] += <uint16_t>(here * cover[16 * row + k])
        if bottom - top > here:
            add_cells(grey, now, column, cells, shade)
            now += 1
            for k in range(16):
                cells[k] = <uint16_t>((bottom - top - here) * cover[16 * row + k])
    if now >= 0:
        add_cells(grey, now, column, cells, shade)


cdef inline bint fits(int shape, int x, int y) noexcept nogil:
    """Whether a picture there is cut off nowhere."""
    return x * UNITS_X // CELL_X <= SMALL - 16 and FIELD_Y <= y and y + 2 * HEIGHT[shape] <= FIELD_END


cdef inline void add_stamp(uint8_t* grey, int shape, int x, int y, uint32_t colour) noexcept nogil:
    """Add a whole picture at (x, y) of the screen to what is there."""
    cdef uint32_t shade = shade_of(colour)
    cdef const uint8_t* cover = &STAMP[shape][y % CELL_Y][x % CELL_X][0][0]
    cdef uint8_t* out = grey + 2 * y // CELL_Y * SMALL + x * UNITS_X // CELL_X
    cdef int _row, rows = (2 * (y % CELL_Y + 2 * HEIGHT[shape]) + CELL_Y - 1) // CELL_Y - 2 * (y % CELL_Y) // CELL_Y
    cdef long k
    for _row in range(rows):
        if BROAD[shape] <= 12:
            for k in range(8):
                out[k] += <uint8_t>((cover[k] * shade + 32768) >> 16)
        else:
            for k in range(16):
                out[k] += <uint8_t>((cover[k] * shade + 32768) >> 16)
        cover += 16
        out += SMALL


cdef inline int around(int difference, int whole) noexcept nogil:
    """The shorter way."""
    return difference - whole if 2 * difference > whole else difference + whole if 2 * difference < -whole else difference


cdef inline bint overlap(const Figure* one, const Figure* other, int* dx, int* dy) noexcept nogil:
    """Whether their boxes do; and how far the other is from the one."""
    dx[0] = around(other.x - one.x, WIDE)
    dy[0] = around(other.y - one.y, FIELD_HIGH)
    return (-BROAD[other.shape] < dx[0] < BROAD[one.shape]
            and -2 * HEIGHT[other.shape] < dy[0] < 2 * HEIGHT[one.shape])


cdef inline void paint_line(Canvas* canvas, int bits, int x, int y, uint32_t colour) noexcept nogil:
    cdef int column
    for column in range(16):
        if bits & (0x8000 >> column):
            canvas_rect(canvas, (x + column) % WIDE, y, 1, 1, colour)


cdef inline void draw_lines(const Figure* figures, int number, Canvas* canvas) noexcept nogil:
    """A figure line by line, less what those before it hide; and any in colour."""
    cdef const Figure* figure = &figures[number]
    cdef uint16_t[LINES] bits
    cdef uint8_t[LINES][16] cover
    cdef int lines = 2 * HEIGHT[figure.shape], line, other, dx, dy, hidden, y
    for line in range(lines):
        bits[line] = PICTURE[figure.shape][line >> 1]
    for other in range(number):
        if overlap(figure, &figures[other], &dx, &dy):
            for line in range(max(dy, 0), min(dy + 2 * HEIGHT[figures[other].shape], lines)):
                hidden = PICTURE[figures[other].shape][(line - dy) >> 1]
                bits[line] &= <uint16_t>~(hidden >> dx if dx >= 0 else hidden << -dx)
    if canvas.rgb != NULL:
        for line in range(lines):
            y = FIELD_Y + (figure.y + line) % FIELD_HIGH
            if y < FIELD_END:
                paint_line(canvas, bits[line], figure.x, y, figure.colour)
        return
    for line in range(lines):
        cover_line(bits[line], figure.x % CELL_X, cover[line])
    y = FIELD_Y + figure.y
    add_rows(canvas.grey, &cover[0][0], lines, 1, figure.x, y, FIELD_Y, FIELD_END, figure.colour)
    if figure.y + lines > FIELD_HIGH:
        add_rows(canvas.grey, &cover[0][0], lines, 1, figure.x, y - FIELD_HIGH, FIELD_Y, FIELD_END, figure.colour)


cdef inline void draw_figure(const Figure* figures, int number, Canvas* canvas) noexcept nogil:
    cdef const Figure* figure = &figures[number]
    cdef int other, dx, dy
    cdef bint plain = canvas.rgb == NULL
    for other in range(number):
        plain = plain and not overlap(figure, &figures[other], &dx, &dy)
    if not plain:
        draw_lines(figures, number, canvas)
        return
    if fits(figure.shape, figure.x, FIELD_Y + figure.y):
        add_stamp(canvas.grey, figure.shape, figure.x, FIELD_Y + figure.y, figure.colour)
        return
    add_rows(canvas.grey, &COVER[figure.shape][figure.x % CELL_X][0][0], HEIGHT[figure.shape], 2, figure.x,
             FIELD_Y + figure.y, FIELD_Y, FIELD_END, figure.colour)
    if figure.y + 2 * HEIGHT[figure.shape] > FIELD_HIGH:
        add_rows(canvas.grey, &COVER[figure.shape][figure.x % CELL_X][0][0], HEIGHT[figure.shape], 2, figure.x,
                 FIELD_Y + figure.y - FIELD_HIGH, FIELD_Y, FIELD_END, figure.colour)


cdef inline void draw_digit(Canvas* canvas, int x, int digit) noexcept nogil:
    cdef int row
    if canvas.rgb == NULL:
        add_stamp(canvas.grey, DIGIT + digit, x, SCORE_Y, RED)
        return
    for row in range(10):
        paint_line(canvas, PICTURE[DIGIT + digit][row >> 1], x, SCORE_Y + row, RED)


cdef inline int place(Figure* figures, int number, int shape, int x, int right, int y, uint32_t colour) noexcept nogil:
    """Add a figure, `right` pixels to the right of where things at x are shown: for x 6 .. 18 that is 2 farther left."""
    cdef Figure* figure = &figures[number]
    x += right - (2 if 6 <= x <= 18 else 0)
    figure.shape, figure.colour = shape, colour
    figure.x = x - WIDE if x >= WIDE else x + WIDE if x < 0 else x
    figure.y = y - FIELD_HIGH if y >= FIELD_HIGH else y + FIELD_HIGH if y < 0 else y
    return number + 1


cdef inline void lay_stamps(int shape) noexcept nogil:
    """Fill a picture's STAMP from its COVER."""
    cdef int x, y, row, top, here, cell
    cdef long k
    for y in range(CELL_Y):
        for x in range(CELL_X):
            for row in range(2 * HEIGHT[shape]):
                top = 2 * (y + row)
                cell = top // CELL_Y
                here = min(top + 2, CELL_Y * cell + CELL_Y) - top
                cell -= 2 * y // CELL_Y
                for k in range(16):
                    STAMP[shape][y][x][cell][k] += <uint8_t>(here * COVER[shape][x][row >> 1][k])
                    if here < 2:
                        STAMP[shape][y][x][cell + 1][k] += <uint8_t>((2 - here) * COVER[shape][x][row >> 1][k])


cdef inline void lay_out() noexcept nogil:
    cdef int shape, x, row, column, bits
    for bits in range(256):
        for x in range(CELL_X):
            cover_row(bits << 8, x, EIGHT[bits][x])
    for shape in range(SHAPES):
        for row in range(HEIGHT[shape]):
            for x in range(CELL_X):
                cover_row(PICTURE[shape][row], x, COVER[shape][x][row])
            for column in range(16):
                if PICTURE[shape][row] & (0x8000 >> column) and BROAD[shape] <= column:
                    BROAD[shape] = <uint8_t>(column + 1)
        lay_stamps(shape)
