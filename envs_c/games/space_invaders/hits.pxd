"""What shots and bombs of Space Invaders meet, pixel by pixel."""

from libc.stdint cimport uint8_t

from envs_c.games.space_invaders.state cimport (
    BLAST_TIME, CANNON_HIGH, CANNON_Y, COLUMNS, FAR_X, HIGH, NEAR_X, PITCH_Y, ROWS, SAUCER_HIGH, SAUCER_Y, SHIELDS, SHIELD_END,
    SHIELD_PITCH, SHIELD_ROWS, SHIELD_X, SHIELD_Y, SHOT_HIGH, Invaders, columns_of, random_byte)
from envs_c.games.space_invaders.shapes cimport CANNON, INVADERS, SAUCER, SHAPE


cdef inline bint touches(int shape, int column, int top, int high, int y) noexcept nogil:
    """True if a column of a shape has a pixel in the 8 rows from y on. top, high: the shape's first row and height."""
    cdef int line
    if not 0 <= column < 8:
        return False
    for line in range(max(0, y - top), min(high, y + SHOT_HIGH - top)):
        if SHAPE[shape][line] & 128 >> column:
            return True
    return False


cdef inline bint meets_cannon(const Invaders* game, int x, int y) noexcept nogil:
    """True if a bomb is in the cannon. Bombs appear 2 rows lower here, or 1 row from x = FAR_X on."""
    return y > 0 and touches(CANNON, x - game.cannon, CANNON_Y, CANNON_HIGH, y + (2 if x < FAR_X else 1))


cdef inline bint meets_saucer(const Invaders* game) noexcept nogil:
    """True if the shot is in the saucer, where it appears 4 rows higher, or 3 rows left of x = NEAR_X."""
    return game.saucer_x >= 0 and touches(SAUCER, game.shot_x - game.saucer_x, SAUCER_Y, SAUCER_HIGH,
                                          game.shot_y - (3 if game.shot_x < NEAR_X else 4))


cdef inline int invader_at(const Invaders* game) noexcept nogil:
    """COLUMNS * row + column of the invader that the shot is in, or -1. The shot appears 1 row lower."""
    cdef int dx = game.shot_x - game.x, column = dx >> 4, dy = game.shot_y + 1 - game.y, row
    if not 0 <= column < COLUMNS or dx & 8:
        return -1
    row = max(dy, 0) // PITCH_Y
    if dy - PITCH_Y * row >= HIGH:
        row += 1        # its tail is in the next row
    if row < ROWS and game.row[row] >> column & 1 and touches(
            INVADERS + row + ROWS * game.pose, dx & 7, PITCH_Y * row, HIGH, dy):
        return COLUMNS * row + column
    return -1


cdef inline int remove(Invaders* game, int found) noexcept nogil:
    """Destroy an invader; returns its points."""
    cdef int row = found // COLUMNS, column = found % COLUMNS, before = columns_of(game)
    game.row[row] ^= 1 << column
    game.emptied = <uint8_t>(before ^ columns_of(game))
    game.count -= 1
    game.blast, game.blast_row, game.blast_column = BLAST_TIME, row, column
    return 5 * (ROWS - row)


cdef inline int shield_at(const Invaders* game, int x, int y) noexcept nogil:
    """The shield that a shot or bomb is in, or -1."""
    cdef int shield = (x - SHIELD_X) >> 5, column = (x - SHIELD_X) & (SHIELD_PITCH - 1), row
    if not ((y > SHIELD_Y - SHOT_HIGH) & (y < SHIELD_END) & (shield >= 0) & (shield < SHIELDS) & (column < 8) & game.sheltered):
        return -1  # one condition, since single ones would be guessed wrong
    for row in range(max(0, (y - SHIELD_Y) >> 1), min(SHIELD_ROWS - 1, (y + SHOT_HIGH - 1 - SHIELD_Y) >> 1) + 1):
        if game.shield[shield][row] & 128 >> column:
            return shield
    return -1


cdef inline void chip(Invaders* game, int shield, int row, int column) noexcept nogil:
    """Take a pixel of a shield away, and with some luck also the one beside it."""
    cdef int luck, bits, k
    if not 0 <= row < SHIELD_ROWS:
        return
    luck = random_byte(game)
    bits = 128 >> column
    if luck >= 224:
        bits |= bits >> 1
    elif luck >= 192:
        bits |= bits << 1
    bits &= game.shield[shield][row]
    game.shield[shield][row] ^= bits
    for k in range(max(0, column - 1), min(7, column + 1) + 1):
        game.gone[8 * shield + k] += bits >> (7 - k) & 1


cdef inline void crumble(Invaders* game, int shield, int x, bint above) noexcept nogil:
    """Take away the lowest pixel of a shield's column, or the highest one, and those in the rows beside it."""
    cdef int column = (x - SHIELD_X) & (SHIELD_PITCH - 1), row = SHIELD_ROWS - 1 if above else 0
    while not game.shield[shield][row] & 128 >> column:
        row += -1 if above else 1
    chip(game, shield, row, column)
    chip(game, shield, row - 1, column)
    chip(game, shield, row + 1, column)
