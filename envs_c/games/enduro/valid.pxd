"""The check of a restored game of Enduro."""

from envs_c.games.enduro.state cimport (
    AT_EDGE, COMING, DAY, FASTEST, FIRST_QUOTA, HILLS, HIT, LEFT_BEND, MOST_LEFT, NO_BEND, QUOTA, REST, RIGHT_BEND, ROUND,
    SLIDING_RIGHT, SLOTS, SLOWEST, WAY, WIDEST, Enduro, Race, changes_of)
from envs_c.valid cimport between


cdef inline bint has_bend(int bend) noexcept nogil:
    """True if both bends are known ones, and another one comes up in 1 to COMING steps or is there."""
    cdef int old = bend >> 6, new = bend >> 4 & 3, left = bend & 15
    if (old != NO_BEND and old != LEFT_BEND and old != RIGHT_BEND) or (
            new != NO_BEND and new != LEFT_BEND and new != RIGHT_BEND):
        return False
    return between(left, 1, COMING) if old != new else left == 0


cdef inline bint has_crash(int crash) noexcept nogil:
    """True if the car is under control, has hit a car, or is at the edge."""
    return crash == 0 or ((crash & (HIT | AT_EDGE) == HIT or crash & (HIT | AT_EDGE) == AT_EDGE) and not crash & 32)


cdef inline bint valid_race(const Race* race, int changes) noexcept nogil:
    """True if a race under these changes of the rules can be so."""
    cdef int k
    for k in range(SLOTS):
        if race.slot[k] and race.slot[k] & 14 != 6:
            return False
    return (between(race.odometer, 0, WAY - 1) and between(race.day, 1, 9999) and between(race.frame, 0, DAY - 1)
            and between(race.left, 0, FIRST_QUOTA if race.day == 1 else QUOTA if race.day < ROUND else MOST_LEFT)
            and between(race.speed, SLOWEST, FASTEST)
            and between(race.x, -WIDEST, WIDEST) and has_bend(race.bend) and between(race.hills, 0, HILLS - 1)
            and has_crash(race.crash) and between(race.rest, 0, REST) and race.changes == changes)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if day, car, road and traffic are in their ranges, now and a frame ago."""
    cdef const Enduro* game = <const Enduro*>state
    return valid_race(&game.now, changes_of(options)) and valid_race(&game.shown, changes_of(options))
