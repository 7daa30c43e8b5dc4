"""The console's pictures on a canvas: in colour, and grey as `ale_py.AtariVectorEnv` has them."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from envs_c.console.frame cimport draw_frame
from envs_c.console.grey cimport Axis, make_axis, shrink_frames
from envs_c.console.palette cimport NTSC, PAL
from envs_c.console.state cimport MOST_ROWS, WIDTH, Console, Drawing, Play, Rom
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_rect, grey_of


cdef enum:
    LEAST_ROWS = 210
    AXES = (MOST_ROWS - LEAST_ROWS) // 2 + 1


ctypedef struct Tables:
    uint32_t[2][256] palette  # 0xRRGGBB of NTSC and PAL; PAL's odd numbers are those after an odd frame
    float[4][256] greys       # of NTSC and PAL, and of both after an odd frame
    Axis columns
    Axis[AXES] rows           # of a screen of LEAST_ROWS, LEAST_ROWS + 2, ... MOST_ROWS rows


cdef inline void shrink(const Tables* tables, const Drawing* drawn, const Drawing* other, Canvas* canvas) noexcept nogil:
    """Paint a frame on a grey canvas, or the brighter pixels of two; other: NULL for one."""
    cdef const Console* m = &drawn.console
    cdef bint pal = m.last_line > 300
    cdef float[MOST_ROWS * SMALL] narrow
    cdef int[MOST_ROWS] kept
    shrink_frames(drawn.picture, tables.greys[2 * m.odd + pal], other.picture if other else NULL,
                  tables.greys[2 * (other.console.odd if other else 0) + pal], m.tia.height, &tables.columns,
                  &tables.rows[(m.tia.height - LEAST_ROWS) // 2], narrow, kept, canvas)


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


cdef inline void paint_last(const Tables* tables, const Play* p, const Rom* rom, Canvas* canvas) noexcept nogil:
    """The last frame, grey or in colour."""
    cdef Drawing drawn
    draw_frame(&p.before[p.last], rom, &drawn)
    if canvas.rgb == NULL:
        shrink(tables, &drawn, NULL, canvas)
    else:
        colour(tables, &drawn, canvas)


cdef inline void paint_two(const Tables* tables, const Play* p, const Rom* rom, Canvas* canvas) noexcept nogil:
    """The brighter pixels of the last two frames of the episode, on a grey canvas."""
    cdef Drawing drawn, other
    draw_frame(&p.before[p.last], rom, &drawn)
    if p.two:
        draw_frame(&p.before[1 - p.last], rom, &other)
    shrink(tables, &drawn, &other if p.two else NULL, canvas)


cdef inline void paint_both(const Tables* tables, const Play* p, const Rom* rom, uint8_t* memory) noexcept nogil:
    """The last frame in colour, and a grey picture of two. memory: 3 * WIDTH * MOST_ROWS + SMALL * (SMALL + 1) bytes."""
    cdef Canvas canvas
    cdef Screen screen
    memset(&canvas, 0, sizeof(canvas))
    memset(&screen, 0, sizeof(screen))
    screen.x.length, screen.y.length = WIDTH, p.now.tia.height
    canvas.screen = &screen
    canvas.rgb = memory
    paint_last(tables, p, rom, &canvas)
    canvas.rgb = NULL
    canvas.grey = memory + 3 * WIDTH * MOST_ROWS
    canvas.touched = canvas.grey + SMALL * SMALL
    paint_two(tables, p, rom, &canvas)


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
    for k in range(AXES):
        make_axis(&tables.rows[k], LEAST_ROWS + 2 * k)
