"""Tetris by the modern guideline: SRS rotation with kicks, bags of seven, hard drop, lock delay, 15 levels.

Field. 10 columns, 20 rows that are seen and 2 hidden ones above them. A step is 1/15 second: one action, then gravity, then
the lock delay.

Pieces. I, O, T, S, Z, J, L come in bags: each bag holds all seven, drawn from it one by one, each that is left alike
likely. The next piece is shown. A piece enters flat in the two top rows that are seen (I in the topmost), its box of 3 or 4
columns at column 3.

Actions. LEFT and RIGHT move the piece by a column, DOWN by a row, if there is room. DROP lets it fall as far as there is
room and locks it at once. ROTATE turns it clockwise within its box as the Super Rotation System (SRS) says, and where it
then has no room tries SRS's four other places, its kicks, in order; if none has room the piece stays as it was.

Gravity. At level n the piece falls by a row every (0.8 - 0.007 (n - 1)) ^ (n - 1) seconds, counted in 1/1024 rows a step;
what is left over is lost when it stands.

Lock. A piece that stands on something for 8 steps locks. Reaching a lower row than ever before starts that count anew; so
does each LEFT, RIGHT or ROTATE that moves the piece, but only 15 times a row so reached.

Lines. Full rows vanish and what is above moves down. The level begins at option `level` and rises by one with every ten
lines, to 15 at most.

Score. 1 a row that DOWN moves and 2 a row that DROP does, or neither with option `drop_points` 0; 100, 300, 500 or 800, times
the level, for 1, 2, 3 or 4 lines at once (at the level before them). T-spins, combos and back-to-back lines earn nothing
more; there is no hold.

End. The episode ends when, after full rows have vanished, a cell is left in the hidden rows or the next piece has no room.
"""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.tetris.rules cimport (
    CELLS, COLUMNS, DEPTH, DOWN, DROP, FLOOR, FULL, HIDDEN, MARGIN, MAX_X, MAX_Y, MIN_X, MOST_RESETS, NOOP, OPEN, PIECES, RIGHT,
    ROTATE, ROWS, SHAPE, TOP_LEVEL, Tetris, count_ones, draw_piece, enter, landing, lock, lowest_one, move, placed, settle,
    turn,
)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.game import Option


cdef enum:
    # Where these begin in the features, after stack and landing
    PIECE = 2 * CELLS, ROTATION = PIECE + PIECES, BOX_X = ROTATION + 4, BOX_Y = BOX_X + MAX_X - MIN_X + 1
    NEXT = BOX_Y + MAX_Y + 1, STANDS = NEXT + PIECES, LEVEL = STANDS + 1, GAPS = LEVEL + TOP_LEVEL, CLEARS = GAPS + 4
    FEATURES = CLEARS + 4
    # The picture, in grey pixels of 2x2
    SIDE = 2 * SMALL, CELL = 4, FIELD_X = 6, FIELD_Y = 2, NEXT_X = 58, NEXT_Y = 8
    NUMBER_END = 83, SCORE_Y = 28, LEVEL_Y = 40, LINES_Y = 52, DIGIT_WIDTH = 4
    SHADOW = 8                      # beside pieces 1 .. 7: where the falling one would land
    WALL = 0x30303C, FIELD = 0x000000, INK = 0xD0D0D0

cdef extern from *:
    """
    static const unsigned COLOUR[9] = {
        0x000000, 0x30C8E0, 0xE8D030, 0xA850D0, 0x50C850, 0xE04848, 0x4868E0, 0xE89030, 0x383838};
    static const unsigned short GLYPH[10] = {  // 3 x 5 bits, the top row lowest, bit 0 at the left
        0x7B6F, 0x749A, 0x73E7, 0x79E7, 0x49ED, 0x79CF, 0x7BCF, 0x4927, 0x7BEF, 0x79EF};
    """
    const uint32_t[9] COLOUR
    const uint16_t[10] GLYPH


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Tetris* game = <Tetris*>state
    cdef int k
    memset(game, 0, sizeof(Tetris))
    for k in range(DEPTH + FLOOR):
        game.row[k] = OPEN if k < DEPTH else FULL
    game.level = game.start = <uint8_t>options[0]
    game.drop_points = options[1] != 0
    game.next = <uint8_t>draw_piece(game, rng)
    enter(game, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Tetris* game = <Tetris*>state
    cdef int points = 0, y
    cdef bint moved = False
    if action == DROP:
        y = landing(game)
        points = 2 * game.drop_points * (y - game.y)
        game.y = <int8_t>y
        points += lock(game, rng, over)
    else:
        if action == ROTATE:
            moved = turn(game)
        elif action == DOWN:
            points = game.drop_points * move(game, game.rotation, game.x, game.y + 1)
        elif action != NOOP:
            moved = move(game, game.rotation, game.x + (1 if action == RIGHT else -1), game.y)
        if moved and game.resets < MOST_RESETS:
            game.resets += 1
            game.rest = 0
        if settle(game):
            points += lock(game, rng, over)
    game.score += points
    return <float>points


cdef inline void put(uint8_t* cells, const Tetris* game, int y, int value) noexcept nogil:
    """The piece at row y of the field into the cells that are seen."""
    cdef uint64_t left = placed(game, game.rotation, game.x)
    cdef int k
    while left:
        k = lowest_one(left)
        left &= left - 1
        if y + (k >> 4) >= HIDDEN:
            cells[(y + (k >> 4) - HIDDEN) * COLUMNS + (k & 15) - MARGIN] = <uint8_t>value


cdef void observe(const void* state, void* out) noexcept nogil:
    """Bytes of 0 and 1: two planes of 20x10, the stack and where the piece would land; then, one of each set: piece, rotation,
    its box's column and row, the next piece; whether the piece stands; the level; and what a DROP would do: in how many
    columns an empty cell would be right below the piece (0 .. 3), how many rows would vanish (1 .. 4; none set for 0).
    """
    cdef const Tetris* game = <const Tetris*>state
    cdef const uint8_t* stack = game.cell + HIDDEN * COLUMNS
    cdef uint8_t* seen = <uint8_t*>out
    cdef long k
    cdef int y = landing(game), clears
    cdef uint64_t piece = placed(game, game.rotation, game.x), four
    memcpy(&four, game.row + y, 8)
    for k in range(CELLS):
        seen[k] = stack[k] != 0
    memset(seen + CELLS, 0, FEATURES - CELLS)
    put(seen + CELLS, game, y, 1)
    seen[PIECE + game.piece] = 1
    seen[ROTATION + game.rotation] = 1
    seen[BOX_X + game.x - MIN_X] = 1
    seen[BOX_Y + game.y] = 1
    seen[NEXT + game.next] = 1
    seen[STANDS] = y == game.y
    seen[LEVEL + game.level - 1] = 1
    four |= piece
    seen[GAPS + count_ones(piece << 16 & ~four)] = 1  # a piece of four rows has one column: none below its last
    clears = 0
    for k in range(min(4, DEPTH - y)):
        clears += (four >> 16 * k & FULL) == FULL
    if clears:
        seen[CLEARS + clears - 1] = 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Walls and the empty field. All edges are even, so that they are those of grey pixels, too."""
    canvas_rect(canvas, 0, 0, SIDE, SIDE, WALL)
    canvas_rect(canvas, 2 * FIELD_X, 2 * FIELD_Y, 2 * COLUMNS * CELL, 2 * ROWS * CELL, FIELD)


cdef inline uint8_t* bytes_of(Canvas* canvas, int row) noexcept nogil:
    """A row of the grey canvas, which begins as the backdrop."""
    if not canvas.touched[row]:
        memcpy(canvas_row(canvas, row), canvas.screen.backdrop_grey + row * SMALL, SMALL)
    return canvas.grey + row * SMALL


cdef inline void tile(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """w x h grey pixels at (x, y), in grey as bytes, since all edges are those of grey pixels."""
    cdef int row
    if canvas.rgb != NULL:
        canvas_rect(canvas, 2 * x, 2 * y, 2 * w, 2 * h, colour)
        return
    for row in range(y, y + h):
        memset(bytes_of(canvas, row) + x, grey_of(colour), w)


cdef inline void draw_number(Canvas* canvas, int y, int value) noexcept nogil:
    """Right-aligned, as many digits as it has."""
    cdef int k, glyph, x = NUMBER_END
    cdef bint more = True
    while more:
        x -= DIGIT_WIDTH
        glyph = GLYPH[value % 10]
        while glyph:
            k = lowest_one(glyph)
            glyph &= glyph - 1
            tile(canvas, x + k % 3, y + k // 3, 1, 1, INK)
        value //= 10
        more = value > 0 and x >= DIGIT_WIDTH


cdef inline void draw_cells(Canvas* canvas, const uint8_t* cell) noexcept nogil:
    """A row of the field at a time; of a cell's 4x4 grey pixels the last row and column stay empty."""
    cdef int row, column, k
    cdef uint32_t[COLUMNS] line
    cdef uint64_t first
    for row in range(ROWS):
        memcpy(&first, cell + row * COLUMNS, 8)
        if not (first or cell[row * COLUMNS + 8] or cell[row * COLUMNS + 9]):
            continue
        if canvas.rgb != NULL:
            for column in range(COLUMNS):
                tile(canvas, FIELD_X + column * CELL, FIELD_Y + row * CELL, CELL - 1, CELL - 1,
                     COLOUR[cell[row * COLUMNS + column]])
            continue
        for column in range(COLUMNS):
            line[column] = grey_of(COLOUR[cell[row * COLUMNS + column]]) * 0x010101
        for k in range(FIELD_Y + row * CELL, FIELD_Y + row * CELL + CELL - 1):
            memcpy(bytes_of(canvas, k) + FIELD_X, line, COLUMNS * CELL)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """Field, the next piece, and below it score, level and lines."""
    cdef const Tetris* game = <const Tetris*>state
    cdef uint8_t[CELLS] cell
    cdef uint64_t left = SHAPE[game.next][0]
    cdef int k
    memcpy(cell, game.cell + HIDDEN * COLUMNS, CELLS)
    put(cell, game, landing(game), SHADOW)
    put(cell, game, game.y, 1 + game.piece)
    draw_cells(canvas, cell)
    while left:
        k = lowest_one(left)
        left &= left - 1
        tile(canvas, NEXT_X + (k & 15) * CELL, NEXT_Y + (k >> 4) * CELL, CELL - 1, CELL - 1, COLOUR[1 + game.next])
    draw_number(canvas, SCORE_Y, game.score)
    draw_number(canvas, LEVEL_Y, game.level)
    draw_number(canvas, LINES_Y, game.lines)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Tetris), states, io, lo, hi)


GAME = Game(
    name="tetris", title="Tetris", version=1, summary="Turn and drop falling pieces so that they fill rows.",
    actions=("NOOP", "LEFT", "RIGHT", "ROTATE", "DOWN", "DROP"), feature_shape=(FEATURES,),
    feature_dtype="uint8", feature_low=0, feature_high=1, screen=(SIDE, SIDE),
    options={
        "level": Option(1, 1, TOP_LEVEL, "at the start; gravity and points for lines rise with it"),
        "drop_points": Option(1, 0, 1, "1: rows that DOWN and DROP move score, too"),
    }, fps=15,
).bind(chunk, backdrop, draw, sizeof(Tetris))
