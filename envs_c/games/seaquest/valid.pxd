"""The check of a restored game of Seaquest."""

from envs_c.games.seaquest.rules cimport (
    BONUS_DIVER, COUNTS, CREW, DIES, DROWN, EMPTIED, FASTEST, FILLS, FROM_LEFT, FROM_RIGHT, LANES, LEFT_END, MOST_LIVES,
    MOST_POINTS, PLAYS, RIGHT_END, SAVED, SEA_FLOOR, SURFACE, TANK, Seaquest)
from envs_c.stamp cimport WIDTH
from envs_c.valid cimport all_between, between


cdef inline bint has_phase(const Seaquest* game) noexcept nogil:
    """True if the frames that are left, the oxygen and the torpedo belong to the phase."""
    if game.docked and (game.phase != PLAYS or game.y != SURFACE or game.oxygen >= TANK or not between(game.crew, 1, CREW - 1)):
        return False
    if game.phase == PLAYS:
        return game.wait == 0 and game.oxygen >= 1
    if game.torpedo != 0:
        return False
    if game.phase == FILLS:
        return (between(game.wait, 1, 2 * TANK) and game.oxygen == TANK - (game.wait >> 1)
                and all_between(game.alive, LANES, 0, 0))
    if game.phase == DIES:
        return between(game.wait, 1, DROWN) and (game.wait > EMPTIED or game.oxygen == 0)
    return between(game.wait, 1, BONUS_DIVER)


cdef inline bint has_lanes(const Seaquest* game) noexcept nogil:
    return (all_between(game.x, LANES, FROM_LEFT, FROM_RIGHT) and all_between(game.guest, LANES, 0, WIDTH - 1)
            and all_between(game.alive, LANES, 0, 7) and all_between(game.right, LANES, 0, 1)
            and all_between(game.sub, LANES, 0, 1) and all_between(game.diver, LANES, 0, SAVED))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if submarine, lanes and counts can be those of one game."""
    cdef const Seaquest* game = <const Seaquest*>state
    return (between(game.score, 0, MOST_POINTS) and between(game.lives, 1 - over, MOST_LIVES) and game.oxygen <= TANK
            and game.crew <= CREW and between(game.rescues, <int>options[1], FASTEST)
            and between(game.pace, <int>options[1], FASTEST) and between(game.x_ship, LEFT_END, RIGHT_END)
            and between(game.y, SURFACE, SEA_FLOOR) and between(game.torpedo, 0, WIDTH - 1) and between(game.patrol, 0, 255)
            and game.phase <= COUNTS and game.facing <= 1 and game.torpedo_right <= 1 and game.docked <= 1
            and game.enemy_part < 16 and game.diver_part < 16 and game.shot_part < 16 and has_lanes(game) and has_phase(game))
