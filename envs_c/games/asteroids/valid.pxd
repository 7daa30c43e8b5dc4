"""The check of a restored game of Asteroids."""

from envs_c.games.asteroids.rules cimport (
    BLAST, BROKEN, DRIFT, END_Y, FAST, FIRST_X, HIGH, LAST_X, LIFE, MOST_LIVES, NONE, NUMBERS, ONE, POINTS_END, REST, SLOTS,
    TOP_Y, Asteroids, rules_of)
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
    for shot in range(2):
        if game.shot_way[shot] > 15 or game.shot_life[shot] > LIFE[game.shot_way[shot]]:
            return False
    return all_between(game.shot_x, 2, FIRST_X, LAST_X) and all_between(game.shot_y, 2, 0, HIGH - 1)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if ship, shots and rocks are on the field and all counts are in their ranges."""
    cdef const Asteroids* game = <const Asteroids*>state
    return (game.rules == rules_of(options)
            and between(game.x, (FIRST_X - 1) * ONE + 1, LAST_X * ONE) and between(game.y, TOP_Y * ONE, END_Y * ONE - 1)
            and between(game.score, 0, POINTS_END - 1)
            and between(game.vx, -FAST, FAST - 1) and between(game.vy, -FAST, FAST - 1)
            and between(game.lives, 1 - over, MOST_LIVES) and game.way < 16 and game.frame < 4
            and between(game.drift, 1, DRIFT) and game.blast <= BLAST and game.hidden <= REST
            and not (game.blast and game.hidden) and game.fired <= 1 and game.dived <= 1 and game.watch < 8
            and game.numbers & NUMBERS and has_shots(game) and has_rocks(game))
