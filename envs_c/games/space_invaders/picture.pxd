"""Space Invaders' picture: shapes, and how they are drawn in colour and in grey.

For each place of a shape relative to the grey pixels there is a stamp in STAMPS: 5 rows of 8 grey values that are added to the
canvas. So no two shapes may cover the same pixel: hidden pixels are left out.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.games.space_invaders.shapes cimport BLAST, BLASTS, CANNON, INVADERS, SAUCER, SAUCER_BLAST, SHAPE, SHAPES, WRECK
from envs_c.games.space_invaders.state cimport (
    BLAST_TIME, BURN, COLUMNS, HIGH, PITCH_X, PITCH_Y, ROWS, SAUCER_ROW, SHIELDS, SHIELD_END, SHIELD_PITCH, SHIELD_ROWS,
    SHIELD_X, SHIELD_Y, SHOW, Invaders, lowest_y)
from envs_c.screen cimport SMALL, Canvas, canvas_bitmap, grey_of
from envs_c.stamp cimport AREA, CELL_X, CELL_Y, STAMP, UNIT_X, UNIT_Y, cell_at, cover_bits, cover_row, to_bytes


cdef enum:
    LINES = 10                              # rows of a shape
    STAMP_ROWS = 5, SHIELD_STAMP = 8        # grey rows of a shape, of a shield
    SHIELD_ROW = 62                         # first grey row of the shields
    DIGIT_PLACES = 9, LIVES_PLACE = 4, OTHER_PLACE = 5      # 4 of the score, the lives, 4 of the other player's score
    DIGIT_ROWS = 5
    DIGIT_WIDE = 4, DIGIT_PITCH = 2         # a digit is 3x5 blocks; those of a score are 1 row high
    BLACK = 0x000000, OLIVE = 0x86861D, GREEN = 0x328432, BROWN = 0xA28638, RUST = 0xB55328, SILVER = 0x8E8E8E
    PURPLE = 0x97197A, EARTH = 0x505916

cdef extern from *:
    """
    static const unsigned char DIGIT[10][5] = {  // 3 bits a row
        {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
        {7, 4, 7, 1, 7}, {4, 4, 7, 5, 7}, {7, 1, 1, 1, 1}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 1}};
    static const short DIGIT_X[9] = {4, 20, 36, 52, 84, 84, 100, 116, 132}, DIGIT_Y[9] = {10, 11, 11, 10, 185, 10, 11, 11, 10};
    // Made when space_invaders.pyx is imported, then constant:
    static unsigned char STAMPS[24][5][40][5][8];       // [shape][y % 5][x % 40]: 5 x 8 grey pixels
    static unsigned char DIGIT_STAMPS[10][9][5][8];     // [digit][place]: 5 x 8 grey pixels
    static unsigned char SPREAD[256][3][8];  // [bits of a row][shield]: units covered of 8 grey pixels
    """
    const uint8_t[10][5] DIGIT
    const int16_t[9] DIGIT_X, DIGIT_Y
    uint8_t[24][5][40][5][8] STAMPS
    uint8_t[10][9][5][8] DIGIT_STAMPS
    uint8_t[256][3][8] SPREAD


cdef inline uint32_t colour_of(int shape) noexcept nogil:
    """Colour of a shape."""
    return OLIVE if shape < BLAST + BLASTS else PURPLE if shape >= SAUCER else GREEN


cdef inline uint8_t shade(int units, int grey) noexcept nogil:
    """The grey value of a grey pixel, black but for `units` of its AREA."""
    return <uint8_t>((units * grey + AREA // 2) // AREA)


# --- tables -----------------------------------------------------------------------------------------------------------

cdef inline void make_stamps() noexcept nogil:
    """Fill STAMPS."""
    cdef uint8_t[STAMP_ROWS][STAMP] units
    cdef int shape, y, x, unit, row, column
    for shape in range(SHAPES):
        for y in range(CELL_Y):
            for x in range(CELL_X):
                memset(units, 0, sizeof(units))
                for unit in range(UNIT_Y * y, UNIT_Y * (y + LINES)):
                    cover_bits(SHAPE[shape][unit // UNIT_Y - y], x, units[unit // CELL_Y - UNIT_Y * y // CELL_Y])
                for row in range(STAMP_ROWS):
                    for column in range(STAMP):
                        STAMPS[shape][y][x][row][column] = shade(units[row][column], grey_of(colour_of(shape)))


cdef inline uint16_t digit_row(int number, int row) noexcept nogil:
    """A row of a digit's blocks, in pixels, the highest bit at the left."""
    cdef int bits = DIGIT[number][row]
    return <uint16_t>((bits >> 2) * 0xF000 | (bits >> 1 & 1) * 0x0F00 | (bits & 1) * 0x00F0)


cdef inline int digit_high(int place) noexcept nogil:
    """Rows of a digit's blocks."""
    return DIGIT_PITCH if place == LIVES_PLACE else 1


cdef inline void make_digits() noexcept nogil:
    """Fill DIGIT_STAMPS."""
    cdef uint8_t[DIGIT_ROWS][2 * STAMP] units
    cdef int number, place, unit, row, column, x, y
    for number in range(10):
        for place in range(DIGIT_PLACES):
            x, y = DIGIT_X[place], DIGIT_Y[place]
            memset(units, 0, sizeof(units))
            for unit in range(UNIT_Y * y, UNIT_Y * (y + 5 * DIGIT_PITCH)):
                row = unit // CELL_Y - UNIT_Y * y // CELL_Y
                if (unit // UNIT_Y - y) % DIGIT_PITCH < digit_high(place):
                    cover_row(digit_row(number, (unit // UNIT_Y - y) // DIGIT_PITCH), x, units[row])
            for row in range(DIGIT_ROWS):
                for column in range(STAMP):
                    DIGIT_STAMPS[number][place][row][column] = shade(
                        units[row][column], grey_of(BROWN if place >= LIVES_PLACE else GREEN))


cdef inline void make_spread() noexcept nogil:
    """Fill SPREAD."""
    cdef int bits, shield
    for bits in range(256):
        for shield in range(SHIELDS):
            cover_bits(bits, SHIELD_X + SHIELD_PITCH * shield, SPREAD[bits][shield])


# --- shapes and digits ------------------------------------------------------------------------------------------------

cdef inline void add(uint8_t* pixels, const uint8_t* stamp) noexcept nogil:
    """Add 8 grey pixels; no sum may exceed 255."""
    cdef uint64_t here, there
    memcpy(&here, pixels, 8)
    memcpy(&there, stamp, 8)
    here += there
    memcpy(pixels, &here, 8)


cdef inline void put_shape(Canvas* canvas, int x, int y, int shape) noexcept nogil:
    """Draw a shape at (x, y)."""
    cdef const uint8_t* stamp
    cdef uint8_t* pixels
    cdef int row
    if canvas.rgb != NULL:
        canvas_bitmap(canvas, x, y, SHAPE[shape], LINES, 1, 1, colour_of(shape))
        return
    stamp = &STAMPS[shape][y % CELL_Y][x % CELL_X][0][0]
    pixels = canvas.grey + cell_at(x, y)
    for row in range(STAMP_ROWS):
        add(pixels + row * SMALL, stamp + row * STAMP)


cdef inline void put_digit(Canvas* canvas, int place, int number) noexcept nogil:
    """Draw a digit of a score, or of the lives at LIVES_PLACE."""
    cdef int row, x = DIGIT_X[place], y = DIGIT_Y[place]
    cdef uint8_t bits
    if canvas.rgb == NULL:
        for row in range(DIGIT_ROWS):
            add(canvas.grey + cell_at(x, y) + row * SMALL, DIGIT_STAMPS[number][place][row])
        return
    for row in range(5):
        bits = <uint8_t>(DIGIT[number][row] << 5)
        canvas_bitmap(canvas, x, y + DIGIT_PITCH * row, &bits, 1, DIGIT_WIDE, digit_high(place),
                      BROWN if place >= LIVES_PLACE else GREEN)


# --- invaders and shields ----------------------------------------------------------------------------------------------

cdef inline int cannon_shape(const Invaders* game) noexcept nogil:
    """The shape of the cannon, or -1 while it is not shown: it blinks in rests."""
    if game.phase == BURN:
        return WRECK + (~game.clock >> 2 & 1)
    return CANNON if game.phase != SHOW or game.clock >> 3 & 1 else -1


cdef inline int saucer_shape(const Invaders* game) noexcept nogil:
    """The shape of the saucer. That of its blast is a row higher."""
    return SAUCER_BLAST + (game.blast & 1) if game.blast and game.blast_row == SAUCER_ROW else SAUCER


cdef inline int blast_shape(const Invaders* game) noexcept nogil:
    """The shape of the invader's blast."""
    return BLAST + BLAST_TIME - game.blast


cdef inline bint is_drawn(const Invaders* game, int row) noexcept nogil:
    """Whether the console draws this row of the formation: the lowest one with an invader, or one above it."""
    cdef int r, invaders = 0
    for r in range(row, ROWS):
        invaders |= game.row[r]
    return invaders != 0


cdef inline uint8_t invader_bits(const Invaders* game, int x, int y) noexcept nogil:
    """Bits of the 8 pixels from (x, y) on that an invader or a blast covers, the highest at the left."""
    cdef int row = (y - game.y) // PITCH_Y, line = y - game.y - PITCH_Y * row, c, dx, shape, bits = 0
    if y < game.y or row >= ROWS or line >= LINES:
        return 0
    for c in range(COLUMNS):
        dx = game.x + PITCH_X * c - x
        if -8 < dx < 8:
            shape = INVADERS + row + ROWS * game.pose
            if game.blast > 0 and game.blast_row == row and game.blast_column == c and is_drawn(game, row):
                shape = blast_shape(game)
            elif not game.row[row] >> c & 1:
                continue
            bits |= SHAPE[shape][line] >> dx if dx >= 0 else SHAPE[shape][line] << -dx
    return bits & 255


cdef inline void cover_shield(const Invaders* game, int s, uint64_t* units) noexcept nogil:
    """Write the units that a whole row of a shield covers, 8 grey pixels in each of SHIELD_STAMP + 1 numbers."""
    cdef int line, unit, here
    cdef uint64_t covered
    for line in range(SHIELD_ROWS):  # of 2 lines of the screen, so of 4 units, in at most 2 grey rows
        unit = UNIT_Y * (SHIELD_Y + 2 * line)
        here = min(CELL_Y - unit % CELL_Y, 2 * UNIT_Y)
        memcpy(&covered, SPREAD[game.shield[s][line]][s], STAMP)
        units[unit // CELL_Y - SHIELD_ROW] += here * covered
        units[unit // CELL_Y - SHIELD_ROW + 1] += (2 * UNIT_Y - here) * covered


cdef inline void draw_shields(const Invaders* game, Canvas* canvas) noexcept nogil:
    """Draw the shields, without the pixels that invaders cover; then line by line."""
    cdef uint64_t[SHIELD_STAMP + 1] units
    cdef uint16_t[SHIELD_STAMP * STAMP] sums
    cdef uint8_t[SHIELD_STAMP * STAMP] greys
    cdef bint low = game.count > 0 and lowest_y(game) + HIGH > SHIELD_Y
    cdef const uint8_t* unit_of = <const uint8_t*>units
    cdef int s, x, y, unit, row
    cdef long k
    cdef uint8_t bits
    for s in range(SHIELDS):
        x = SHIELD_X + SHIELD_PITCH * s
        memset(units, 0, sizeof(units))
        if not low and canvas.rgb == NULL:
            cover_shield(game, s, units)
        for y in range(SHIELD_Y, SHIELD_END if low or canvas.rgb != NULL else SHIELD_Y):
            bits = game.shield[s][(y - SHIELD_Y) >> 1] & ~(invader_bits(game, x, y) if low else <uint8_t>0)
            if canvas.rgb != NULL:
                canvas_bitmap(canvas, x, y, &bits, 1, 1, 1, RUST)
            for unit in range(UNIT_Y * y, UNIT_Y * (y + 1)):
                add(<uint8_t*>&units[unit // CELL_Y - SHIELD_ROW], SPREAD[bits][s])
        for k in range(SHIELD_STAMP * STAMP):
            sums[k] = <uint16_t>(unit_of[k] * grey_of(RUST))
        to_bytes(sums, greys, SHIELD_STAMP * STAMP)
        for row in range(SHIELD_STAMP if canvas.rgb == NULL else 0):
            add(canvas.grey + (SHIELD_ROW + row) * SMALL + UNIT_X * x // CELL_X, greys + STAMP * row)
