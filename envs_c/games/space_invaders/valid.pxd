"""The check of a restored game of Space Invaders."""

from libc.stdint cimport uint8_t

from envs_c.games.space_invaders.state cimport (
    BLAST_TIME, BOMBS, BOMB_END, BURN, BURN_CLOCK, CANNON_END, CANNON_X, CLEAR, CLEAR_CLOCK, COLUMNS, ENTERING, FIRST_X,
    GROUNDED_Y, Invaders, LANDED_Y, LAST_X, MUZZLE, NO_SHIELDS, OLD_INVADER, PITCH_X, PLAY, ROWS, SAUCER_END, SAUCER_ROW,
    SHIELDS, SHIELD_ROWS, SHOT_END, SHOT_STEP, SHOT_Y, SHOW, SPENT_END, SPENT_Y, START_CLOCK, TOP_Y, WHOLE, clz, columns_of,
    ctz, lowest_y, rules_of)
from envs_c.valid cimport between


cdef enum:
    HIGHEST_SCORE = 2_000_000_000           # int32 holds some more
    HATCH = 3                               # pixels: from an invader's x to its bomb


cdef inline bint has_invaders(const Invaders* game, bint over) noexcept nogil:
    """True if the invaders are counted, on the screen, and have not landed."""
    cdef int columns = columns_of(game), row, column, count = 0
    for row in range(ROWS):
        if game.row[row] >= 1 << COLUMNS:
            return False
        for column in range(COLUMNS):
            count += game.row[row] >> column & 1
    if (game.count != count or not between(game.y, TOP_Y, GROUNDED_Y) or (game.y - TOP_Y) & 1
            or not between(game.x, FIRST_X - PITCH_X * (COLUMNS - 1), LAST_X)):
        return False
    if count == 0:
        return game.first < COLUMNS
    return (lowest_y(game) < (GROUNDED_Y + 1 if over else LANDED_Y) and game.first <= ctz(columns)
            and game.x + PITCH_X * ctz(columns) >= FIRST_X and game.x + PITCH_X * (31 - clz(columns)) <= LAST_X)


cdef inline bint has_shields(const Invaders* game) noexcept nogil:
    """True if the pixels that are gone from each column are counted."""
    cdef int shield, column, row, gone
    cdef uint8_t missing
    for shield in range(SHIELDS):
        for column in range(8):
            gone = 0
            for row in range(SHIELD_ROWS):
                missing = game.shield[shield][row] ^ WHOLE[row]
                if missing & ~WHOLE[row] or (game.rules & NO_SHIELDS and game.shield[shield][row]):
                    return False
                gone += missing >> (7 - column) & 1
            if game.gone[8 * shield + column] != gone:
                return False
    return True


cdef inline bint has_missiles(const Invaders* game) noexcept nogil:
    """True if shot, bombs and saucer are on their way, or not there."""
    cdef int k
    for k in range(BOMBS):
        if not between(game.bomb_x[k], 0, LAST_X + HATCH) or (
                game.bomb_y[k] and (not between(game.bomb_y[k], TOP_Y, BOMB_END) or game.bomb_y[k] & 1)):
            return False
    if not between(game.shot_x, 0, CANNON_END + MUZZLE):
        return False
    if game.shot_y and (not between(game.shot_y, SHOT_END + SHOT_STEP, SPENT_Y) or (game.shot_y - SHOT_Y) % SHOT_STEP
                        or between(game.shot_y, SHOT_Y + 1, SPENT_END)):
        return False
    return between(game.saucer_x, -1, SAUCER_END) and game.saucer_way in (-1, 1)


cdef inline bint has_phase(const Invaders* game) noexcept nogil:
    """True if the clock belongs to the phase."""
    if game.phase == PLAY:
        return game.count > 0
    if game.phase == CLEAR:
        return game.count == 0 and between(game.clock, 1, CLEAR_CLOCK)
    if game.phase == BURN:
        return between(game.clock, 1, BURN_CLOCK)
    return game.phase == SHOW and game.count > 0 and between(game.clock, 1, START_CLOCK)


cdef inline bint has_old_values(const Invaders* game) noexcept nogil:
    """True if what the picture shows still can be drawn."""
    cdef int shield, row
    for shield in range(SHIELDS):
        for row in range(SHIELD_ROWS):
            if game.old_shield[shield][row] & ~WHOLE[row]:
                return False
    return (game.late < 2 * OLD_INVADER and (game.blast_row < ROWS or not game.late & OLD_INVADER)
            and game.old_blast <= BLAST_TIME and game.old_blast_row <= SAUCER_ROW and game.old_blast_column < COLUMNS
            and between(game.old_saucer, ENTERING, SAUCER_END + 1) and game.points <= game.score)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if invaders, cannon, shields and counts can be those of one game."""
    cdef const Invaders* game = <const Invaders*>state
    return (between(game.score, 0, HIGHEST_SCORE) and between(game.lives, 1 - over, <int>options[0])
            and between(game.wave, <int>options[1], 255) and between(game.cannon, CANNON_X, CANNON_END)
            and between(game.shown, CANNON_X, CANNON_END)
            and game.way in (-1, 1) and game.pose <= 1 and game.sheltered <= 1 and game.blast <= BLAST_TIME
            and game.blast_row <= SAUCER_ROW and game.blast_column < COLUMNS and game.rules == rules_of(options)
            and game.emptied & (game.emptied - 1 | columns_of(game)) == 0 and game.emptied < 1 << COLUMNS
            and has_invaders(game, over) and has_shields(game) and has_missiles(game) and has_phase(game)
            and has_old_values(game))
