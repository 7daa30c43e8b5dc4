"""The check of a restored game of Seaquest."""

from envs_c.games.seaquest.lanes cimport FROM_LEFT, FROM_RIGHT
from envs_c.games.seaquest.rules cimport (
    BYTE, COUNTS, CREW, DIES, EMPTIED, FILLS, FRAMES, LANES, LEFT_END, MOST_LIVES, MOST_POINTS, PLAYS, RIGHT_END, SAVED,
    SEA_FLOOR, SINKS, SURFACE, TANK, Seaquest, rules_of)
from envs_c.stamp cimport WIDTH
from envs_c.valid cimport all_between, between


cdef inline bint has_phase(const Seaquest* game) noexcept nogil:
    """True if the steps that are left and the oxygen belong to the phase."""
    if game.phase == DIES:
        return between(game.sinks, 1, SINKS) and (game.sinks > EMPTIED or game.oxygen == 0)
    if game.sinks != 0:
        return False
    if game.phase == PLAYS:
        return game.oxygen >= 1
    if game.phase == FILLS:
        return game.oxygen < TANK and game.y == SURFACE and all_between(game.alive, LANES, 0, 0)
    return game.y == SURFACE


cdef inline bint has_lanes(const Seaquest* game) noexcept nogil:
    return (all_between(game.x, LANES, FROM_LEFT, FROM_RIGHT) and all_between(game.guest, LANES, 0, WIDTH - 1)
            and all_between(game.alive, LANES, 0, 7) and all_between(game.right, LANES, 0, 1)
            and all_between(game.sub, LANES, 0, 1) and all_between(game.diver, LANES, 0, SAVED)
            and all_between(game.pose, LANES, 0, 2) and all_between(game.chased, LANES, 0, 1))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if submarine, lanes and counts can be those of one game."""
    cdef const Seaquest* game = <const Seaquest*>state
    return (game.rules == rules_of(options) and between(game.score, 0, MOST_POINTS)
            and between(game.lives, 1 - over, MOST_LIVES) and game.oxygen <= TANK and game.crew <= CREW
            and game.rescues <= BYTE and game.pace <= BYTE
            and between(game.x_ship, LEFT_END, RIGHT_END) and between(game.y, SURFACE, SEA_FLOOR)
            and between(game.torpedo, 0, WIDTH - 1) and between(game.patrol, 0, 255) and game.frame < FRAMES
            and game.phase <= COUNTS and game.facing <= 1 and game.torpedo_right <= 1 and game.stroke <= 2
            and game.tint <= 7 and game.sway <= 7
            and game.enemy_part < 16 and game.diver_part < 16 and game.shot_part < 16 and has_lanes(game) and has_phase(game))
