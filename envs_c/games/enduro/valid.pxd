"""The check of a restored game of Enduro."""

from envs_c.games.enduro.rules cimport (
    CRASH, DAY, FASTEST, FIRST_QUOTA, FULL, IN_RIGHT, LEFT_EDGE, MOST_ROLLS, NOBODY, PHASE, QUOTA, RIGHT_EDGE, SLIDE, SLOTS,
    SLOWEST, WAY, Enduro)
from envs_c.valid cimport between


cdef inline bint has_cars(const Enduro* game) noexcept nogil:
    """True if each slot is empty or has a car with a lane and a hue."""
    cdef int k
    for k in range(SLOTS):
        if game.slot[k] != NOBODY and not (game.slot[k] & IN_RIGHT and between(game.slot[k], 4, 63)):
            return False
    return True


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if day, car, road and traffic are in their ranges."""
    cdef const Enduro* game = <const Enduro*>state
    return (between(game.odometer, 0, WAY - 1) and between(game.day, 1, 9999) and between(game.frame, 0, DAY - 1)
            and between(game.left, 0, FIRST_QUOTA if game.day == 1 else QUOTA)
            and between(game.speed, SLOWEST, FASTEST) and between(game.x, RIGHT_EDGE, LEFT_EDGE)
            and between(game.phase, 0, PHASE - 1) and between(game.road, 0, SLOTS * PHASE - 1)
            and between(game.bend, -FULL, FULL) and (game.toward == 0 or game.toward == FULL or game.toward == -FULL)
            and between(game.rolls, 1, MOST_ROLLS) and between(game.hills, 0, 160 * 32 - 1)
            and between(game.crash, 0, CRASH) and (game.slide == 0 or game.slide == SLIDE or game.slide == -SLIDE)
            and has_cars(game))
