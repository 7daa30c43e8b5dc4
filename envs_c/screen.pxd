"""Functions for painting, on canvases of two resolutions.

A game paints in the coordinates of its own screen: pixels, x to the right, y down, (0, 0) at the top left. There are two
kinds of canvas:

- A colour canvas is the whole screen, (height, width, 3) uint8, for people and videos.
- A grey canvas is SMALL x SMALL bytes, for learning. Each of its pixels is the mean grey of the screen area below it,
  as OpenCV's INTER_AREA computes it.

For games: `canvas_rect`, `canvas_swap` and `canvas_bitmap`. Colours are 0xRRGGBB.

`canvas_rect` paints over anything. On a grey canvas it mixes greys by the covered area. This is exact if the area below the
figure has one colour. If figures share an edge inside one grey pixel (bricks in a wall), use `canvas_swap`: its
argument `under` is the colour to replace, and it is exact there too.

Implementation. A grey canvas holds sums of grey in integer units, which float32 holds exactly: a screen pixel has
unit_x * unit_y units, a grey pixel cell_x * cell_y. Only rows touched by the game are summed and rounded; the others are
copied from the backdrop. So the cost of a frame depends on the size of the moving figures.
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.string cimport memcmp, memcpy


cdef enum:
    SMALL = 84  # rows and columns of the grey canvas


ctypedef struct Axis:
    # One direction of the grey canvas. Edge e of the screen (0 .. length) lies in grey pixel cells[e], parts[e] units from
    # its start.
    int length       # screen pixels
    int cell         # units of a grey pixel
    int16_t* cells   # (length + 1,)
    int16_t* parts   # (length + 1,)


ctypedef struct Screen:
    # The data of all canvases of one game: the geometry, and the backdrop in both resolutions.
    Axis x
    Axis y
    uint8_t* backdrop_rgb    # (height, width, 3)
    uint8_t* backdrop_grey   # (SMALL, SMALL)
    float* backdrop_sums     # (SMALL, SMALL) grey * units


ctypedef struct Canvas:
    const Screen* screen
    uint8_t* rgb      # (height, width, 3), or NULL for a grey canvas
    float* sums       # (SMALL, SMALL) grey * units; a row is valid if touched[row] is 1
    uint8_t* touched  # (SMALL,) 0: the row equals the backdrop's, 1: it is in `sums`, 2: its bytes are in `grey`
    uint8_t* grey     # (SMALL, SMALL) the result
    bint in_grey      # rgb becomes a grey picture: a game whose greys are not those of its colours paints each three times


cdef inline int grey_of(uint32_t colour) noexcept nogil:
    """Luma of a colour 0xRRGGBB, 0 .. 255 (ITU-R BT.601 weights, rounded)."""
    return <int>((299 * (colour >> 16) + 587 * ((colour >> 8) & 255) + 114 * (colour & 255) + 500) // 1000)


cdef inline void fill_rgb(Canvas* canvas, int x0, int y0, int x1, int y1, uint32_t colour) noexcept nogil:
    """Paint columns x0 .. x1-1 of rows y0 .. y1-1 of a colour canvas; they must lie on the screen."""
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
    """The sums of a row; the first call for a row copies them from the backdrop."""
    cdef float* sums = canvas.sums + row * SMALL
    if not canvas.touched[row]:
        canvas.touched[row] = 1
        memcpy(sums, canvas.screen.backdrop_sums + row * SMALL, SMALL * sizeof(float))
    return sums


cdef inline int covered(const Axis* axis, int first, int last, int cell, int low, int high) noexcept nogil:
    """The units of grey pixel `cell` between the edges `low` and `high`, which lie in grey pixels `first` and `last`."""
    cdef int start = axis.parts[low] if cell == first else 0
    cdef int stop = axis.parts[high] if cell == last else axis.cell
    return stop - start


cdef inline void sum_grey(Canvas* canvas, int x0, int y0, int x1, int y1,
                          float grey, float under, bint swap) noexcept nogil:
    """Add (grey - under) * covered area to the sums. Unless `swap`, the mean grey of the pixel itself serves as `under`."""
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
    """Cut a rectangle to the screen and paint it on either kind of canvas."""
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
    """Paint w x h pixels at (x, y). Parts outside the screen are cut off."""
    paint(canvas, x, y, w, h, colour, 0, False)


cdef inline void canvas_swap(Canvas* canvas, int x, int y, int w, int h,
                             uint32_t under, uint32_t colour) noexcept nogil:
    """Paint w x h pixels at (x, y), all of which have the colour `under` before. Parts outside the screen are cut off."""
    paint(canvas, x, y, w, h, colour, under, True)


cdef inline void canvas_bitmap(Canvas* canvas, int x, int y, const uint8_t* rows, int height,
                               int scale_x, int scale_y, uint32_t colour) noexcept nogil:
    """Paint the set bits of a bitmap at (x, y).

    rows: one byte for each of `height` rows; the high bit is at the left.
    scale_x, scale_y: pixels of a bit.
    """
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
    """A row of a grey canvas, SMALL bytes. The caller writes all of them and paints nothing else there."""
    canvas.touched[row] = 2
    return canvas.grey + row * SMALL


cdef inline void canvas_finish(Canvas* canvas) noexcept nogil:
    """Write the bytes of a grey canvas: touched rows from the sums, rounded to nearest, the others from the backdrop."""
    cdef float area = canvas.screen.x.cell * canvas.screen.y.cell
    cdef float inverse = 1.0 / area
    cdef float half = 0.5 * area + 0.25  # a quarter unit more: rounding errors then cannot change an exact quotient
    cdef int row = 0, first, kind, value
    cdef long k
    if canvas.touched[0] == 2 and memcmp(canvas.touched, canvas.touched + 1, SMALL - 1) == 0:
        return  # the game has written the bytes of all rows
    while row < SMALL:
        first = row
        kind = canvas.touched[row]
        while row < SMALL and canvas.touched[row] == kind:  # join equal rows: long loops are vectorized better
            row += 1
        if kind == 0:
            memcpy(canvas.grey + first * SMALL, canvas.screen.backdrop_grey + first * SMALL, (row - first) * SMALL)
        elif kind == 1:
            for k in range(first * SMALL, row * SMALL):
                value = <int>((canvas.sums[k] + half) * inverse)  # an integer is faster to clip than a float
                value = value if value > 0 else 0
                canvas.grey[k] = <uint8_t>(value if value < 255 else 255)
