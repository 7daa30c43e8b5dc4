"""Tetris's rules: constants, state, and how an action changes it. The prose is in tetris.pyx.

A row of the field is 16 bits. The box of a piece is four rows, 64 bits. Rows and columns beyond the field are full, so one AND
of a box and four rows shows whether a piece has room.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from envs_c.rng cimport Rng, rng_below
from envs_c.valid cimport between


cdef enum:
    NOOP, LEFT, RIGHT, ROTATE, DOWN, DROP
    COLUMNS = 10, ROWS = 20, HIDDEN = 2, DEPTH = HIDDEN + ROWS, CELLS = ROWS * COLUMNS
    FLOOR = 6                       # full rows below the field: four rows can be read from any place
    MARGIN = 3                      # full columns left and right of the field: column c is bit c + MARGIN
    OPEN = 0xE007, FULL = 0xFFFF    # an empty row, a full row
    PIECES = 7, TOP_LEVEL = 15
    ONE = 1024                      # units of `fall` in a row
    LOCK_STEPS = 8, MOST_RESETS = 15
    MOST = 999_999_999              # of score and lines, which are counted no further
    START_X = 3, MIN_X = -2, MAX_X = 8, MAX_Y = DEPTH - 2   # place of a piece's box

cdef extern from *:
    """
    #define count_ones __builtin_popcountll
    #define lowest_one __builtin_ctzll
    #define BOX(a, b, c, d) (a | b << 16 | (unsigned long long)c << 32 | (unsigned long long)d << 48)
    static const unsigned long long SHAPE[7][4] = {  // [piece][rotation]: a box's rows, 16 bits each, bit 0 its left column
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
    int lowest_one(uint64_t x) noexcept nogil  # x > 0
    const uint64_t[7][4] SHAPE
    const int8_t[2][4][5][2] KICK
    const int16_t[16] GRAVITY
    const int16_t[5] LINE_POINTS


ctypedef struct Tetris:
    uint16_t[DEPTH + FLOOR] row       # hidden rows first; a bit a column, MARGIN full columns on both sides
    int32_t score, lines
    int16_t fall                      # 1/1024 rows that gravity has still to move
    int8_t x, y, lowest               # the box's left column and top row (row 0 is hidden); the largest y so far
    uint8_t piece, rotation, next     # 0 .. 6, 0 .. 3 turns clockwise, 0 .. 6
    uint8_t bag                       # bit p: piece p is left in the bag
    uint8_t level, start, drop_points  # start and drop_points: options
    uint8_t rest, resets              # steps that the piece has stood; moves that restarted this count
    uint8_t[DEPTH * COLUMNS] cell     # 0 empty, 1 + piece


cdef inline uint64_t placed(const Tetris* game, int rotation, int x) noexcept nogil:
    """Four rows with only the piece in them."""
    return SHAPE[game.piece][rotation] << (x + MARGIN)


cdef inline bint room(const Tetris* game, int rotation, int x, int y) noexcept nogil:
    """True if the piece has room there."""
    cdef uint64_t four
    if not (MIN_X - 1 <= x <= MAX_X + 1 and y >= 0):
        return False
    memcpy(&four, game.row + y, 8)
    return not four & placed(game, rotation, x)


cdef inline int landing(const Tetris* game) noexcept nogil:
    """The box's row after the piece has fallen as far as there is room."""
    cdef uint64_t four, piece = placed(game, game.rotation, game.x)
    cdef int y = game.y
    memcpy(&four, game.row + y + 1, 8)
    while not four & piece:
        y += 1
        memcpy(&four, game.row + y + 1, 8)
    return y


cdef inline int draw_piece(Tetris* game, Rng* rng) noexcept nogil:
    """Draw a piece from the bag, which is filled first if it is empty."""
    cdef int bag = game.bag if game.bag else (1 << PIECES) - 1
    cdef int k = <int>rng_below(rng, count_ones(bag)), left = bag
    while k > 0:
        left &= left - 1
        k -= 1
    left &= -left
    game.bag = <uint8_t>(bag ^ left)
    return lowest_one(left)


cdef inline void enter(Tetris* game, Rng* rng) noexcept nogil:
    """The next piece enters, and the piece after it is drawn."""
    game.piece, game.next = game.next, <uint8_t>draw_piece(game, rng)
    game.rotation = 0
    game.x = START_X
    game.y = game.lowest = HIDDEN - (game.piece == 0)  # the upper row of I's box is empty
    game.fall = game.rest = game.resets = 0


cdef inline int clear(Tetris* game, int y) noexcept nogil:
    """Remove the full rows among the four from y on; returns their number."""
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
    """The piece joins the stack and the next piece enters; returns the points for lines."""
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
    game.lines = min(game.lines + count, MOST)
    game.level = <uint8_t>min(game.start + game.lines // 10, TOP_LEVEL)
    enter(game, rng)
    over[0] = (game.row[0] | game.row[1]) != OPEN or not room(game, 0, game.x, game.y)
    return points


cdef inline bint move(Tetris* game, int rotation, int x, int y) noexcept nogil:
    """Put the piece there if it has room; True if it has."""
    if not room(game, rotation, x, y):
        return False
    game.rotation, game.x, game.y = <uint8_t>rotation, <int8_t>x, <int8_t>y
    return True


cdef inline bint turn(Tetris* game) noexcept nogil:
    """Rotate clockwise with SRS's kicks; True if the piece turned."""
    cdef int k
    cdef const int8_t* kick
    for k in range(5):
        kick = KICK[game.piece == 0][game.rotation][k]
        if move(game, (game.rotation + 1) & 3, game.x + kick[0], game.y + kick[1]):
            return True
    return False


cdef inline bint settle(Tetris* game) noexcept nogil:
    """Apply gravity and the lock delay; True if the piece locks."""
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


cdef inline bint has_place(const Tetris* game) noexcept nogil:
    """True if the falling piece is one of the seven, in a place where it has room, or where it has just entered without."""
    if game.piece >= PIECES or game.rotation > 3 or not between(game.y, 0, MAX_Y):
        return False
    return room(game, game.rotation, game.x, game.y) or (
        game.rotation == 0 and game.x == START_X and game.y == HIDDEN - (game.piece == 0))


cdef inline bint has_stack(const Tetris* game, bint over) noexcept nogil:
    """True if the rows' bits are those of the cells; no visible row is full and, unless `over`, no hidden one has a cell."""
    cdef int k, column, bits
    for k in range(DEPTH + FLOOR):
        bits = OPEN if k < DEPTH else FULL
        for column in range(COLUMNS if k < DEPTH else 0):
            if game.cell[k * COLUMNS + column] > PIECES:
                return False
            bits |= (game.cell[k * COLUMNS + column] > 0) << (column + MARGIN)
        if game.row[k] != bits or (HIDDEN <= k < DEPTH and bits == FULL) or (k < HIDDEN and bits != OPEN and not over):
            return False
    return True


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if the field, the piece and the counts are in their ranges and agree with one another."""
    cdef const Tetris* game = <const Tetris*>state
    return (game.start == options[0] and game.drop_points == (options[1] != 0)
            and between(game.score, 0, MOST) and between(game.lines, 0, MOST)
            and game.level == min(game.start + game.lines // 10, TOP_LEVEL)
            and game.next < PIECES and game.bag < 1 << PIECES and not game.bag >> game.next & 1
            and between(game.fall, 0, ONE - 1) and game.rest < LOCK_STEPS and game.resets <= MOST_RESETS
            and between(game.lowest, game.y, MAX_Y) and has_stack(game, over) and has_place(game)
            and (over or room(game, game.rotation, game.x, game.y)))
