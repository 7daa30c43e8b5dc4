"""Drawing, written once for every resolution.

A game paints in its own screen coordinates (pixels, x to the right, y down, (0, 0) at the top left). Where the paint
lands depends on the canvas:

- a colour canvas is the whole screen, (height, width, 3) uint8, for people and videos;
- a grey canvas is SMALL x SMALL bytes for learning: each of its pixels is the mean grey of the screen area that it
  covers, as OpenCV's INTER_AREA would give. Its sums are kept in whole units (a screen pixel is unit_x * unit_y units,
  a canvas pixel cell_x * cell_y), which float32 holds exactly. Only the rows that a game touches are summed and
  rounded; the others are copied from the backdrop, so that a frame costs what moves on it.

`canvas_rect` paints over whatever is there. On a grey canvas it mixes by covered area, which is exact wherever the
ground under the figure is of one colour. Where figures share an edge inside one canvas pixel (bricks in a wall), use
`canvas_swap`, which is told what it replaces and is exact there too.
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.string cimport memcmp, memcpy


cdef enum:
    SMALL = 84  # rows and columns of the grey canvas


ctypedef struct Axis:
    # One direction of the grey canvas; edge e (0 .. length) of the screen lies in cell[e], part[e] units into it.
    int length       # screen pixels
    int cell         # units a canvas pixel
    int16_t* cells   # (length + 1,)
    int16_t* parts   # (length + 1,)


ctypedef struct Screen:
    # What all canvases of one game share, made once: geometry and the backdrop at both resolutions.
    Axis x
    Axis y
    uint8_t* backdrop_rgb    # (height, width, 3)
    uint8_t* backdrop_grey   # (SMALL, SMALL)
    float* backdrop_sums     # (SMALL, SMALL) grey * units


ctypedef struct Canvas:
    const Screen* screen
    uint8_t* rgb      # (height, width, 3), or NULL for a grey canvas
    float* sums       # (SMALL, SMALL) grey * units; a row is valid once touched
    uint8_t* touched  # (SMALL,) 0 as the backdrop, 1 summed, 2 written as bytes
    uint8_t* grey     # (SMALL, SMALL) the result


cdef inline int grey_of(uint32_t colour) noexcept nogil:
    """Luma of a colour 0xRRGGBB, 0 .. 255 (ITU-R BT.601 weights, rounded)."""
    return <int>((299 * (colour >> 16) + 587 * ((colour >> 8) & 255) + 114 * (colour & 255) + 500) // 1000)


cdef inline void fill_rgb(Canvas* canvas, int x0, int y0, int x1, int y1, uint32_t colour) noexcept nogil:
    cdef int _x, y
    cdef uint8_t* pixel
    for y in range(y0, y1):
        pixel = canvas.rgb + 3 * (y * canvas.screen.x.length + x0)
        for _x in range(x0, x1):
            pixel[0] = <uint8_t>(colour >> 16)
            pixel[1] = <uint8_t>(colour >> 8)
            pixel[2] = <uint8_t>colour
            pixel += 3


cdef inline float* touch_row(Canvas* canvas, int row) noexcept nogil:
    """The sums of a row, fetched from the backdrop at the first touch."""
    cdef float* sums = canvas.sums + row * SMALL
    if not canvas.touched[row]:
        canvas.touched[row] = 1
        memcpy(sums, canvas.screen.backdrop_sums + row * SMALL, SMALL * sizeof(float))
    return sums


cdef inline int covered(const Axis* axis, int first, int last, int cell, int low, int high) noexcept nogil:
    """Units of `cell` that edges low .. high cover, when they start in cell `first` and end in cell `last`."""
    cdef int start = axis.parts[low] if cell == first else 0
    cdef int stop = axis.parts[high] if cell == last else axis.cell
    return stop - start


cdef inline void sum_grey(Canvas* canvas, int x0, int y0, int x1, int y1,
                          float grey, float under, bint swap) noexcept nogil:
    """Add (grey - under) by covered area; where not `swap`, `under` is read from the canvas itself."""
    cdef const Axis* ax = &canvas.screen.x
    cdef const Axis* ay = &canvas.screen.y
    cdef int left = ax.cells[x0], right = ax.cells[x1], top = ay.cells[y0], bottom = ay.cells[y1]
    cdef float inverse = 1.0 / <float>(ax.cell * ay.cell)
    cdef float area, high, full
    cdef float* sums
    cdef int row, column
    for row in range(top, bottom + (ay.parts[y1] > 0)):
        high = covered(ay, top, bottom, row, y0, y1)
        sums = touch_row(canvas, row)
        full = high * ax.cell
        for column in range(left, right + (ax.parts[x1] > 0)):
            area = full
            if column == left or column == right:
                area = high * covered(ax, left, right, column, x0, x1)
            sums[column] += area * (grey - (under if swap else sums[column] * inverse))


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h,
                       uint32_t colour, uint32_t under, bint swap) noexcept nogil:
    cdef int x0 = x if x > 0 else 0
    cdef int y0 = y if y > 0 else 0
    cdef int x1 = x + w if x + w < canvas.screen.x.length else canvas.screen.x.length
    cdef int y1 = y + h if y + h < canvas.screen.y.length else canvas.screen.y.length
    if x0 >= x1 or y0 >= y1:
        return
    if canvas.rgb != NULL:
        fill_rgb(canvas, x0, y0, x1, y1, colour)
    else:
        sum_grey(canvas, x0, y0, x1, y1, grey_of(colour), grey_of(under), swap)


cdef inline void canvas_rect(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """Paint w x h pixels at (x, y) over what is there; what lies outside the screen is cut off."""
    paint(canvas, x, y, w, h, colour, 0, False)


cdef inline void canvas_swap(Canvas* canvas, int x, int y, int w, int h,
                             uint32_t under, uint32_t colour) noexcept nogil:
    """Paint w x h pixels at (x, y), all of which now have the colour `under`."""
    paint(canvas, x, y, w, h, colour, under, True)


cdef inline void canvas_bitmap(Canvas* canvas, int x, int y, const uint8_t* rows, int height,
                               int scale_x, int scale_y, uint32_t colour) noexcept nogil:
    """Paint an 8-column bitmap (a byte a row, the high bit at the left), each bit scale_x x scale_y pixels."""
    cdef int row, column, start
    for row in range(height):
        column = 0
        while column < 8:
            if not rows[row] & (128 >> column):
                column += 1
                continue
            start = column
            while column < 8 and rows[row] & (128 >> column):
                column += 1
            canvas_rect(canvas, x + start * scale_x, y + row * scale_y,
                        (column - start) * scale_x, scale_y, colour)


cdef inline uint8_t* canvas_row(Canvas* canvas, int row) noexcept nogil:
    """The bytes of a grey canvas's row, for a game to write whole, where nothing else is painted."""
    canvas.touched[row] = 2
    return canvas.grey + row * SMALL


cdef inline void canvas_finish(Canvas* canvas) noexcept nogil:
    """Make the bytes of a grey canvas: from the sums where it was painted, rounded to nearest, and from the backdrop."""
    cdef float area = canvas.screen.x.cell * canvas.screen.y.cell
    cdef float inverse = 1.0 / area
    cdef float half = 0.5 * area + 0.25  # the extra quarter unit keeps whole quotients clear of rounding
    cdef int row = 0, first, kind, value
    cdef long k
    if canvas.touched[0] == 2 and memcmp(canvas.touched, canvas.touched + 1, SMALL - 1) == 0:
        return  # the game has written all rows
    while row < SMALL:
        first = row
        kind = canvas.touched[row]
        while row < SMALL and canvas.touched[row] == kind:  # neighbours together: long loops make better vectors
            row += 1
        if kind == 0:
            memcpy(canvas.grey + first * SMALL, canvas.screen.backdrop_grey + first * SMALL, (row - first) * SMALL)
        elif kind == 1:
            for k in range(first * SMALL, row * SMALL):
                value = <int>((canvas.sums[k] + half) * inverse)  # a whole number is clipped at less cost
                value = value if value > 0 else 0
                canvas.grey[k] = <uint8_t>(value if value < 255 else 255)
