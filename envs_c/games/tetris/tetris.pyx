"""Tetris by the modern guideline: SRS rotation with kicks, bags of seven pieces, hard drop, lock delay, 15 levels.

Field. 10 columns and 20 visible rows, with 2 hidden rows above them.

Screen. 168x168 pixels: the field with the stack, the falling piece and, in dark grey, the cells where it would land; at the
right the next piece, and below it score, level and lines.

Step. A step is 1/15 second: one action, then gravity, then the lock delay.

Pieces. I, O, T, S, Z, J and L come in bags. A bag holds all seven; each piece is drawn from those left in the bag with
equal chance. The next piece is shown. A piece enters flat in the two topmost visible rows (I in the topmost), with its box
of 3 or 4 columns at column 3.

Actions. LEFT and RIGHT move the piece by one column and DOWN moves it by one row, if there is room. DROP moves it down as
far as there is room and locks it at once. ROTATE turns it clockwise in its box by the Super Rotation System (SRS); if it
then has no room, it is tried at SRS's four other places (kicks) in order; if none has room, the piece stays as it was.

Gravity. At level n the piece falls by one row every (0.8 - 0.007 (n - 1)) ^ (n - 1) seconds, counted in 1/1024 rows a step.
The remainder is lost when the piece stands.

Lock. A piece locks when it has stood on something for 8 steps. The count starts again when the piece reaches a lower row
than ever before. It also starts again when LEFT, RIGHT or ROTATE moves the piece, at most 15 times for each new lowest row.

Lines. Full rows vanish, and all cells above them move down. The level starts at option `level` and rises by one with every
ten lines, to at most 15.

Points. DOWN gives 1 for each row moved and DROP 2 (0 for both with option `drop_points` = 0). 1, 2, 3 or 4 lines at once
give 100, 300, 500 or 800 times the level before them. T-spins, combos and back-to-back lines give nothing extra. There is
no hold.

End. The episode ends if, after full rows have vanished, a cell is left in the hidden rows or the next piece has no room.
"""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.tetris.rules cimport (
    CELLS, COLUMNS, DEPTH, DOWN, DROP, FLOOR, FULL, HIDDEN, MARGIN, MAX_X, MAX_Y, MIN_X, MOST, MOST_RESETS, NOOP, OPEN, PIECES,
    RIGHT, ROTATE, ROWS, SHAPE, TOP_LEVEL, Tetris, count_ones, draw_piece, enter, landing, lock, lowest_one, move, placed,
    settle, turn, valid,
)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.game import Feature, Option


cdef enum:
    # First index of each group of features after the planes stack and landing
    PIECE = 2 * CELLS, ROTATION = PIECE + PIECES, BOX_X = ROTATION + 4, BOX_Y = BOX_X + MAX_X - MIN_X + 1
    NEXT = BOX_Y + MAX_Y + 1, STANDS = NEXT + PIECES, LEVEL = STANDS + 1, GAPS = LEVEL + TOP_LEVEL, CLEARS = GAPS + 4
    FEATURES = CLEARS + 4
    # The picture, in grey pixels, each 2x2 screen pixels
    SIDE = 2 * SMALL, CELL = 4, FIELD_X = 6, FIELD_Y = 2, NEXT_X = 58, NEXT_Y = 8
    NUMBER_END = 83, SCORE_Y = 28, LEVEL_Y = 40, LINES_Y = 52, DIGIT_WIDTH = 4
    SHADOW = 8                      # colour of the landing cells; pieces are 1 .. 7
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
    game.score = min(game.score + points, MOST)
    return <float>points


cdef inline void put(uint8_t* cells, const Tetris* game, int y, int value) noexcept nogil:
    """Write the piece into the visible cells.

    cells: (20, 10) uint8.
    y: row of the piece's box, hidden rows included.
    value: written to each cell of the piece.
    """
    cdef uint64_t left = placed(game, game.rotation, game.x)
    cdef int k
    while left:
        k = lowest_one(left)
        left &= left - 1
        if y + (k >> 4) >= HIDDEN:
            cells[(y + (k >> 4) - HIDDEN) * COLUMNS + (k & 15) - MARGIN] = <uint8_t>value


cdef void observe(const void* state, void* out) noexcept nogil:
    """474 uint8 of 0 and 1; the rows of GAME's `features` name them."""
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
    seen[GAPS + count_ones(piece << 16 & ~four)] = 1  # four rows high: one column, so no gap lies below the fourth row
    clears = 0
    for k in range(min(4, DEPTH - y)):
        clears += (four >> 16 * k & FULL) == FULL
    if clears:
        seen[CLEARS + clears - 1] = 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Walls and the empty field. All edges are even, so they are edges of grey pixels, too."""
    canvas_rect(canvas, 0, 0, SIDE, SIDE, WALL)
    canvas_rect(canvas, 2 * FIELD_X, 2 * FIELD_Y, 2 * COLUMNS * CELL, 2 * ROWS * CELL, FIELD)


cdef inline uint8_t* bytes_of(Canvas* canvas, int row) noexcept nogil:
    """A row of the grey canvas; at its first use the backdrop is copied into it."""
    if not canvas.touched[row]:
        memcpy(canvas_row(canvas, row), canvas.screen.backdrop_grey + row * SMALL, SMALL)
    return canvas.grey + row * SMALL


cdef inline void tile(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """Paint w x h grey pixels at (x, y), which are whole: no averaging is needed."""
    cdef int row
    if canvas.rgb != NULL:
        canvas_rect(canvas, 2 * x, 2 * y, 2 * w, 2 * h, colour)
        return
    for row in range(y, y + h):
        memset(bytes_of(canvas, row) + x, grey_of(colour), w)


cdef inline void draw_number(Canvas* canvas, int y, int value) noexcept nogil:
    """Draw a number, right-aligned at NUMBER_END."""
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
    """Draw the visible cells row by row; the last row and column of a cell's 4x4 grey pixels stay empty."""
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
    """Draw field, next piece, score, level and lines."""
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
        "level": Option(1, 1, TOP_LEVEL, "first level; gravity and points for lines rise with the level"),
        "drop_points": Option(1, 0, 1, "1: DOWN and DROP give points for rows moved"),
    }, fps=15,
    features=(
        Feature("stack", 0, 1, count=CELLS, help="20 x 10 cells row by row from the top: 1 if filled"),
        Feature("landing", 0, 1, count=CELLS, help="the same cells: 1 if the piece would fill it after a DROP"),
        Feature("piece", 0, 1, count=PIECES, help="one is 1: I, O, T, S, Z, J, L"),
        Feature("rotation", 0, 1, count=4, help="one is 1: 0, 1, 2, 3 turns clockwise"),
        Feature("box column", 0, 1, count=MAX_X - MIN_X + 1, help="one is 1: the left column of the piece's box, -2 .. 8"),
        Feature("box row", 0, 1, count=MAX_Y + 1, help="one is 1: the top row of the piece's box, -2 .. 18; row 0 is the "
                                                       "topmost visible row"),
        Feature("next piece", 0, 1, count=PIECES, help="one is 1: I, O, T, S, Z, J, L"),
        Feature("stands", 0, 1, help="1 if the piece cannot fall farther"),
        Feature("level", 0, 1, count=TOP_LEVEL, help="one is 1: level 1 .. 15"),
        Feature("gaps", 0, 1, count=4, help="one is 1: after a DROP 0, 1, 2, 3 columns would have an empty cell right below "
                                            "the piece"),
        Feature("clears", 0, 1, count=4, help="1, 2, 3, 4 rows would vanish after a DROP; none is 1 if no row would"),
    ),
    compared_with="A plain Python board that draws the same random numbers, every step.",
).bind(chunk, backdrop, draw, sizeof(Tetris), has_mask=False, valid=valid)
