"""Shots and bombs in Space Invaders' picture.

The console's loops for the rows of the screen switch shots and bombs on and off in several ways, sooner or later than their y
says, and within a row: so some rows depend on the column. `shows` is what was measured on the cartridge, for shots and bombs in
all rows and columns, above, in and below formations in several places.
"""

from libc.stdint cimport int8_t, uint8_t

from envs_c.games.space_invaders.picture cimport LINES, SILVER, cannon_shape, invader_bits, saucer_shape, shade
from envs_c.games.space_invaders.shapes cimport SAUCER, SHAPE
from envs_c.games.space_invaders.state cimport (
    BOMBS, CANNON_Y, FAR_X, GROUND_Y, NEAR_X, PITCH_Y, ROWS, SAUCER_Y, SHIELDS, SHIELD_END, SHIELD_PITCH, SHIELD_X, SHIELD_Y,
    Invaders)
from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of
from envs_c.stamp cimport CELL_X, CELL_Y, UNIT_X, UNIT_Y, cell_at


cdef enum:
    THIN_ROWS = 7                       # grey rows of a shot or bomb
    EARLIEST = 4, LATEST = 9            # rows from the y of a shot or bomb up and down that may show it
    SAUCER_SEEN = 8, SEEN_Y = 23        # first row that shows shots, while there is a saucer, and else
    LOW_Y = 183                         # first row of the ground's loop
    ABOVE = 7                           # rows above the formation that belong to its loop
    # Columns from which on some rows are earlier
    ABOVE_X = 70, FORMATION_X = 115, ODD_X = 67, LEFT_X = 85, RIGHT_X = 88, LOW_X = 109, X_175 = 58, X_177 = 31
    BAND = 6, WIDE = 2                  # a row shows what begins in so many rows; in so many more

cdef extern from *:
    """
    // The last y that a row shows, less the row: in the rows above the formation, and from one row of invaders to the next.
    static const signed char BEFORE[7] = {2, 1, 0, 1, 2, 1, 0};
    static const signed char INSIDE[18] = {-1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1, 0, 1, 0, -1, 0, 1, 0};
    """
    const int8_t[7] BEFORE
    const int8_t[18] INSIDE


cdef inline bint shows(const Invaders* game, int last, int x, int row, int y) noexcept nogil:
    """True if a row shows, in column x, a shot or bomb whose place is y.

    last: y of the lowest invaders, or that of the formation if all are gone.
    """
    cdef int line = row - game.y, first, wide = 0
    if row < SEEN_Y:
        first = 3 if row & 1 else 4 if row < 12 or (row < 22 and x >= NEAR_X) else 2
    elif row < game.y - ABOVE:
        first = 3 if row & 1 else 2 if x < ABOVE_X else 4
        wide = first == 4
    elif line < 0:
        first, wide = BEFORE[line + ABOVE], line == -3
    elif row < last + 12:
        line %= PITCH_Y
        first = INSIDE[line]
        if line == 14 and x >= FAR_X:
            first = 1
        elif line == 15 and x >= FORMATION_X:
            first, wide = 2, 1
    elif row >= LOW_Y:
        first = -1 if row == LOW_Y else -2 if not row & 1 else -3 if x < LOW_X else -1
        wide = row & 1 and row > LOW_Y and LOW_X <= x < FAR_X
    elif row == 156 and game.sheltered:
        first, wide = -2 if x < LEFT_X else 0, LEFT_X <= x < RIGHT_X
    elif row == 179:
        first = -1 if x < (RIGHT_X if game.sheltered else FAR_X) else 1
    elif not row & 1:
        first = 0
    elif row == last + 12:
        first, wide = 1, 1
    elif row == 175 and game.sheltered:
        first = -1 if x < X_175 else 1
    elif row == 177 and game.sheltered:
        first, wide = -1 if x < X_177 else 1, x >= X_177
    elif row > 179 or (row >= 155 and game.sheltered):
        first = -1
    else:
        first, wide = -1 if x < ODD_X else 1, x >= ODD_X
    return 0 <= first + row - y <= BAND + WIDE * wide


cdef inline bint covered(const Invaders* game, int x, int y) noexcept nogil:
    """True if a pixel of a shot or bomb is hidden: by a shield, an invader, saucer or cannon, or outside the visible rows."""
    cdef int shield = (x - SHIELD_X) >> 5, column = (x - SHIELD_X) & (SHIELD_PITCH - 1), dx = x - game.shown
    cdef int cannon = cannon_shape(game), saucer = saucer_shape(game)
    if y < (SEEN_Y if game.saucer_x == -1 else SAUCER_SEEN) or y >= GROUND_Y:
        return True
    if SHIELD_Y <= y < SHIELD_END and 0 <= shield < SHIELDS and column < 8 and game.sheltered:
        if game.shield[shield][(y - SHIELD_Y) >> 1] & 128 >> column:
            return True
    if y >= CANNON_Y and 0 <= dx < 8 and cannon >= 0 and SHAPE[cannon][y - CANNON_Y] & 128 >> dx:
        return True
    if y < SEEN_Y and 0 <= x - game.saucer_x < 8:
        y -= SAUCER_Y - (saucer != SAUCER)
        return 0 <= y < LINES and SHAPE[saucer][y] & 128 >> x - game.saucer_x
    return invader_bits(game, x, y) & 128


cdef inline bint on_bomb(const Invaders* game, int last, int x, int row) noexcept nogil:
    """True if a bomb is in this row of column x."""
    cdef int k
    for k in range(BOMBS):
        if game.bomb_x[k] == x and game.bomb_y[k] > 0 and shows(game, last, x, row, game.bomb_y[k]):
            return True
    return False


cdef inline int last_y(const Invaders* game) noexcept nogil:
    """The y of the lowest row of invaders, of the first one if all are gone."""
    cdef int r = ROWS - 1
    while r > 0 and game.row[r] == 0:
        r -= 1
    return game.y + PITCH_Y * r


cdef inline void draw_thin(const Invaders* game, Canvas* canvas, int x, int y, bint below) noexcept nogil:
    """Draw a shot or a bomb without its hidden pixels. below: bombs hide it."""
    cdef int row, unit, wide = min(CELL_X - UNIT_X * x % CELL_X, UNIT_X), top = y - EARLIEST, last = last_y(game)
    cdef int[THIN_ROWS] units = [0, 0, 0, 0, 0, 0, 0]
    cdef uint8_t* pixels
    for row in range(top, y + LATEST + 1):
        if not shows(game, last, x, row, y) or covered(game, x, row) or (below and on_bomb(game, last, x, row)):
            continue
        if canvas.rgb != NULL:
            canvas_rect(canvas, x, row, 1, 1, SILVER)
        for unit in range(UNIT_Y * row, UNIT_Y * (row + 1)):
            units[unit // CELL_Y - UNIT_Y * top // CELL_Y] += 1
    for row in range(THIN_ROWS if canvas.rgb == NULL else 0):
        if units[row]:
            pixels = canvas.grey + cell_at(x, top) + row * SMALL
            pixels[0] += shade(units[row] * wide, grey_of(SILVER))
            pixels[1] += shade(units[row] * (UNIT_X - wide), grey_of(SILVER))
