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
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of


cdef enum:
    UP, RIGHT, DOWN, LEFT                   # odd: along a row
    SIDE = 4
    LARGEST = 17                            # 131072 = 2^17
    ONES = 0x01010101, TOPS = 0x80808080    # a byte for each cell of a line
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


ctypedef struct Board:
    uint8_t[16] cells  # exponents of 2, row by row; 0 empty
    uint8_t legal      # bit UP .. LEFT


cdef inline uint32_t filled(uint32_t cells) noexcept nogil:
    """255 in each byte that is not 0; bytes are under 128."""
    cdef uint32_t tops = (cells + (TOPS - ONES)) & TOPS
    return (tops << 1) - (tops >> 7)


cdef inline uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no) noexcept nogil:
    return no ^ ((yes ^ no) & mask)


cdef inline void close_up(uint32_t* line, int at) noexcept nogil:
    """Where line[at] is empty, move what follows it one up."""
    cdef uint32_t mask = filled(line[at])
    cdef int k
    for k in range(at, SIDE - 1):
        line[k] = choose(mask, line[k], line[k + 1])
    line[SIDE - 1] &= mask


cdef inline uint32_t merge(uint32_t* line, int at) noexcept nogil:
    """Merge line[at] with an equal line[at + 1]; 255 where that happened."""
    cdef uint32_t mask = filled(line[at]) & ~filled(line[at] ^ line[at + 1])
    cdef int k
    line[at] += mask & ONES
    for k in range(at + 1, SIDE - 1):
        line[k] = choose(mask, line[k + 1], line[k])
    line[SIDE - 1] &= ~mask
    return mask


cdef inline uint32_t points(uint32_t merged, uint32_t values) noexcept nogil:
    """The sum of 2^exponent over the bytes of `values` where `merged`."""
    cdef uint32_t total = 0
    cdef int k
    values &= merged
    for k in range(0, 32, 8):
        total += (<uint32_t>1 << (values >> k & 255)) & ~<uint32_t>1
    return total


cdef inline uint32_t push(uint32_t* line) noexcept nogil:
    """Push four lines at once to where line[0] is; a byte of each word belongs to one line. Returns the points."""
    cdef uint32_t merged, total = 0
    cdef int at
    close_up(line, 0)
    close_up(line, 0)
    close_up(line, 0)
    close_up(line, 1)
    close_up(line, 1)
    close_up(line, 2)
    for at in range(SIDE - 1):
        merged = merge(line, at)
        total += points(merged, line[at])
    return total


cdef inline void transpose(uint32_t* line) noexcept nogil:
    """Rows to columns: byte k of line[i] to byte i of line[k]."""
    cdef uint32_t a, b, c, d
    a = (line[0] & 0x00FF00FF) | (line[1] & 0x00FF00FF) << 8
    b = (line[0] >> 8 & 0x00FF00FF) | (line[1] & <uint32_t>0xFF00FF00)
    c = (line[2] & 0x00FF00FF) | (line[3] & 0x00FF00FF) << 8
    d = (line[2] >> 8 & 0x00FF00FF) | (line[3] & <uint32_t>0xFF00FF00)
    line[0] = (a & 0xFFFF) | c << 16
    line[1] = (b & 0xFFFF) | d << 16
    line[2] = a >> 16 | (c & <uint32_t>0xFFFF0000)
    line[3] = b >> 16 | (d & <uint32_t>0xFFFF0000)


cdef inline void turn(uint32_t* line, bint across, bint back) noexcept nogil:
    """Columns for rows if `across`, then the last first if `back`. Without a branch, for actions cannot be foretold."""
    cdef uint32_t[4] other = [line[0], line[1], line[2], line[3]]
    cdef uint32_t mask = -<uint32_t>across
    cdef int k
    transpose(other)
    for k in range(SIDE):
        line[k] = choose(mask, other[k], line[k])
    mask = -<uint32_t>back
    for k in range(SIDE):
        other[k] = choose(mask, line[SIDE - 1 - k], line[k])
    memcpy(line, other, 16)


cdef inline int ways(const uint32_t* line) noexcept nogil:
    """Whether tiles can move towards line[0] (bit 0), and towards line[3] (bit 1)."""
    cdef uint32_t here, there, forth = 0, back = 0
    cdef int k
    for k in range(SIDE - 1):
        here, there = filled(line[k]), filled(line[k + 1])
        forth |= there & ~here
        back |= here & ~there
        here &= ~filled(line[k] ^ line[k + 1])  # equal tiles
        forth |= here
        back |= here
    return (forth != 0) | (back != 0) << 1


cdef inline void add_tile(uint32_t* line, Rng* rng) noexcept nogil:
    """A 2 or a 4 in an empty cell; there is one."""
    cdef uint32_t[4] empty  # byte k: how many of the row's first k + 1 cells are empty
    cdef uint32_t found, tile
    cdef int row, total = 0, chosen
    for row in range(SIDE):
        empty[row] = (~filled(line[row]) & ONES) * ONES
        total += empty[row] >> 24
    chosen = 1 + <int>rng_below(rng, total)
    tile = 1 + (rng_below(rng, 10) == 0)
    for row in range(SIDE):
        found = ~filled(empty[row] ^ <uint32_t>chosen * ONES)  # the first such byte is the cell's
        found = (found & -found) * tile
        line[row] |= found if 0 < chosen <= <int>(empty[row] >> 24) else 0
        chosen -= empty[row] >> 24


cdef inline void keep(Board* board, uint32_t* line) noexcept nogil:
    """Store the rows, and what is legal now."""
    cdef int rows, columns
    memcpy(board.cells, line, 16)
    rows = ways(line)
    transpose(line)
    columns = ways(line)
    board.legal = (rows & 1) << UP | (rows >> 1) << DOWN | (columns & 1) << LEFT | (columns >> 1) << RIGHT


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef uint32_t[4] line = [0, 0, 0, 0]
    add_tile(line, rng)
    add_tile(line, rng)
    keep(<Board*>state, line)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Board* board = <Board*>state
    cdef bint across = action & 1, back = action == RIGHT or action == DOWN
    cdef uint32_t[4] line
    cdef uint32_t gained
    if not board.legal >> action & 1:
        return 0.0
    memcpy(line, board.cells, 16)
    turn(line, across, back)
    gained = push(line)
    turn(line, False, back)  # as it was: each half of `turn` is its own inverse
    turn(line, across, False)
    add_tile(line, rng)
    keep(board, line)
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
