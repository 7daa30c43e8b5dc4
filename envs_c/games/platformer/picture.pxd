"""The platformer's picture, in colour and in grey.

Everything is drawn in whole pixels of the grey canvas, so no averaging is needed. Tiles and figures are small pictures of
letters; a letter is a colour.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.platformer.levels cimport COLUMNS, GOAL_COLUMN, MARGIN, ROWS, Platformer
from envs_c.games.platformer.rules cimport GRACE
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of


cdef enum:
    CELL = 3                                # screen pixels a grey pixel
    TILE_CELLS = 7, VIEW = 12               # grey pixels a tile; tiles across the screen
    PLAYER_CELLS = 5, ENEMY_CELLS = 6       # widths
    AHEAD = 28                              # grey pixels from the screen's left to the player
    SKY = 0, GROUND, GRASS, SPIKE, COIN, ARTS = 16  # tiles; a combination that cannot occur is drawn as sky
    STANDS = 0, RUNS, CREATURE              # indices of FIGURE: two of the player, then slime, urchin and bat
    SKY_COLOUR = 0x182848, TIME_COLOUR = 0xB0B0B0, POLE_COLOUR = 0xC8C8C8, FLAG_COLOUR = 0x60F060

cdef extern from *:
    """
    static const char TILE_ART[5][7][8] = {
        {".......", ".......", ".......", ".......", ".......", ".......", "......."},
        {"ddddddd", "ddddddd", "ddDdddd", "ddddddd", "ddddddd", "dddddDd", "ddddddd"},
        {"ggggggg", "gdgggdg", "ddddddd", "ddDdddd", "ddddddd", "dddddDd", "ddddddd"},
        {".......", ".......", ".......", ".s...s.", ".s...s.", "sss.sss", "sss.sss"},
        {".......", "..ccc..", ".cc.cc.", ".c.c.c.", ".cc.cc.", "..ccc..", "......."}};
    static const char FIGURE[5][7][8] = {
        {".www.", ".wbb.", ".www.", "wrrrw", "wrrrw", ".rrr.", ".w.w."},
        {".www.", ".wbb.", ".www.", ".rrrw", "wrrr.", ".rrr.", "w...w"},
        {"......", "......", ".eeee.", "ekeeke", "eeeeee", "eeeeee", "ee..ee"},
        {"......", "......", "u.uu.u", ".uuuu.", "uukkuu", ".uuuu.", "u.uu.u"},
        {"......", "......", "v....v", "vvkkvv", "vvvvvv", ".vvvv.", "..vv.."}};
    static const struct { char name; unsigned colour; } PAINT[13] = {
        {'.', 0x182848}, {'d', 0x805030}, {'D', 0x603820}, {'g', 0x50A840}, {'s', 0xD0D0E0}, {'c', 0xF8D820},
        {'w', 0xFFFFFF}, {'k', 0x000000}, {'r', 0xF8A0A0}, {'e', 0x40E0A0}, {'u', 0xF07840}, {'v', 0xD090F8},
        {'b', 0x3060C0}};
    // Made from these when platformer.pyx is imported, then constant:
    static unsigned COLOUR[128];            // [letter]
    static unsigned char GREY[128];
    static unsigned char TILE_GREY[16][7][8];
    """
    ctypedef struct Paint:
        char name
        uint32_t colour
    const char[5][7][8] TILE_ART, FIGURE
    const Paint[13] PAINT
    uint32_t[128] COLOUR
    uint8_t[128] GREY
    uint8_t[16][7][8] TILE_GREY


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """Draw a rectangle in grey pixels, cut off at the canvas's edges; `draw_tiles` has written all rows before."""
    cdef int row, x0 = max(x, 0), x1 = min(x + w, SMALL)
    if canvas.rgb != NULL:
        canvas_rect(canvas, CELL * x, CELL * y, CELL * w, CELL * h, colour)
    elif x0 < x1:
        for row in range(max(y, 0), min(y + h, SMALL)):
            memset(canvas.grey + row * SMALL + x0, grey_of(colour), x1 - x0)


cdef inline void draw_art(Canvas* canvas, int x, int y, const char* art, int w, bint mirror) noexcept nogil:
    """Draw a tile or a figure at (x, y), in grey pixels.

    art: seven rows of eight letters; a point is transparent.
    w: number of letters used in each row.
    mirror: True to draw it from right to left.
    """
    cdef int row, k, column
    cdef uint8_t letter
    for row in range(max(-y, 0), min(TILE_CELLS, SMALL - y)):
        for k in range(w):
            letter = <uint8_t>art[8 * row + (w - 1 - k if mirror else k)]
            column = x + k
            if letter != b"." and 0 <= column < SMALL:
                if canvas.rgb != NULL:
                    canvas_rect(canvas, CELL * column, CELL * (y + row), CELL, CELL, COLOUR[letter & 127])
                else:
                    canvas.grey[(y + row) * SMALL + column] = GREY[letter & 127]


cdef inline int tile_at(const Platformer* game, int column, int row) noexcept nogil:
    """The picture of a tile, as its index in TILE_GREY: ground is GRASS if no solid tile is above it."""
    cdef int k = column + MARGIN, solid = game.solid[k] >> row & 1
    return (solid << (solid & ~((game.solid[k] << 1) >> row))) + SPIKE * (game.spike[k] >> row & 1) + COIN * (
        game.coin[k] >> row & 1)


cdef inline void draw_tiles(const Platformer* game, Canvas* canvas, int camera) noexcept nogil:
    """Draw all tiles, whose first grey column is `camera`.

    In grey a row of tiles is put together first: eight bytes for each tile's row of pixels, the last of which the next tile
    overwrites.
    """
    cdef uint8_t[TILE_CELLS][112] band
    cdef int row, k, line, tile, first = camera // TILE_CELLS, offset = camera % TILE_CELLS
    for row in range(ROWS):
        for k in range(VIEW + 1):
            tile = tile_at(game, first + k, row)
            if canvas.rgb != NULL:
                if tile:
                    draw_art(canvas, k * TILE_CELLS - offset, row * TILE_CELLS, TILE_ART[tile % 5][0], TILE_CELLS, False)
            else:
                for line in range(TILE_CELLS):
                    memcpy(&band[line][k * TILE_CELLS], TILE_GREY[tile & (ARTS - 1)][line], 8)
        if canvas.rgb == NULL:
            for line in range(TILE_CELLS):
                memcpy(canvas_row(canvas, row * TILE_CELLS + line), &band[line][offset], SMALL)


cdef inline void draw_flag(const Platformer* game, Canvas* canvas, int camera) noexcept nogil:
    """Draw the flag on the ground of its column."""
    cdef int x = GOAL_COLUMN * TILE_CELLS + 2 - camera, row = 2
    while row < ROWS and not game.solid[MARGIN + GOAL_COLUMN] >> row & 1:
        row += 1
    if x < SMALL:
        paint(canvas, x, (row - 4) * TILE_CELLS, 1, 4 * TILE_CELLS, POLE_COLOUR)
        paint(canvas, x + 1, (row - 4) * TILE_CELLS, 6, 5, FLAG_COLOUR)


cdef inline void mix_paints() noexcept nogil:
    """Fill COLOUR, GREY and TILE_GREY (but for each row's eighth byte, which is never seen)."""
    cdef int k, row, column
    for k in range(13):
        COLOUR[<int>PAINT[k].name] = PAINT[k].colour
        GREY[<int>PAINT[k].name] = grey_of(PAINT[k].colour)
    for k in range(ARTS):
        for row in range(7):
            for column in range(7):
                TILE_GREY[k][row][column] = GREY[<int>TILE_ART[k if k <= COIN else SKY][row][column]]
