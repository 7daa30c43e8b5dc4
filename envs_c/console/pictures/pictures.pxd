"""The console's pictures on a canvas: the 160x210 pixels that ale-py shows, 250 rows for a PAL cartridge; in colour or grey.

Grey pictures of 84x84 are those of `ale_py.AtariVectorEnv` (grey.pxd): after a step of several frames, the brighter pixels of
the last two of them; after a reset, and in steps of one frame, the last frame alone.

Frames are drawn when they are looked at. `chunk` has scratch memory in which the writes to the TIA of the last two frames are
kept (drawing.pxd); elsewhere a frame is played again to draw it.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from envs_c.console.pictures.drawing cimport Drawing, Scratch, console_room, drawing_begin, drawing_end
from envs_c.console.frame cimport keep_frame, play_frame, run_frame, run_frame_by
from envs_c.console.pictures.grey cimport Axis, make_axis, shrink_frames
from envs_c.console.pictures.palette cimport NTSC, PAL
from envs_c.console.state cimport MOST_ROWS, WIDTH, Console, Play, Rom
from envs_c.console.tia.lines cimport BLACK, painter_fill
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_rect, grey_of


cdef enum:
    LEAST_ROWS = 210
    AXES = (MOST_ROWS - LEAST_ROWS) // 2 + 1


ctypedef struct Tables:
    uint32_t[2][256] palette  # 0xRRGGBB of NTSC and PAL; PAL's odd numbers are those after an odd frame
    uint8_t[4][256] greys     # of NTSC and PAL, and of both after an odd frame
    uint8_t[256] indices      # 0, 1, ... 255
    Axis columns
    Axis[AXES] rows           # of a screen of LEAST_ROWS, LEAST_ROWS + 2, ... MOST_ROWS rows


ctypedef struct Room:
    # Memory to draw a picture.
    Drawing[2] frames
    Drawing older             # of which one of them shows rows
    float[MOST_ROWS * SMALL] narrow
    int[MOST_ROWS] kept


cdef inline const uint8_t* shades_of(const Tables* tables, const Console* m, bint grey) noexcept nogil:
    """What a picture of the frame that begins with this console has for each palette index."""
    cdef int odd = m.odd if m.cut else m.odd_next
    if grey:
        return &tables.greys[2 * odd + (m.last_line > 300)][0]
    return &tables.indices[0]


cdef inline void advance(const Tables* tables, Play* p, const Rom* rom, Scratch* scratch) noexcept nogil:
    """Play a frame, and keep it in the scratch memory, if there is one, for its picture."""
    if scratch != NULL:
        keep_frame(p, rom, scratch, shades_of(tables, &p.now, scratch.grey))
    else:
        play_frame(p, rom)


cdef inline Drawing* drawn(const Tables* tables, const Play* p, const Rom* rom, int which, bint grey, Scratch* scratch,
                           Drawing* room, Drawing* older) noexcept nogil:
    """The picture of one of the last two frames: from the scratch memory, if it is there, or by playing the frame again.

    which: 0 or 1, of p.before.
    scratch: may be NULL.
    room, older: memory for two drawings.
    """
    cdef Drawing* d = room
    cdef bint early = p.early[which] and p.older_of == which
    if early and p.now.cut and which == p.last:
        drawing_begin(d, &p.before[which], shades_of(tables, &p.before[which], grey))
        run_frame_by(&d.console, rom, NULL)
        d.console.ended = d.accessed
    elif scratch != NULL and scratch.owner == p and scratch.there[which] and scratch.grey == grey:
        d = &scratch.frames[which]
    else:
        drawing_begin(d, &p.before[which], shades_of(tables, &p.before[which], grey))
        run_frame(&d.console, rom)
    if not d.complete:
        drawing_end(d)
        if early:
            drawing_begin(older, &p.older, shades_of(tables, &p.older, grey))
            run_frame(&older.console, rom)
            drawing_end(older)
            painter_fill(&d.painter, &older.painter)
    return d


cdef inline void shrink(const Tables* tables, const Drawing* d, const Drawing* other, Room* room,
                        Canvas* canvas) noexcept nogil:
    """Paint a frame on a grey canvas, or the brighter pixels of two; other: NULL for one."""
    cdef int height = d.console.tia.height
    shrink_frames(&d.painter, &other.painter if other else NULL, height, &tables.columns,
                  &tables.rows[(height - LEAST_ROWS) // 2], room.narrow, room.kept, canvas)


cdef inline void colour(const Tables* tables, const Drawing* d, Canvas* canvas) noexcept nogil:
    """Paint a frame on a canvas in colour, or in grey if canvas.in_grey."""
    cdef const Console* m = &d.console
    cdef bint pal = m.last_line > 300
    cdef const uint32_t* colours = tables.palette[pal]
    cdef const uint8_t* greys = tables.greys[2 * m.odd + pal]
    cdef const uint8_t* row
    cdef int y, x, first
    for y in range(m.tia.height):
        row = d.painter.pixels + d.painter.kept[y] * WIDTH
        x = 0
        while x < WIDTH:
            first = x
            while x < WIDTH and row[x] == row[first]:
                x += 1
            canvas_rect(canvas, first, y, x - first, 1,
                        0x010101 * greys[row[first]] if canvas.in_grey else colours[row[first] | m.odd])


cdef inline void paint_last(const Tables* tables, const Play* p, const Rom* rom, Scratch* scratch,
                            Canvas* canvas) noexcept nogil:
    """The last frame, grey or in colour. scratch: may be NULL."""
    cdef Room own
    cdef Room* room = <Room*>console_room(&own, sizeof(Room))
    if canvas.rgb == NULL:
        shrink(tables, drawn(tables, p, rom, p.last, True, scratch, &room.frames[0], &room.older), NULL, room, canvas)
    else:
        colour(tables, drawn(tables, p, rom, p.last, False, scratch, &room.frames[0], &room.older), canvas)


cdef inline void paint_two(const Tables* tables, const Play* p, const Rom* rom, Scratch* scratch,
                           Canvas* canvas) noexcept nogil:
    """The brighter pixels of the last two frames of the episode, on a grey canvas. scratch: may be NULL."""
    cdef Room own
    cdef Room* room = <Room*>console_room(&own, sizeof(Room))
    cdef Drawing* other = NULL
    if p.two and not p.goes_on:
        other = drawn(tables, p, rom, 1 - p.last, True, scratch, &room.frames[1], &room.older)
    shrink(tables, drawn(tables, p, rom, p.last, True, scratch, &room.frames[0], &room.older), other, room, canvas)


cdef inline void paint_both(const Tables* tables, const Play* p, const Rom* rom, uint8_t* memory) noexcept nogil:
    """The last frame in colour, and a grey picture of two. memory: 3 * WIDTH * MOST_ROWS + SMALL * (SMALL + 1) bytes."""
    cdef Canvas canvas
    cdef Screen screen
    memset(&canvas, 0, sizeof(canvas))
    memset(&screen, 0, sizeof(screen))
    screen.x.length, screen.y.length = WIDTH, p.now.tia.height
    canvas.screen = &screen
    canvas.rgb = memory
    paint_last(tables, p, rom, NULL, &canvas)
    canvas.rgb = NULL
    canvas.grey = memory + 3 * WIDTH * MOST_ROWS
    canvas.touched = canvas.grey + SMALL * SMALL
    paint_two(tables, p, rom, NULL, &canvas)


cdef inline int grey_in_ale(uint32_t colour) noexcept nogil:
    """ALE's grey of a colour. It differs from `grey_of` for one colour of PAL, 0xA8489E."""
    return <int>(0.2989 * (colour >> 16) + 0.5870 * (colour >> 8 & 255) + 0.1140 * (colour & 255) + 0.5)


cdef inline void make_tables(Tables* tables) noexcept nogil:
    cdef int k, pal
    for k in range(256):
        tables.palette[0][k] = NTSC[k >> 1]
        tables.palette[1][k] = 0x010101 * grey_in_ale(PAL[k >> 1]) if k & 1 else PAL[k >> 1]
    for k in range(256):
        tables.indices[k] = <uint8_t>k
        for pal in range(2):
            tables.greys[pal][k] = <uint8_t>grey_in_ale(tables.palette[pal][k & 254])
        tables.greys[2][k] = tables.greys[0][k]
        # as ale-py 0.12.1 after an odd frame of PAL: a picture in colour has greys, one in grey the blue of the next colour
        tables.greys[3][k] = <uint8_t>PAL[(k >> 1) + 1] if k < 254 else 0
    for k in range(4):
        tables.greys[k][BLACK] = 0
    tables.palette[0][BLACK] = tables.palette[1][BLACK] = 0
    make_axis(&tables.columns, WIDTH)
    for k in range(AXES):
        make_axis(&tables.rows[k], LEAST_ROWS + 2 * k)
