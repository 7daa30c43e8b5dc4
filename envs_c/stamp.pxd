"""Stamps: fast drawing on the grey canvas of a screen of 160x210 pixels, the Atari 2600's, in integers.

screen.pxd serves every game. This file is for games with many figures on a screen of this size. Words: a pixel is a pixel of
the screen, a cell is a pixel of the grey canvas, a stamp is a table of the cells below a figure.

Units. A pixel has UNIT_X x UNIT_Y units, a cell has CELL_X x CELL_Y. The pixels lie in the same way on the cells again after
CELL_X pixels across and CELL_Y pixels down. So a figure has only CELL_X * CELL_Y different stamps, and a game computes those
it needs once, when it is imported.

Sums. A picture is an array of sums: the greys of the AREA units of each cell, modulo 2^16. This is exact, since a sum is at
most 255 * AREA. Drawing has three steps:

1. Begin with the sums of the backdrop (`sum_backdrop`).
2. For each figure, add (its grey - the grey below it) * its units in each cell (`put`, `add_cover`, `add_stamp`). If one
   figure hides a part of another, leave the hidden part out, or subtract it again.
3. Divide by AREA and round to nearest (`to_bytes`, `finish_rows`).

A game whose stamps never share a cell, or which rounds each of them, can add greys instead of sums, with the same tables.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport backdrop_fn
from envs_c.screen cimport SMALL, Canvas, Screen, fill_rgb, grey_of


cdef enum:
    WIDTH = 160, HEIGHT = 210           # pixels of the screen
    UNIT_X = 21, UNIT_Y = 2             # units of a pixel
    CELL_X = 40, CELL_Y = 5             # units of a cell
    AREA = CELL_X * CELL_Y
    CELLS = SMALL * SMALL
    STAMP = 8                           # cells across a stamp

cdef extern from *:
    """
    #define leading_zeros __builtin_clzll
    """
    int leading_zeros(uint64_t x) noexcept nogil  # for x > 0


ctypedef struct Sheet:
    # The target of `put`: a colour canvas, or the sums of a grey one.
    Canvas* canvas      # the colour canvas, or NULL
    uint16_t* sums      # (SMALL, SMALL), used if `canvas` is NULL
    int edge            # the first column that is painted


cdef inline Sheet sheet_of(Canvas* canvas, uint16_t* sums, int edge) noexcept nogil:
    """A sheet of `canvas` if it is a colour canvas, else of `sums`."""
    cdef Sheet sheet
    sheet.canvas = canvas if canvas.rgb != NULL else NULL
    sheet.sums = sums
    sheet.edge = edge
    return sheet


# --- Drawing pixel by pixel -------------------------------------------------------------------------------------------

cdef inline void add_units(uint16_t* line, int first, int last, int grey) noexcept nogil:
    """Add `grey` to units first .. last-1 of a row of cells."""
    cdef int left = first // CELL_X, right = last // CELL_X
    cdef long k
    line[left] -= <uint16_t>((first - CELL_X * left) * grey)
    for k in range(left, right):
        line[k] += <uint16_t>(CELL_X * grey)
    if last > CELL_X * right:
        line[right] += <uint16_t>((last - CELL_X * right) * grey)


cdef inline void add_area(uint16_t* sums, int x0, int y0, int x1, int y1, int grey) noexcept nogil:
    """Add `grey` to pixels x0 .. x1-1 of rows y0 .. y1-1 of the screen."""
    cdef int unit = UNIT_Y * y0, row, end
    while unit < UNIT_Y * y1:
        row = unit // CELL_Y
        end = min(CELL_Y * (row + 1), UNIT_Y * y1)
        add_units(sums + row * SMALL, UNIT_X * x0, UNIT_X * x1, (end - unit) * grey)
        unit = end


cdef inline void put(Sheet* sheet, int x, int y, int w, int h, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint w x h pixels at (x, y), all of which have the colour `under` before.

    Columns outside edge .. WIDTH-1 are cut off; rows must lie on the screen.
    """
    cdef int left = max(x, sheet.edge), right = min(x + w, WIDTH)
    if left >= right:
        return
    if sheet.canvas != NULL:
        fill_rgb(sheet.canvas, left, y, right, y + h, colour)
        return
    add_area(sheet.sums, left, y, right, y + h, grey_of(colour) - grey_of(under))


cdef inline void put_bits(Sheet* sheet, int x, int y, uint64_t bits, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a row of a shape: 64 bits, of which at least one is 0; the high bit is at column x."""
    cdef int run
    while bits:
        run = leading_zeros(bits)
        bits, x = bits << run, x + run
        run = leading_zeros(~bits)
        put(sheet, x, y, run, 1, under, colour)
        bits, x = bits << run, x + run


cdef inline void put_row(Sheet* sheet, int x, int y, uint16_t bits, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a row of a shape of 16 columns; the high bit is at column x."""
    put_bits(sheet, x, y, <uint64_t>bits << 48, under, colour)


cdef inline uint16_t doubled(uint8_t bits) noexcept nogil:
    """A shape's row of 8 bits, stretched to twice its width."""
    cdef uint32_t spread = (bits | bits << 4) & 0x0F0F
    spread = (spread | spread << 2) & 0x3333
    spread = (spread | spread << 1) & 0x5555
    return <uint16_t>(spread | spread << 1)


# --- Drawing with stamps ----------------------------------------------------------------------------------------------

cdef inline int cell_at(int x, int y) noexcept nogil:
    """The index of the cell at the top left corner of the pixel (x, y)."""
    return UNIT_Y * y // CELL_Y * SMALL + UNIT_X * x // CELL_X


cdef inline void cover_bits(int bits, int x, uint8_t* cells) noexcept nogil:
    """Add to STAMP cells the units across of one row of a shape.

    bits: 8 pixels; the high bit is at column x.
    cells: the first one is the cell in which column x begins.
    """
    cdef int column, unit, part
    for column in range(8):
        if bits & 128 >> column:
            unit = UNIT_X * (x + column) - UNIT_X * x // CELL_X * CELL_X
            part = min(CELL_X - unit % CELL_X, UNIT_X)
            cells[unit // CELL_X] += <uint8_t>part
            cells[unit // CELL_X + 1] += <uint8_t>(UNIT_X - part)


cdef inline void cover_row(uint16_t bits, int x, uint8_t* cells) noexcept nogil:
    """The same for 16 pixels and 2 * STAMP cells."""
    cover_bits(bits >> 8, x, cells)
    cover_bits(bits & 255, x + 8, cells + UNIT_X * (x + 8) // CELL_X - UNIT_X * x // CELL_X)


cdef inline void cover_rows(const uint16_t* rows, int count, int x, int y, uint8_t* cells) noexcept nogil:
    """Add to rows of STAMP cells the units of a shape at (x, y).

    rows: the shape's `count` rows; the 8 high bits of each are its pixels.
    cells: the first one is the cell in which the pixel (x, y) begins.
    """
    cdef int row, half
    for row in range(count):
        for half in range(UNIT_Y):
            cover_bits(rows[row] >> 8, x, cells + STAMP * ((UNIT_Y * (y + row) + half) // CELL_Y - UNIT_Y * y // CELL_Y))


cdef inline void cut_stamp(uint16_t* sums, int cell, int rows, uint16_t* stamp) noexcept nogil:
    """Move a figure from the sums into a stamp, and set the sums to 0.

    sums: 0 everywhere except in the figure.
    cell: the index of the stamp's first cell.
    rows: rows of the stamp, of STAMP cells each.
    """
    cdef int row, column
    for row in range(rows):
        for column in range(min(STAMP, SMALL - cell % SMALL)):
            stamp[STAMP * row + column] = sums[cell + SMALL * row + column]
    memset(sums, 0, CELLS * sizeof(uint16_t))


cdef inline void add_stamp(uint16_t* sums, const uint16_t* stamp, int rows) noexcept nogil:
    """Add a stamp of `rows` rows of STAMP cells; its first cell is sums[0]."""
    cdef uint16_t[STAMP] here, there  # copies of 16 bytes: every compiler uses one vector register for each, as below
    cdef int row
    cdef long k
    for row in range(rows):
        memcpy(here, sums + SMALL * row, sizeof(here))
        memcpy(there, stamp + STAMP * row, sizeof(there))
        for k in range(STAMP):
            here[k] += there[k]
        memcpy(sums + SMALL * row, here, sizeof(here))


cdef inline void add_cover(uint16_t* sums, const uint8_t* cover, int rows, int wide, int grey) noexcept nogil:
    """Add grey * covered units.

    cover: the covered units, `rows` rows of `wide` cells (8 or 16); its first cell is sums[0].
    """
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


# --- Backdrop and bytes -----------------------------------------------------------------------------------------------

cdef inline void sum_backdrop(backdrop_fn backdrop, uint16_t* sums) noexcept nogil:
    """Write the sums of a game's `backdrop`, which must not use the options."""
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
    """Greys from sums: a division by AREA = 8 * 25, rounded to nearest; exact for every sum up to 255 * AREA."""
    cdef long k
    for k in range(count):
        grey[k] = <uint8_t>(<uint16_t>((<uint32_t>((<uint16_t>(sums[k] + AREA // 2)) >> 3) * 5243) >> 16) >> 1)


cdef inline void finish_rows(Canvas* canvas, const uint16_t* sums, int first, int end) noexcept nogil:
    """Write the bytes of a grey canvas: rows first .. end-1 from the sums, the others from the backdrop."""
    memset(canvas.touched, 2, SMALL)  # all rows are written as bytes
    memcpy(canvas.grey, canvas.screen.backdrop_grey, first * SMALL)
    to_bytes(sums + first * SMALL, canvas.grey + first * SMALL, (end - first) * SMALL)
    memcpy(canvas.grey + end * SMALL, canvas.screen.backdrop_grey + end * SMALL, (SMALL - end) * SMALL)
