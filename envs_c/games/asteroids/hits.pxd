"""Hits in Asteroids: ship, shots and UFO are compared with the rocks and with each other."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from envs_c.games.asteroids.rules cimport (
    BEYOND, BLAST, BROKEN, HIGH, MEDIUM, NONE, NO_UFO, PALER, POINTS, ROUND, SINKS, SIZE, SLOTS, SMALL, THE_SHIP, THE_UFO,
    UFOS, UFO_SHOT, WATCH, Asteroids, is_here, met_at, ship_x)


cdef extern from *:
    """
    // Filled by lay_out_watch: the next place in WATCH, by the bits of the things that fly and the present place. Bits 0 to 2:
    // shots, bit 3: the UFO.
    static unsigned char NEXT[16][12];
    """
    uint8_t[16][ROUND] NEXT


cdef inline int hit_rock(Asteroids* game, int x, int y, int breadth, int above) noexcept nogil:
    """Break the first rock hit by a thing `breadth` pixels wide at (x, y), `above` lines deep below y. Returns points or 0.

    y: a line, -5 .. 88. A rock that reaches across the lower edge is also met 89 lines higher. The first is the highest of
    those that climb, then of those that sink.
    """
    cdef uint8_t left = met_at(<uint8_t>x), top = <uint8_t>y, at, dx, dy, size, wide, high, low, reach, meets, key
    cdef uint8_t first = SLOTS, best = NONE
    cdef uint8_t[SLOTS] met
    cdef uint64_t[2] any_met
    cdef long slot
    cdef bint lies_low  # met at its own line, not 89 lines higher
    for slot in range(SLOTS):  # bytes, without branches: so the compiler takes 16 slots at once
        size = game.kind[slot] & SIZE
        wide = 4 if size == SMALL else 8 if size == MEDIUM else 16
        high = 6 if size == SMALL else 9 if size == MEDIUM else 15
        low = 86 if size == SMALL else 83 if size == MEDIUM else 75  # as in `edge`
        at = game.rock_x[slot]
        dx = <uint8_t>(at - left + (2 if at < BEYOND else 0))
        dy = <uint8_t>(game.rock_y[slot] - top + high)
        reach = <uint8_t>(high + above)
        meets = (((dx < <uint8_t>breadth) | (dx > <uint8_t>(256 - wide)))
                 & ((dy <= reach) | ((<uint8_t>(dy - HIGH) <= reach) & (game.rock_y[slot] >= low)))
                 & ((game.kind[slot] & BROKEN) == 0))  # NONE has this bit, too
        met[slot] = meets
    memcpy(any_met, met, SLOTS)
    if (any_met[0] | any_met[1]) == 0:
        return 0
    for slot in range(SLOTS):
        if met[slot]:
            size = game.kind[slot] & SIZE
            high = 6 if size == SMALL else 9 if size == MEDIUM else 15
            lies_low = <uint8_t>(game.rock_y[slot] - top + high) <= <uint8_t>(high + above)
            key = <uint8_t>(game.rock_y[slot] + (15 if lies_low else 15 - HIGH) + (128 if slot >= SINKS else 0))
            if key < best:
                best = key
                first = <uint8_t>slot
    size = game.kind[first] >> 4
    game.kind[first] |= BROKEN | PALER
    game.broken += 1
    return POINTS[size]


cdef inline int hit_ufo(Asteroids* game, int x, int y, int breadth, int above) noexcept nogil:
    """Let the UFO explode if a thing `breadth` pixels wide at (x, y), `above` lines deep below y, hits it. Returns points."""
    cdef int away, wide = 5 if game.ufo_small else 7, high = 4 if game.ufo_small else 6
    if game.ufo_y == NO_UFO or game.ufo_burst:
        return 0
    away = met_at(game.ufo_x) - met_at(<uint8_t>x)
    if not (-wide < away < breadth and <uint8_t>(game.ufo_y - y + high) <= high + above):
        return 0
    game.ufo_burst = 1
    return 1000 if game.ufo_small else 200


cdef inline bint ship_meets(const Asteroids* game, int x, int y) noexcept nogil:
    """Whether a UFO's shot at (x, y) hits the ship."""
    cdef int away = met_at(<uint8_t>ship_x(game)) - met_at(<uint8_t>x)
    return is_here(game) and -5 < away < 4 and <uint8_t>((game.y >> 8) - y + 4) <= 7


cdef inline void meet_foe(Asteroids* game, int who) noexcept nogil:
    """Compare the UFO with rocks, or its shot with rocks and the ship."""
    cdef int x = game.shot_x[UFO_SHOT], y = game.shot_y[UFO_SHOT], small = game.ufo_small
    if who == THE_UFO:
        if not game.ufo_burst and hit_rock(game, game.ufo_x, game.ufo_y, 6 if small else 8, 2 if small else 4):
            game.ufo_burst = 1
    elif hit_rock(game, x, y, 4, 0):
        game.shot_life[UFO_SHOT] = 0
    elif ship_meets(game, x, y):
        game.shot_life[UFO_SHOT] = 0
        game.blast = BLAST


cdef inline int meet(Asteroids* game, bint there) noexcept nogil:
    """Compare the next of ship, shots and UFO with what it can hit; returns the points for it.

    there: the ship, or its explosion, was on the field in this frame and the one before.
    """
    cdef int flying = (game.shot_life[0] > 0) | (game.shot_life[1] > 0) << 1, who, x, y, points
    cdef bint ship
    if game.rules & UFOS:
        flying |= (game.shot_life[UFO_SHOT] > 0) << 2 | (game.ufo_y != NO_UFO) << 3
    if not (there or flying):
        return 0
    game.watch = NEXT[flying][game.watch]
    who = WATCH[game.watch]
    ship = who == THE_SHIP
    if flying > 3 and (who == UFO_SHOT or who == THE_UFO):
        meet_foe(game, who)
        return 0
    if ship and not is_here(game):
        return 0
    x = ship_x(game) if ship else game.shot_x[who & 1]
    y = game.y >> 8 if ship else game.shot_y[who & 1]
    points = hit_rock(game, x, y, 6 if ship else 4, 2 if ship else 0)
    if points == 0 and flying & 8:
        points = hit_ufo(game, x, y, 6 if ship else 4, 5 if ship else 3)
    if points and ship:
        game.blast = BLAST
    elif points:
        game.shot_life[who] = 0
    return points


cdef inline void lay_out_watch() noexcept nogil:
    cdef int flying, watch, who, after
    for flying in range(16):
        for watch in range(ROUND):
            after = (watch + 1) % ROUND
            while WATCH[after] != THE_SHIP:  # its turn always comes
                who = WATCH[after]
                if flying & (8 if who == THE_UFO else 1 << who):
                    break
                after = (after + 1) % ROUND
            NEXT[flying][watch] = <uint8_t>after
