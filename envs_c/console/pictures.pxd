"""The console's pictures on a canvas: in colour, and grey as `ale_py.AtariVectorEnv` has them."""

from libc.stdint cimport uint8_t, uint32_t

from envs_c.console.grey cimport Axis, make_axis, shrink_frames
from envs_c.console.palette cimport NTSC, PAL
from envs_c.console.state cimport MOST_ROWS, WIDTH, Console, Drawing
from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of


ctypedef struct Tables:
    uint32_t[2][256] palette  # 0xRRGGBB of NTSC and PAL; PAL's odd numbers are those after an odd frame
    float[4][256] greys       # of NTSC and PAL, and of both after an odd frame
    Axis columns
    Axis[2] rows              # of a screen of 210 and of MOST_ROWS rows


cdef inline void shrink(const Tables* tables, const Drawing* drawn, const Drawing* other, Canvas* canvas) noexcept nogil:
    """Paint a frame on a grey canvas, or the brighter pixels of two; other: NULL for one."""
    cdef const Console* m = &drawn.console
    cdef bint pal = m.last_line > 300
    cdef float[MOST_ROWS * SMALL] narrow
    cdef int[MOST_ROWS] kept
    shrink_frames(drawn.picture, tables.greys[2 * m.odd + pal], other.picture if other else NULL,
                  tables.greys[2 * (other.console.odd if other else 0) + pal], m.tia.height, &tables.columns,
                  &tables.rows[m.tia.height == MOST_ROWS], narrow, kept, canvas)


cdef inline void colour(const Tables* tables, const Drawing* drawn, Canvas* canvas) noexcept nogil:
    """Paint a frame on a canvas in colour."""
    cdef const Console* m = &drawn.console
    cdef const uint32_t* colours = tables.palette[m.last_line > 300]
    cdef const uint8_t* row
    cdef int y, x, first
    for y in range(m.tia.height):
        row = drawn.picture + y * WIDTH
        x = 0
        while x < WIDTH:
            first = x
            while x < WIDTH and row[x] == row[first]:
                x += 1
            canvas_rect(canvas, first, y, x - first, 1, colours[row[first] | m.odd])


cdef inline uint32_t without_colour(uint32_t colour) noexcept nogil:
    """The grey of a PAL colour after a frame with an odd number of lines."""
    cdef int grey = <int>(0.2989 * (colour >> 16) + 0.5870 * (colour >> 8 & 255) + 0.1140 * (colour & 255) + 0.5)
    return <uint32_t>(grey << 16 | grey << 8 | grey)


cdef inline void make_tables(Tables* tables) noexcept nogil:
    cdef int k, pal
    for k in range(256):
        tables.palette[0][k] = NTSC[k >> 1]
        tables.palette[1][k] = without_colour(PAL[k >> 1]) if k & 1 else PAL[k >> 1]
    for k in range(256):
        for pal in range(2):
            tables.greys[pal][k] = grey_of(tables.palette[pal][k])
            tables.greys[2 + pal][k] = grey_of(tables.palette[pal][k | 1])
    make_axis(&tables.columns, WIDTH)
    make_axis(&tables.rows[0], 210)
    make_axis(&tables.rows[1], MOST_ROWS)
