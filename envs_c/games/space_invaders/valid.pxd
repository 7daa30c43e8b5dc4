"""The check of a restored game of Space Invaders."""

from libc.stdint cimport uint8_t

from envs_c.games.space_invaders.state cimport (
    BLAST_FRAMES, BOMBS, BURN, CANNON_END, CANNON_X, COLUMNS, DROP, FIRST_X, GROUND_Y, LANDED_Y, LAST_X, PITCH_X, PITCH_Y, PLAY,
    REST, REST_FRAMES, ROWS, SAUCER_END, SAUCER_WAIT, SHIELDS, SHIELD_ROWS, SHOT_END, SHOT_Y, SHOW, TOP_Y, WHOLE, Invaders, clz,
    columns_of, ctz, lowest_y)
from envs_c.valid cimport all_between, between


cdef enum:
    HIGHEST_SCORE = 2_000_000_000           # int32 holds some more
    LOWEST_Y = LANDED_Y + DROP - 1          # y of an invader that has landed
    LONGEST_MARCH = 32                      # frames; the largest of PACE
    AIM = 4, HATCH = 3                      # pixels: from the cannon's x to its shot, from an invader's x to its bomb


cdef inline bint has_invaders(const Invaders* game, bint over) noexcept nogil:
    """True if the invaders are counted, on the screen, and have not landed."""
    cdef int columns = columns_of(game), row, column, count = 0
    for row in range(ROWS):
        if game.row[row] >= 1 << COLUMNS:
            return False
        for column in range(COLUMNS):
            count += game.row[row] >> column & 1
    if (game.count != count or not between(game.y, TOP_Y, LOWEST_Y)
            or not between(game.x, FIRST_X - PITCH_X * (COLUMNS - 1), LAST_X)):
        return False
    if game.blast and game.y + PITCH_Y * game.blast_row > LOWEST_Y:
        return False
    return count == 0 or (lowest_y(game) < (LOWEST_Y + 1 if over else LANDED_Y) and game.x + PITCH_X * ctz(columns) >= FIRST_X
                          and game.x + PITCH_X * (31 - clz(columns)) <= LAST_X)


cdef inline bint has_shields(const Invaders* game) noexcept nogil:
    """True if the pixels that are gone from each column are counted."""
    cdef int shield, column, row, gone
    cdef uint8_t missing
    for shield in range(SHIELDS):
        for column in range(8):
            gone = 0
            for row in range(SHIELD_ROWS):
                missing = game.shield[shield][row] ^ WHOLE[row]
                if missing & ~WHOLE[row]:
                    return False
                gone += missing >> (7 - column) & 1
            if game.gone[8 * shield + column] != gone:
                return False
    return True


cdef inline bint has_missiles(const Invaders* game) noexcept nogil:
    """True if shot, bombs and saucer are on the screen, or not there."""
    cdef int k
    for k in range(BOMBS):
        if not between(game.bomb_x[k], 0, LAST_X + HATCH) or (game.bomb_y[k] and not between(game.bomb_y[k], TOP_Y, GROUND_Y)):
            return False
    if not between(game.shot_x, 0, CANNON_END + AIM) or (game.shot_y and not between(game.shot_y, SHOT_END, SHOT_Y)):
        return False
    if game.saucer_x == -1:
        return between(game.saucer_wait, 1, SAUCER_WAIT)
    return between(game.saucer_x, 0, SAUCER_END) and game.saucer_wait == 0 and game.saucer_way in (-1, 1)


cdef inline bint has_phase(const Invaders* game) noexcept nogil:
    """True if the frames that are left of a rest belong to the phase."""
    if game.phase == PLAY:
        return game.rest == 0 and game.count > 0
    return between(game.rest, 1, REST_FRAMES) and (game.phase in (BURN, SHOW) or (game.phase == REST and game.count == 0))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if invaders, cannon, shields and counts can be those of one game."""
    cdef const Invaders* game = <const Invaders*>state
    return (between(game.score, 0, HIGHEST_SCORE) and between(game.lives, 1 - over, <int>options[0])
            and between(game.wave, <int>options[1], 255) and between(game.cannon, CANNON_X, CANNON_END)
            and between(game.march, 1, LONGEST_MARCH) and game.way in (-1, 1) and between(game.saucer_way, -1, 1)
            and game.pose <= 1 and game.odd <= 1 and game.quarter <= 3 and game.blast <= BLAST_FRAMES
            and game.blast_row < ROWS and game.blast_column < COLUMNS
            and has_invaders(game, over) and has_shields(game) and has_missiles(game) and has_phase(game))
