"""The check of a restored platformer."""

from envs_c.games.platformer.levels cimport BAT, COLUMNS, ENEMIES, MARGIN, NOBODY, ROWS, TILE, Platformer
from envs_c.games.platformer.rules cimport BUFFER, FALL_SPEED, GOAL_X, GRACE, JUMP_SPEED, SPEED, TIME
from envs_c.valid cimport all_between, between


cdef enum:
    FULL = 0xFFF            # a column of solid tiles
    MOST_SPEED = 64         # of enemies, units a frame
    MOST_SPAN = 1000        # frames


cdef inline bint has_level(const Platformer* game) noexcept nogil:
    """True if all tiles are in the rows, the columns beyond both ends are solid, and no tile of the first row is."""
    cdef int k
    for k in range(COLUMNS + 2 * MARGIN):
        if game.solid[k] > FULL or game.spike[k] > FULL or game.coin[k] > FULL:
            return False
        if MARGIN <= k < MARGIN + COLUMNS:
            if game.solid[k] & 1:
                return False
        elif game.solid[k] != FULL:
            return False
    return True


cdef inline bint has_enemies(const Platformer* game) noexcept nogil:
    cdef int k
    for k in range(ENEMIES):
        if game.kind[k] > (BAT if k < game.enemies else NOBODY):
            return False
    return (game.enemies <= ENEMIES and all_between(game.edx, ENEMIES, -MOST_SPEED, MOST_SPEED)
            and all_between(game.edy, ENEMIES, -MOST_SPEED, MOST_SPEED)
            and all_between(game.span, ENEMIES, 0, MOST_SPAN))


cdef inline bint has_player(const Platformer* game, bint over) noexcept nogil:
    """True if the player is in the level; below it or at the flag only if `over`."""
    return (between(game.x, 0, GOAL_X - 1 + over * SPEED) and between(game.y, 0, ROWS * TILE - 1 + over * FALL_SPEED)
            and between(game.vx, -SPEED, SPEED) and between(game.vy, -JUMP_SPEED, FALL_SPEED)
            and game.grace <= GRACE and game.buffer <= BUFFER and game.held <= 1 and game.facing <= 1)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if the options are those of the struct, and level, enemies and player are in their ranges."""
    cdef const Platformer* game = <const Platformer*>state
    return (game.levels == options[0] and game.level_seed == options[1] and game.difficulty == options[2]
            and game.stages == options[3] and (game.levels == 0 or game.level < game.levels)
            and between(game.score, 0, 1 << 30) and game.stage < game.stages + over and between(game.time, 1 - over, TIME)
            and has_level(game) and has_enemies(game) and has_player(game, over))
