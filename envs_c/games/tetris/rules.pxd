"""The field of Tetris and what moves in it, for tetris.pyx, which states the rules.

A row is 16 bits, and the box of a piece is four rows in 64 bits. So one AND finds out whether a piece has room: rows and
columns beyond the field are full.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, LEFT, RIGHT, ROTATE, DOWN, DROP
    COLUMNS = 10, ROWS = 20, HIDDEN = 2, DEPTH = HIDDEN + ROWS, CELLS = ROWS * COLUMNS
    FLOOR = 6                       # full rows below, so that four rows from any place can be read
    MARGIN = 3                      # full columns left and right of a row: column c is bit c + MARGIN
    OPEN = 0xE007, FULL = 0xFFFF    # an empty row, a full one
    PIECES = 7, TOP_LEVEL = 15
    ONE = 1024                      # units of `fall` a row
    LOCK_STEPS = 8, MOST_RESETS = 15
    START_X = 3, MIN_X = -2, MAX_X = 8, MAX_Y = DEPTH - 2   # of a piece's box

cdef extern from *:
    """
    #define count_ones __builtin_popcountll
    #define lowest_one __builtin_ctzll
    #define BOX(a, b, c, d) (a | b << 16 | (unsigned long long)c << 32 | (unsigned long long)d << 48)
    static const unsigned long long SHAPE[7][4] = {  // a box's rows, 16 bits each, bit 0 its left column; by rotation
        {BOX(0, 15, 0, 0), BOX(4, 4, 4, 4), BOX(0, 0, 15, 0), BOX(2, 2, 2, 2)},
        {BOX(6, 6, 0, 0), BOX(6, 6, 0, 0), BOX(6, 6, 0, 0), BOX(6, 6, 0, 0)},
        {BOX(2, 7, 0, 0), BOX(2, 6, 2, 0), BOX(0, 7, 2, 0), BOX(2, 3, 2, 0)},
        {BOX(6, 3, 0, 0), BOX(2, 6, 4, 0), BOX(0, 6, 3, 0), BOX(1, 3, 2, 0)},
        {BOX(3, 6, 0, 0), BOX(4, 6, 2, 0), BOX(0, 3, 6, 0), BOX(2, 3, 1, 0)},
        {BOX(1, 7, 0, 0), BOX(6, 2, 2, 0), BOX(0, 7, 4, 0), BOX(2, 2, 3, 0)},
        {BOX(4, 7, 0, 0), BOX(2, 2, 6, 0), BOX(0, 7, 1, 0), BOX(3, 2, 2, 0)}};
    static const signed char KICK[2][4][5][2] = {  // [I][rotation before][try]: columns right, rows down
        {{{0, 0}, {-1, 0}, {-1, -1}, {0, 2}, {-1, 2}}, {{0, 0}, {1, 0}, {1, 1}, {0, -2}, {1, -2}},
         {{0, 0}, {1, 0}, {1, -1}, {0, 2}, {1, 2}}, {{0, 0}, {-1, 0}, {-1, 1}, {0, -2}, {-1, -2}}},
        {{{0, 0}, {-2, 0}, {1, 0}, {-2, 1}, {1, -2}}, {{0, 0}, {-1, 0}, {2, 0}, {-1, -2}, {2, 1}},
         {{0, 0}, {2, 0}, {-1, 0}, {2, -1}, {-1, 2}}, {{0, 0}, {1, 0}, {-2, 0}, {1, 2}, {-2, -1}}}};
    static const short GRAVITY[16] = {  // by level: 1/1024 rows a step
        0, 68, 86, 111, 144, 192, 261, 360, 507, 727, 1064, 1588, 2419, 3761, 5968, 9671};
    static const short LINE_POINTS[5] = {0, 100, 300, 500, 800};
    """
    int count_ones(uint64_t x) noexcept nogil
    int lowest_one(uint64_t x) noexcept nogil  # of x > 0
    const uint64_t[7][4] SHAPE
    const int8_t[2][4][5][2] KICK
    const int16_t[16] GRAVITY
    const int16_t[5] LINE_POINTS


ctypedef struct Tetris:
    uint16_t[DEPTH + FLOOR] row       # hidden ones first; a bit a column, MARGIN full ones on both sides
    int32_t score, lines
    int16_t fall                      # 1/1024 rows that gravity has yet to move
    int8_t x, y, lowest               # the box's left column and top row, counted from the hidden ones; the largest y so far
    uint8_t piece, rotation, next     # 0 .. 6, 0 .. 3 clockwise, 0 .. 6
    uint8_t bag                       # bit p: piece p is left in it
    uint8_t level, start, drop_points
    uint8_t rest, resets              # steps that the piece has stood; how often that began anew
    uint8_t[DEPTH * COLUMNS] cell     # 0 empty, 1 + piece


cdef inline uint64_t placed(const Tetris* game, int rotation, int x) noexcept nogil:
    """Four rows with the piece in them."""
    return SHAPE[game.piece][rotation] << (x + MARGIN)


cdef inline bint room(const Tetris* game, int rotation, int x, int y) noexcept nogil:
    cdef uint64_t four
    if not (MIN_X - 1 <= x <= MAX_X + 1 and y >= 0):
        return False
    memcpy(&four, game.row + y, 8)
    return not four & placed(game, rotation, x)


cdef inline int landing(const Tetris* game) noexcept nogil:
    """The box's row when the piece has fallen as far as there is room."""
    cdef uint64_t four, piece = placed(game, game.rotation, game.x)
    cdef int y = game.y
    memcpy(&four, game.row + y + 1, 8)
    while not four & piece:
        y += 1
        memcpy(&four, game.row + y + 1, 8)
    return y


cdef inline int draw_piece(Tetris* game, Rng* rng) noexcept nogil:
    """From the bag; an empty one is filled before."""
    cdef int bag = game.bag if game.bag else (1 << PIECES) - 1
    cdef int k = <int>rng_below(rng, count_ones(bag)), left = bag
    while k > 0:
        left &= left - 1
        k -= 1
    left &= -left
    game.bag = <uint8_t>(bag ^ left)
    return lowest_one(left)


cdef inline void enter(Tetris* game, Rng* rng) noexcept nogil:
    """The next piece comes in, and the one after it is drawn."""
    game.piece, game.next = game.next, <uint8_t>draw_piece(game, rng)
    game.rotation = 0
    game.x = START_X
    game.y = game.lowest = HIDDEN - (game.piece == 0)  # the upper row of I's box is empty
    game.fall = game.rest = game.resets = 0


cdef inline int clear(Tetris* game, int y) noexcept nogil:
    """Take out what is full of four rows from y on; returns how many those were."""
    cdef int k, count = 0
    for k in range(max(y, HIDDEN), min(y + 4, DEPTH)):
        if game.row[k] == FULL:
            memmove(game.row + 1, game.row, k * sizeof(uint16_t))
            memmove(game.cell + COLUMNS, game.cell, k * COLUMNS)
            game.row[0] = OPEN
            memset(game.cell, 0, COLUMNS)
            count += 1
    return count


cdef inline int lock(Tetris* game, Rng* rng, bint* over) noexcept nogil:
    """The piece becomes part of the stack, and the next one enters; returns the points."""
    cdef uint64_t four, piece = placed(game, game.rotation, game.x), left = piece
    cdef int k, count, points
    memcpy(&four, game.row + game.y, 8)
    four |= piece
    memcpy(game.row + game.y, &four, 8)
    while left:
        k = lowest_one(left)
        left &= left - 1
        game.cell[(game.y + (k >> 4)) * COLUMNS + (k & 15) - MARGIN] = 1 + game.piece
    count = clear(game, game.y)
    points = LINE_POINTS[count] * game.level
    game.lines += count
    game.level = <uint8_t>min(game.start + game.lines // 10, TOP_LEVEL)
    enter(game, rng)
    over[0] = (game.row[0] | game.row[1]) != OPEN or not room(game, 0, game.x, game.y)
    return points


cdef inline bint move(Tetris* game, int rotation, int x, int y) noexcept nogil:
    """Put the piece there if it has room."""
    if not room(game, rotation, x, y):
        return False
    game.rotation, game.x, game.y = <uint8_t>rotation, <int8_t>x, <int8_t>y
    return True


cdef inline bint turn(Tetris* game) noexcept nogil:
    cdef int k
    cdef const int8_t* kick
    for k in range(5):
        kick = KICK[game.piece == 0][game.rotation][k]
        if move(game, (game.rotation + 1) & 3, game.x + kick[0], game.y + kick[1]):
            return True
    return False


cdef inline bint settle(Tetris* game) noexcept nogil:
    """Gravity and the lock delay; returns whether the piece locks."""
    game.fall += GRAVITY[game.level]
    while game.fall >= ONE:
        game.fall = game.fall - ONE if move(game, game.rotation, game.x, game.y + 1) else 0
    if game.y > game.lowest:
        game.lowest = game.y
        game.rest = game.resets = 0
    if not room(game, game.rotation, game.x, game.y + 1):
        game.fall = 0
        game.rest += 1
    return game.rest >= LOCK_STEPS
