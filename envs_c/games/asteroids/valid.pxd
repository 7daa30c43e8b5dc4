"""The check of a restored game of Asteroids."""

from envs_c.games.asteroids.rules cimport (
    BLAST, BROKEN, BURST, BURST_END, DRIFT, END_Y, FAST, FIRST_X, HIGH, LAST_X, LIFE, MOST_LIVES, NONE, NO_UFO, NUMBERS, ONE,
    POINTS_END, REST, ROUND, SLOTS, TOP_Y, UFOS, UFO_DOWN, UFO_LEFT, UFO_LIFE, UFO_SHOT, UFO_UP, Asteroids, rules_of)
from envs_c.valid cimport all_between, between


cdef inline bint has_rocks(const Asteroids* game) noexcept nogil:
    """True if all rocks are on the field, and the counts are those of the slots."""
    cdef int slot, rocks = 0, broken = 0
    for slot in range(SLOTS):
        if game.kind[slot] != NONE:
            if game.kind[slot] >= 2 * BROKEN:
                return False
            rocks += 1
            broken += (game.kind[slot] & BROKEN) != 0
    return (game.rocks == rocks and game.broken == broken
            and all_between(game.rock_x, SLOTS, FIRST_X, LAST_X) and all_between(game.rock_y, SLOTS, 0, HIGH - 1))


cdef inline bint has_shots(const Asteroids* game) noexcept nogil:
    cdef int shot
    for shot in range(UFO_SHOT):
        if game.shot_way[shot] > 15 or game.shot_life[shot] > LIFE[game.shot_way[shot]]:
            return False
    return (game.shot_way[UFO_SHOT] <= 15 and game.shot_life[UFO_SHOT] <= UFO_LIFE[game.shot_way[UFO_SHOT]]
            and all_between(game.shot_x, 3, FIRST_X, LAST_X) and all_between(game.shot_y, 2, 0, HIGH - 1))


cdef inline bint has_ufo(const Asteroids* game) noexcept nogil:
    """True if UFO and timer are as they can be; without the option there is none."""
    if not game.rules & UFOS and (game.ufo_y != NO_UFO or game.ufo_timer or game.ufo_burst or game.ufo_small
                                  or game.shot_life[UFO_SHOT]):
        return False
    return (between(game.ufo_x, FIRST_X, LAST_X) and game.ufo_course <= (UFO_LEFT | UFO_UP | UFO_DOWN) and game.ufo_small <= 1
            and game.ufo_burst <= 1
            and (game.ufo_y == NO_UFO or (game.ufo_timer < BURST_END and game.ufo_timer % BURST == 0)))


cdef inline bint has_shown(const Asteroids* game) noexcept nogil:
    """True if what the picture shows can be drawn."""
    return (game.ship_seen <= 1 + BLAST and game.shots_seen < 8 and game.ufo_seen <= BURST_END // BURST
            and (game.ufo_seen == 0 or (between(game.ufo_seen_x, FIRST_X, LAST_X) and game.ufo_seen_y < HIGH))
            and game.lives_seen[0] <= MOST_LIVES + 1 and game.lives_seen[1] <= MOST_LIVES + 1)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if ship, shots, rocks and UFO are on the field and all counts are in their ranges."""
    cdef const Asteroids* game = <const Asteroids*>state
    return (game.rules == rules_of(options)
            and between(game.x, (FIRST_X - 1) * ONE + 1, LAST_X * ONE) and between(game.y, TOP_Y * ONE, END_Y * ONE - 1)
            and between(game.score, 0, POINTS_END - 1)
            and between(game.vx, -FAST, FAST - 1) and between(game.vy, -FAST, FAST - 1)
            and between(game.lives, 1 - over, MOST_LIVES) and game.way < 16
            and between(game.drift, 1, DRIFT) and game.blast <= BLAST and game.hidden <= REST
            and not (game.blast and game.hidden) and game.fired <= 1 and game.dived <= 1 and game.watch < ROUND
            and game.numbers & NUMBERS and has_shots(game) and has_rocks(game) and has_ufo(game)
            and has_shown(game))
