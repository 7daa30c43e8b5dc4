"""Collisions in Seaquest and their effects. The rules are in prose in seaquest.pyx."""

from libc.string cimport memset

from envs_c.games.seaquest.rules cimport (
    COPIES, CREW, GAP, LANES, LANE_Y, NOBODY, PITCH, SAVED, SHARK_ROWS, SHIP, SHIP_ROWS, SHIP_Y, SHOT_ROW, SPRITE, SURFACE,
    TORPEDO_ROW, Seaquest, begin_death, bob, enemy_points, lane_y, score, send_wave)
from envs_c.rng cimport Rng, rng_next


cdef inline int copy_at(const Seaquest* game, int lane, int x, int width) noexcept nogil:
    """The bit of an enemy of the lane that shares a column with x .. x + width - 1, or 0."""
    cdef int copy, away
    for copy in range(COPIES):
        away = game.x[lane] + GAP * copy - x
        if -SPRITE < away < width and game.alive[lane] & (4 >> copy):
            return 4 >> copy
    return 0


cdef inline float lose_copy(Seaquest* game, int lane, int bit, Rng* rng) noexcept nogil:
    """Remove the enemy with this bit, and send the next wave if it was the last; returns the points."""
    game.alive[lane] &= ~bit
    if game.alive[lane] == 0 and not (game.sub[lane] and game.guest[lane] > 0):
        send_wave(game, lane, False, rng_next(rng))
    return score(game, enemy_points(game))


cdef inline float hit_enemies(Seaquest* game, Rng* rng) noexcept nogil:
    """Let the torpedo hit an enemy of the only lane whose rows it can meet; returns the points."""
    cdef int row = game.y + TORPEDO_ROW, lane = (LANE_Y + PITCH - 1 - row) // PITCH, above, bit
    lane = min(max(lane, 0), LANES - 1)
    above = row - lane_y(lane)
    if game.sub[lane]:
        above -= 3
    else:
        above -= bob(game)
    if game.torpedo == 0 or above < 0 or above >= (SHIP_ROWS - 1 if game.sub[lane] else SHARK_ROWS):
        return 0.0
    bit = copy_at(game, lane, game.torpedo + 1, SPRITE)
    if bit == 0:
        return 0.0
    game.torpedo = 0
    return lose_copy(game, lane, bit, rng)


cdef inline float touch_lane(Seaquest* game, int lane, Rng* rng) noexcept nogil:
    """Let the submarine touch shot, diver and enemies of a lane; returns the points."""
    cdef int above = game.y + SHIP_Y - lane_y(lane), away = game.guest[lane] - game.x_ship, top, bit
    cdef bint dead = False
    cdef float points = 0.0
    if game.guest[lane] > 0 and -SPRITE < away < SHIP:
        if game.sub[lane]:
            if away < SHIP - 2 and SHOT_ROW - SHIP_ROWS + 1 < above <= SHOT_ROW + 3:
                game.guest[lane] = 0
                dead = True
        elif game.crew < CREW and -6 < away and -9 < above < 10:
            game.guest[lane] = 0
            game.diver[lane] = SAVED
            game.crew += 1
            if game.diver[0] == game.diver[1] == game.diver[2] == game.diver[3] == SAVED:
                memset(game.diver, NOBODY, sizeof(game.diver))
    top = 3 if game.sub[lane] else bob(game)
    if top - SHIP_ROWS + (1 if game.sub[lane] else 2) < above < top + (SHIP_ROWS - 1 if game.sub[lane] else SHARK_ROWS):
        bit = copy_at(game, lane, game.x_ship, SHIP)
        if bit:
            points = lose_copy(game, lane, bit, rng)
            dead = True
    if dead:
        begin_death(game)
    return points


cdef inline float touch(Seaquest* game, Rng* rng) noexcept nogil:
    """Let the submarine touch the patrol, or things in the only lane that it can reach; returns the points."""
    cdef int lane = (LANE_Y + PITCH - SHIP_ROWS + 1 - game.y - SHIP_Y) // PITCH, away
    if game.patrol > 0 and game.y <= SURFACE + 1:
        away = game.patrol - 1 - game.x_ship
        if -SPRITE < away < SHIP:
            begin_death(game)
            return 0.0
    return touch_lane(game, min(max(lane, 0), LANES - 1), rng)
