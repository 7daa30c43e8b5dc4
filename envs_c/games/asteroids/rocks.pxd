"""Rocks of Asteroids: waves, movement, hits, pieces."""

from libc.stdint cimport uint8_t

from envs_c.games.asteroids.rules cimport (
    BEYOND, BLAST, BROKEN, COLOUR, DRIFT, ENTRIES, FIRST_X, HIGH, LAST_X, LEFTWARD, MANY, MEDIUM, MORE, NONE, PALER, POINTS,
    SEAM, SINKS, SIZE, SLOTS, SMALL, THE_SHIP, WATCH, WHOLE_ROCKS, Asteroids, draw, far_x, is_here, met_at, ship_x)


cdef inline int edge(int size) noexcept nogil:
    """The first line in which a rock reaches across the lower edge: it is then in the cartridge's list twice."""
    return 86 if size == SMALL else 83 if size == MEDIUM else 75


cdef inline void put_rock(Asteroids* game, int first, int x, int y, int kind) noexcept nogil:
    """Put a rock into a free slot of the eight from `first` on."""
    cdef int slot
    for slot in range(first, first + SINKS):
        if game.kind[slot] == NONE:
            game.rock_x[slot] = <uint8_t>x
            game.rock_y[slot] = <uint8_t>(y if y < HIGH else y - HIGH)
            game.kind[slot] = <uint8_t>kind
            game.rocks += 1
            return


cdef inline void begin_wave(Asteroids* game) noexcept nogil:
    cdef int i, half, row, bits, x, left
    for i in range(8):
        half = i >> 2
        row = i & 3
        if (row == 1 and game.score < (MANY if half else MORE)) or (row == 2 and game.score < (MORE if half else MANY)):
            continue
        bits = draw(game)
        if row == 0 or row == 3:
            x = far_x(bits >> 1, bits >> 5)
        else:
            left = 2 * (bits >> 5 & 7)
            x = 157 - (left if left < 8 else left - 16)
            bits = draw(game)
        put_rock(game, half * SINKS, x, 1 if row == 0 else 21 * row, bits & 31)


cdef inline int entries(const Asteroids* game, int first) noexcept nogil:
    """The number of rocks in the eight slots from `first` on; those that reach across the lower edge count twice."""
    cdef int slot, number = 0
    for slot in range(first, first + SINKS):
        if game.kind[slot] != NONE:
            number += 2 if game.rock_y[slot] >= edge(game.kind[slot] & SIZE) else 1
    return number


cdef inline void split_rocks(Asteroids* game) noexcept nogil:
    """Break the rocks that were hit in the last frame."""
    cdef int slot, kind, drift
    game.broken = 0
    for slot in range(SLOTS):
        kind = game.kind[slot]
        if kind == NONE or not kind & BROKEN:
            continue
        if kind & SIZE == SMALL or game.rules & WHOLE_ROCKS:
            game.kind[slot] = NONE
            game.rocks -= 1
        elif kind & SIZE == MEDIUM:
            game.kind[slot] = <uint8_t>(SMALL | (draw(game) & (COLOUR | LEFTWARD)))
        else:
            game.kind[slot] = <uint8_t>(MEDIUM | (draw(game) & (COLOUR | LEFTWARD)))
            drift = ~game.kind[slot] & LEFTWARD
            if entries(game, slot & SINKS) < ENTRIES:
                put_rock(game, slot & SINKS, game.rock_x[slot], game.rock_y[slot] + 10,
                         MEDIUM | (draw(game) & COLOUR) | drift)


cdef inline void move_rocks(Asteroids* game) noexcept nogil:
    """Move all rocks, in an odd frame. `drift` has been counted."""
    cdef long slot
    cdef uint8_t x
    for slot in range(SINKS):
        game.rock_y[slot] = game.rock_y[slot] - 1 if game.rock_y[slot] > 0 else HIGH - 1
    for slot in range(SINKS, SLOTS):
        game.rock_y[slot] = game.rock_y[slot] + 1 if game.rock_y[slot] < HIGH - 1 else 0
    if game.drift < DRIFT:
        return
    for slot in range(SLOTS):
        x = game.rock_x[slot]
        if game.kind[slot] & LEFTWARD:
            game.rock_x[slot] = LAST_X if x == FIRST_X else SEAM if x == BEYOND else x - 1
        else:
            game.rock_x[slot] = FIRST_X if x == LAST_X else BEYOND if x == SEAM else x + 1


# --- hits ------------------------------------------------------------------------------------------------------------

cdef inline int hit_rock(Asteroids* game, int x, int y, int breadth, int above) noexcept nogil:
    """Break the first rock hit by a thing `breadth` pixels wide at (x, y), `above` lines deep below y. Returns points or 0.

    y: a line, -5 .. 88. A rock that reaches across the lower edge is also met 89 lines higher. The first is the highest of
    those that climb, then of those that sink.
    """
    cdef uint8_t left = met_at(<uint8_t>x), top = <uint8_t>y, at, dx, dy, size, wide, high, low, reach, meets, key
    cdef uint8_t first = SLOTS, best = NONE
    cdef uint8_t[SLOTS] met
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
        first = min(first, <uint8_t>slot if meets else <uint8_t>SLOTS)
    if first == SLOTS:
        return 0
    for slot in range(first, SLOTS):
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


cdef inline int meet_rocks(Asteroids* game, bint there) noexcept nogil:
    """Compare the next of ship and shots with the rocks; returns the points of the rock that is hit, or 0.

    there: the ship, or its explosion, was on the field in this frame and the one before.
    """
    cdef int _try, who, points = 0
    if not (there or game.shot_life[0] or game.shot_life[1]):
        return 0
    for _try in range(8):
        game.watch = (game.watch + 1) & 7
        who = WATCH[game.watch]
        if who == THE_SHIP:
            if is_here(game):
                points = hit_rock(game, ship_x(game), game.y >> 8, 6, 2)
                if points:
                    game.blast = BLAST
            return points
        elif game.shot_life[who] > 0:
            points = hit_rock(game, game.shot_x[who], game.shot_y[who], 4, 0)
            if points:
                game.shot_life[who] = 0
            return points
    return 0
