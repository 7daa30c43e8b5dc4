"""Stamps: how figures come onto the grey canvas of the console's screen of 160x210 pixels, in whole numbers.

Down and across, pixels and cells (pixels of the grey canvas) are measured in units: a pixel is UNIT_X x UNIT_Y of them, a
cell CELL_X x CELL_Y. So the grid lies the same again after CELL_X pixels across and CELL_Y down, and what a shape covers of
the cells around it needs to be counted for that many places only: once, when a game is imported.

A picture is kept in sums: of each cell the greys of its AREA units, added up modulo 2^16, which is exact, since no sum is more
than 255 * AREA. It begins with the sums of what stands still; a figure adds its grey less the ground's by the units that it
covers; the end is a division by AREA, rounded to nearest. What one figure hides of another is left out, or taken away again.
Games whose stamps never share a cell, or that round each of them, may add greys instead, and use the tables alone.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport backdrop_fn
from envs_c.screen cimport SMALL, Canvas, Screen, fill_rgb, grey_of


cdef enum:
    WIDTH = 160, HEIGHT = 210           # of the screen
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5
    AREA = CELL_X * CELL_Y
    CELLS = SMALL * SMALL
    STAMP = 8                           # cells across a stamp

cdef extern from *:
    """
    #define leading_zeros __builtin_clzll
    """
    int leading_zeros(uint64_t x) noexcept nogil  # of x > 0


ctypedef struct Sheet:
    # What pixels are put on, in colour or in grey.
    Canvas* canvas      # in colour; NULL in grey
    uint16_t* sums      # (SMALL, SMALL) in grey
    int edge            # the first column that is painted


cdef inline Sheet sheet_of(Canvas* canvas, uint16_t* sums, int edge) noexcept nogil:
    """The canvas itself where it is in colour, else `sums`."""
    cdef Sheet sheet
    sheet.canvas = canvas if canvas.rgb != NULL else NULL
    sheet.sums = sums
    sheet.edge = edge
    return sheet


# --- pixel by pixel ---------------------------------------------------------------------------------------------------

cdef inline void add_units(uint16_t* line, int first, int last, int grey) noexcept nogil:
    """Add to units first .. last-1 of a row of cells."""
    cdef int left = first // CELL_X, right = last // CELL_X
    cdef long k
    line[left] -= <uint16_t>((first - CELL_X * left) * grey)
    for k in range(left, right):
        line[k] += <uint16_t>(CELL_X * grey)
    if last > CELL_X * right:
        line[right] += <uint16_t>((last - CELL_X * right) * grey)


cdef inline void add_area(uint16_t* sums, int x0, int y0, int x1, int y1, int grey) noexcept nogil:
    """Add to pixels x0 .. x1-1 of rows y0 .. y1-1 of the screen, a row of cells at a time."""
    cdef int unit = UNIT_Y * y0, row, end
    while unit < UNIT_Y * y1:
        row = unit // CELL_Y
        end = min(CELL_Y * (row + 1), UNIT_Y * y1)
        add_units(sums + row * SMALL, UNIT_X * x0, UNIT_X * x1, (end - unit) * grey)
        unit = end


cdef inline void put(Sheet* sheet, int x, int y, int w, int h, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint w x h pixels at (x, y), all of which have the colour `under`; columns outside the picture are cut off."""
    cdef int left = max(x, sheet.edge), right = min(x + w, WIDTH)
    if left >= right:
        return
    if sheet.canvas != NULL:
        fill_rgb(sheet.canvas, left, y, right, y + h, colour)
        return
    add_area(sheet.sums, left, y, right, y + h, grey_of(colour) - grey_of(under))


cdef inline void put_bits(Sheet* sheet, int x, int y, uint64_t bits, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a row of a shape, the high bit of 64 at column x; not all of them are set."""
    cdef int run
    while bits:
        run = leading_zeros(bits)
        bits, x = bits << run, x + run
        run = leading_zeros(~bits)
        put(sheet, x, y, run, 1, under, colour)
        bits, x = bits << run, x + run


cdef inline void put_row(Sheet* sheet, int x, int y, uint16_t bits, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a row of a shape of 16 columns."""
    put_bits(sheet, x, y, <uint64_t>bits << 48, under, colour)


cdef inline uint16_t doubled(uint8_t bits) noexcept nogil:
    """Eight bits, each twice."""
    cdef uint32_t spread = (bits | bits << 4) & 0x0F0F
    spread = (spread | spread << 2) & 0x3333
    spread = (spread | spread << 1) & 0x5555
    return <uint16_t>(spread | spread << 1)


# --- stamp by stamp ---------------------------------------------------------------------------------------------------

cdef inline int cell_at(int x, int y) noexcept nogil:
    """The index of the cell in which the pixel (x, y) begins."""
    return UNIT_Y * y // CELL_Y * SMALL + UNIT_X * x // CELL_X


cdef inline void cover_bits(int bits, int x, uint8_t* cells) noexcept nogil:
    """Count the units that a row of 8 pixels, the first at x, covers of the STAMP cells from that one's on."""
    cdef int column, unit, part
    for column in range(8):
        if bits & 128 >> column:
            unit = UNIT_X * (x + column) - UNIT_X * x // CELL_X * CELL_X
            part = min(CELL_X - unit % CELL_X, UNIT_X)
            cells[unit // CELL_X] += <uint8_t>part
            cells[unit // CELL_X + 1] += <uint8_t>(UNIT_X - part)


cdef inline void cover_row(uint16_t bits, int x, uint8_t* cells) noexcept nogil:
    """The same of 16 pixels and 2 * STAMP cells."""
    cover_bits(bits >> 8, x, cells)
    cover_bits(bits & 255, x + 8, cells + UNIT_X * (x + 8) // CELL_X - UNIT_X * x // CELL_X)


cdef inline void cover_rows(const uint16_t* rows, int count, int x, int y, uint8_t* cells) noexcept nogil:
    """Count the units that a shape at (x, y) covers, in rows of STAMP cells; of a row's bits the 8 high ones are its pixels."""
    cdef int row, half
    for row in range(count):
        for half in range(UNIT_Y):
            cover_bits(rows[row] >> 8, x, cells + STAMP * ((UNIT_Y * (y + row) + half) // CELL_Y - UNIT_Y * y // CELL_Y))


cdef inline void cut_stamp(uint16_t* sums, int cell, int rows, uint16_t* stamp) noexcept nogil:
    """Move what was added to sums of 0 into a stamp, rows of STAMP cells that begin with `cell`."""
    cdef int row, column
    for row in range(rows):
        for column in range(min(STAMP, SMALL - cell % SMALL)):
            stamp[STAMP * row + column] = sums[cell + SMALL * row + column]
    memset(sums, 0, CELLS * sizeof(uint16_t))


cdef inline void add_stamp(uint16_t* sums, const uint16_t* stamp, int rows) noexcept nogil:
    """Add rows of STAMP cells; `sums` begins with their first one."""
    cdef uint16_t[STAMP] here, there  # copies of 16 bytes: every compiler makes one vector of each, here and below
    cdef int row
    cdef long k
    for row in range(rows):
        memcpy(here, sums + SMALL * row, sizeof(here))
        memcpy(there, stamp + STAMP * row, sizeof(there))
        for k in range(STAMP):
            here[k] += there[k]
        memcpy(sums + SMALL * row, here, sizeof(here))


cdef inline void add_cover(uint16_t* sums, const uint8_t* cover, int rows, int wide, int grey) noexcept nogil:
    """Add `grey` by the units covered, in rows of so many cells, 8 or 16; `sums` begins with their first one."""
    cdef uint16_t[STAMP] here
    cdef uint8_t[STAMP] units
    cdef int row, half
    cdef long k
    for row in range(rows):
        for half in range(wide // STAMP):
            memcpy(here, sums + SMALL * row + STAMP * half, sizeof(here))
            memcpy(units, cover + wide * row + STAMP * half, sizeof(units))
            for k in range(STAMP):
                here[k] += <uint16_t>(units[k] * <uint16_t>grey)
            memcpy(sums + SMALL * row + STAMP * half, here, sizeof(here))


# --- from first to last -----------------------------------------------------------------------------------------------

cdef inline void sum_backdrop(backdrop_fn backdrop, uint16_t* sums) noexcept nogil:
    """The sums of what a game's `backdrop` paints, one that does not look at the options."""
    cdef uint8_t[3 * WIDTH * HEIGHT] rgb
    cdef const uint8_t* pixel = rgb
    cdef Screen screen
    cdef Canvas canvas
    cdef int x, y
    memset(rgb, 0, sizeof(rgb))
    screen.x.length, screen.y.length = WIDTH, HEIGHT
    canvas.screen, canvas.rgb = &screen, rgb
    backdrop(NULL, &canvas)
    memset(sums, 0, CELLS * sizeof(uint16_t))
    for y in range(HEIGHT):
        for x in range(WIDTH):
            add_area(sums, x, y, x + 1, y + 1, grey_of(<uint32_t>(pixel[0] << 16 | pixel[1] << 8 | pixel[2])))
            pixel += 3


cdef inline void to_bytes(const uint16_t* sums, uint8_t* grey, int count) noexcept nogil:
    """Sums to greys: a division by AREA = 8 * 25, rounded to nearest; exact for all that occur."""
    cdef long k
    for k in range(count):
        grey[k] = <uint8_t>(<uint16_t>((<uint32_t>((<uint16_t>(sums[k] + AREA // 2)) >> 3) * 5243) >> 16) >> 1)


cdef inline void finish_rows(Canvas* canvas, const uint16_t* sums, int first, int end) noexcept nogil:
    """Make a grey canvas's bytes: rows first .. end-1 from the sums, the others as the backdrop is."""
    memset(canvas.touched, 2, SMALL)  # all rows are written as bytes
    memcpy(canvas.grey, canvas.screen.backdrop_grey, first * SMALL)
    to_bytes(sums + first * SMALL, canvas.grey + first * SMALL, (end - first) * SMALL)
    memcpy(canvas.grey + end * SMALL, canvas.screen.backdrop_grey + end * SMALL, (SMALL - end) * SMALL)
