"""2048 (G. Cirulli, 2014).

Board. 4 x 4 cells, empty or with a tile of 2, 4, 8, ... It begins with two tiles.

Moves. UP, RIGHT, DOWN or LEFT pushes all tiles that way as far as they go. Two equal tiles that meet become one of twice
the value, and give that many points; a tile made in this move merges with none, and of three in a row the two that are
farther along merge. A move that would change nothing is illegal (`info["action_mask"]` says which are legal): it does
nothing.

Tiles. After each move that changed the board, and twice before the first, a tile appears in an empty cell, all of which
are equally likely: a 2, or with probability 1/10 a 4.

The episode ends when no move is legal. The largest tile that can be made is 131072.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.g2048.rules cimport SIDE, Board, add_tile, is_small, keep, make_tables, play_any, play_small
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of


cdef enum:
    LARGEST = 17                            # 131072 = 2^17
    TILE = 21                               # grey pixels; a grey pixel is PIXEL x PIXEL of the screen
    PIXEL = 2
    WIDTH = 168
    BOARD = 0xBBADA0, DARK = 0x302820, LIGHT = 0xFFFFF8

cdef extern from *:
    """
    static const unsigned COLOUR[18] = {  // of grey levels that are all different
        0xCDC1B4, 0xF8EEE4, 0xEEE0C8, 0xF2C890, 0xF5B079, 0xF59563, 0xF67C5F, 0xF65E3B, 0xD8B030, 0xC09C28, 0xA88820,
        0x907418, 0x786010, 0x604C90, 0x503C80, 0x402C70, 0x301C60, 0x200C50};
    static const unsigned char DIGIT[10][5] = {  // 3 bits a row, the left one the highest
        {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
        {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 1, 1}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};
    """
    const uint32_t[18] COLOUR
    const uint8_t[10][5] DIGIT


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef uint32_t[4] line = [0, 0, 0, 0]
    add_tile(line, rng)
    add_tile(line, rng)
    keep(<Board*>state, line)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Board* board = <Board*>state
    cdef uint32_t gained
    if not board.legal >> action & 1:
        return 0.0
    gained = play_small(board, action, rng) if is_small(board) else play_any(board, action, rng)
    over[0] = board.legal == 0
    return <float>gained


cdef void observe(const void* state, void* out) noexcept nogil:
    memcpy(out, (<const Board*>state).cells, 16)


cdef void mask(const void* state, uint8_t* legal) noexcept nogil:
    """All are called legal at the end, where none is."""
    cdef uint8_t bits = (<const Board*>state).legal
    cdef int k
    for k in range(4):
        legal[k] = (bits if bits else 15) >> k & 1


cdef uint8_t[18][21 * 21] INK   # of each kind of tile: 0 board, 1 its colour, 2 its number
cdef uint8_t[18][21 * 21] GREY  # the same in grey


cdef inline uint32_t ink_colour(int kind, int ink) noexcept nogil:
    if ink == 2:
        return DARK if kind < 9 else LIGHT
    return COLOUR[kind] if ink == 1 else BOARD


cdef void make_tiles() noexcept nogil:
    """Fill INK and GREY: a frame of a pixel, and the number in digits of 3 x 5 with a gap between, where they fit."""
    cdef int kind, row, column, number, digits, pitch, x
    for kind in range(LARGEST + 1):
        for row in range(TILE):
            for column in range(TILE):
                INK[kind][row * TILE + column] = 0 < row < TILE - 1 and 0 < column < TILE - 1
        number, digits = 1 << kind, 1 + (kind > 3) + (kind > 6) + (kind > 9) + (kind > 13) + (kind > 16)
        pitch = 4 if digits < 6 else 3
        x = (TILE + digits * pitch - (pitch - 3)) // 2 - 3
        while kind > 0 and number > 0:
            for row in range(5):
                for column in range(3):
                    if DIGIT[number % 10][row] >> (2 - column) & 1:
                        INK[kind][(8 + row) * TILE + x + column] = 2
            number //= 10
            x -= pitch
        for row in range(TILE * TILE):
            GREY[kind][row] = grey_of(ink_colour(kind, INK[kind][row]))


make_tables()
make_tiles()


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, WIDTH, WIDTH, BOARD)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Board* board = <const Board*>state
    cdef const uint8_t* cells
    cdef uint8_t* pixels
    cdef int row, column, y, at
    for row in range(SIDE):
        cells = board.cells + SIDE * row
        for y in range(TILE):
            if canvas.rgb == NULL:
                pixels = canvas_row(canvas, row * TILE + y)
                for column in range(SIDE):
                    memcpy(pixels + column * TILE, &GREY[cells[column]][y * TILE], TILE)
            else:
                for at in range(SMALL):
                    column = at // TILE
                    canvas_rect(canvas, PIXEL * at, PIXEL * (row * TILE + y), PIXEL, PIXEL,
                                ink_colour(cells[column], INK[cells[column]][y * TILE + at - column * TILE]))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, mask, sizeof(Board), states, io, lo, hi)


GAME = Game(
    name="g2048", title="G2048", version=1, summary="Push tiles together until one of them is 2048, and on from there.",
    actions=("UP", "RIGHT", "DOWN", "LEFT"), feature_shape=(16,), feature_dtype="uint8", feature_low=0,
    feature_high=LARGEST, screen=(WIDTH, WIDTH), fps=4,
).bind(chunk, backdrop, draw, sizeof(Board), has_mask=True)
