"""Rocks of Asteroids: waves, movement, pieces."""

from libc.stdint cimport uint8_t

from envs_c.games.asteroids.rules cimport (
    BROKEN, COLOUR, DRIFT, ENTRIES, HIGH, LEFTWARD, MANY, MEDIUM, MORE, NONE, SINKS, SIZE, SLOTS, SMALL, WHOLE_ROCKS, Asteroids,
    draw, drifted, far_x)


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
    for slot in range(SINKS):
        game.rock_y[slot] = game.rock_y[slot] - 1 if game.rock_y[slot] > 0 else HIGH - 1
    for slot in range(SINKS, SLOTS):
        game.rock_y[slot] = game.rock_y[slot] + 1 if game.rock_y[slot] < HIGH - 1 else 0
    if game.drift < DRIFT:
        return
    for slot in range(SLOTS):
        game.rock_x[slot] = drifted(game.rock_x[slot], game.kind[slot] & LEFTWARD)
