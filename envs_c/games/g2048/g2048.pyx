"""2048 (G. Cirulli, 2014).

Board. 4x4 cells. A cell is empty or holds a tile of 2, 4, 8 and so on. The board begins with two tiles.

Actions. UP, RIGHT, DOWN or LEFT pushes all tiles in that direction as far as they go. Two equal tiles that meet become one
tile of twice the value. A tile that was made in a move does not merge again in the same move. Of three equal tiles in a
row, the two that are farther in the direction of the push merge. A move that would change nothing is illegal and does
nothing; `info["action_mask"]` shows the legal moves.

Points. A merge gives as many points as the value of the new tile.

New tiles. After each move that changed the board, and twice before the first move, a tile appears in an empty cell. All
empty cells are equally likely. The tile is a 2 with probability 9/10 and a 4 with probability 1/10.

End. The episode ends when no move is legal. The largest tile that can be made is 131072.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.g2048.rules cimport SIDE, Board, add_tile, is_small, keep, make_tables, play_any, play_small
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of

from envs_c.game import Feature


cdef enum:
    LARGEST = 17                            # 131072 = 2^17
    MOST = (1 << 18) - 4                    # sum of the tiles 2^17, 2^16, ..., 4, the fullest board
    TILE = 21                               # side of a tile, in grey pixels
    PIXEL = 2                               # side of a grey pixel, in pixels of the screen
    WIDTH = 168                             # of the screen, in pixels
    BOARD = 0xBBADA0, DARK = 0x302820, LIGHT = 0xFFFFF8

cdef extern from *:
    """
    static const unsigned COLOUR[18] = {  // by exponent; all have different grey levels
        0xCDC1B4, 0xF8EEE4, 0xEEE0C8, 0xF2C890, 0xF5B079, 0xF59563, 0xF67C5F, 0xF65E3B, 0xD8B030, 0xC09C28, 0xA88820,
        0x907418, 0x786010, 0x604C90, 0x503C80, 0x402C70, 0x301C60, 0x200C50};
    static const unsigned char DIGIT[10][5] = {  // 3 bits a row, the high bit at the left
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


cdef void mask(const void* state, uint8_t* action_mask) noexcept nogil:
    """Write the legal actions. At the end of an episode, with none legal, all are marked legal."""
    cdef uint8_t bits = (<const Board*>state).legal
    cdef int k
    for k in range(4):
        action_mask[k] = (bits if bits else 15) >> k & 1


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if no tile is too large, now or later, and the legal moves are those of the board.

    A merge does not change the sum of the tiles. A new tile never raises it from at most MOST to more: 16 cells cannot hold
    such a sum if one of them holds a 2 or a 4. So a second tile of 2^LARGEST never appears.
    """
    cdef const Board* board = <const Board*>state
    cdef Board same
    cdef uint32_t[4] line
    cdef int k, total = 0
    for k in range(16):
        if board.cells[k] > LARGEST:
            return False
        total += (1 << board.cells[k]) & ~1
    memcpy(line, board.cells, 16)
    keep(&same, line)
    return 0 < total <= MOST and same.legal == board.legal and (over or same.legal != 0)


cdef uint8_t[18][21 * 21] INK   # pixels of each kind of tile: 0 board, 1 the tile's colour, 2 its number
cdef uint8_t[18][21 * 21] GREY  # grey of the same pixels


cdef inline uint32_t ink_colour(int kind, int ink) noexcept nogil:
    if ink == 2:
        return DARK if kind < 9 else LIGHT
    return COLOUR[kind] if ink == 1 else BOARD


cdef void make_tiles() noexcept nogil:
    """Fill INK and GREY: a border of one pixel, and the number in digits of 3x5, with gaps between them if they fit."""
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


cdef void prepare() noexcept nogil:
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
    name="g2048", title="G2048", version=1, summary="Push equal tiles together to make 2048 and larger tiles.",
    actions=("UP", "RIGHT", "DOWN", "LEFT"), feature_shape=(16,), feature_dtype="uint8", feature_low=0,
    feature_high=LARGEST, screen=(WIDTH, WIDTH), fps=4,
    features=(
        Feature("tiles", 0, LARGEST, count=16, help="exponent of 2 of the tile, row by row from the top left: 0 is an empty "
                "cell, 1 a tile of 2, 2 a tile of 4, 17 a tile of 131072"),
    ),
    compared_with="A plain Python board with the same random numbers, every step.",
).bind(chunk, backdrop, draw, sizeof(Board), has_mask=True, valid=valid, lives=NULL, prepare=prepare)
