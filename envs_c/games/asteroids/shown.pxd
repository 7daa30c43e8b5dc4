"""What the picture of Asteroids shows.

The cartridge draws a frame after everything has moved, and then looks for hits, breaks rocks and lets ships come back. It
shows rocks in odd frames and all else in even ones; a picture is the brighter one of two frames. Score and lives are in both.
"""

from libc.stdint cimport uint32_t

from envs_c.games.asteroids.picture cimport (
    EXPLOSION, FIELD_HIGH, LOWER_PART, SHIP, SHOT, UFO, UPPER_PART, Figures, draw_above, place)
from envs_c.games.asteroids.rocks cimport edge
from envs_c.games.asteroids.rules cimport (
    BURST, COLOUR, DRIFT, HIGH, LEFTWARD, NONE, NO_UFO, ONE, SINKS, SIZE, SLOTS, STILL_ROCKS, Asteroids, drifted, ship_x)
from envs_c.screen cimport Canvas


cdef enum:
    LARGE_LINE = 6, ROCK_LINE = 4   # pixels from a rock's line to the first row of its picture
    HALF_OUT = -2 * ONE  # y of a ship above which its line in the field's first row is not shown
    LAST_UFO_LINE = 83  # the cartridge shows UFOs up to here on the field
    PINK = 0xF08080, BLUE = 0x75B5EF, LIME = 0xCCD86E

cdef extern from *:
    """
    static const unsigned COLOURS[8] = {
        0xD6D6D6, 0xB83232, 0x75B5EF, 0xBBBB35, 0xB47A30, 0xB846A2, 0x6848C6, 0x88923E};
    """
    const uint32_t[8] COLOURS


cdef inline void note_rocks(Asteroids* game) noexcept nogil:
    """Note what an odd frame shows."""
    cdef int slot
    for slot in range(SLOTS):
        game.rocks_seen[slot] = NONE - game.kind[slot]


cdef inline void note_ship(Asteroids* game) noexcept nogil:
    """Note what an even frame shows."""
    game.ship_seen = 0 if game.hidden else 1 + game.blast
    game.shots_seen = (game.shot_life[0] > 0) | (game.shot_life[1] > 0) << 1 | (game.shot_life[2] > 0) << 2
    game.ufo_seen = 0 if game.ufo_y == NO_UFO else 1 + game.ufo_timer // BURST if game.ufo_timer >= BURST else 1
    game.ufo_seen_x, game.ufo_seen_y = game.ufo_x, game.ufo_y


cdef inline void note_numbers(Asteroids* game) noexcept nogil:
    """Note the lives that a frame shows; no points have been gained in it yet."""
    game.gains[1], game.gains[0] = game.gains[0], 0
    game.lives_seen[1], game.lives_seen[0] = game.lives_seen[0], game.lives + 1


cdef inline int score_seen(const Asteroids* game, int ago) noexcept nogil:
    """The score / 10 that the last frame shows, or the one before it."""
    cdef int score = game.score // 10 - game.gains[0] - (game.gains[1] if ago else 0)
    return score if score > 0 else 0


cdef inline int lives_seen(const Asteroids* game, int ago) noexcept nogil:
    """The lives that the last frame shows, or the one before it."""
    return game.lives_seen[ago] - 1 if game.lives_seen[ago] else game.lives


# --- the field --------------------------------------------------------------------------------------------------------

cdef inline int late_rock(const Asteroids* game) noexcept nogil:
    """The rock that the picture shows before it drifted, if the rocks have just drifted: the highest that climbs; or -1."""
    cdef int slot, kind, line, found = -1, highest = HIGH
    if game.drift < DRIFT or game.rules & STILL_ROCKS:
        return -1
    for slot in range(SINKS):
        kind = NONE - game.rocks_seen[slot]
        if kind != NONE:
            line = game.rock_y[slot] - (HIGH if game.rock_y[slot] >= edge(kind & SIZE) else 0)
            if line < highest:
                found, highest = slot, line
    return found


cdef inline void place_others(const Asteroids* game, Figures* figures, Canvas* canvas) noexcept nogil:
    """Add ship, shots and UFO."""
    cdef int i
    cdef uint32_t ufo_colour = LIME if game.ufo_small else BLUE  # also that of the ship's first shot
    if game.ship_seen > 1:
        place(figures, EXPLOSION + 2 - (game.ship_seen - 2) // 2, ship_x(game), -1, game.y >> 7, PINK, game.y < HALF_OUT)
    elif game.ship_seen:
        place(figures, SHIP + game.way, ship_x(game), -1, game.y >> 7, PINK, game.y < HALF_OUT)
    for i in range(3):
        if game.shots_seen >> i & 1 and game.shot_y[i] < HIGH:
            place(figures, SHOT, game.shot_x[i], 1, 2 * game.shot_y[i] - 1, PINK if i else ufo_colour)
            if game.shot_y[i] == 0:
                draw_above(canvas, game.shot_x[i], PINK if i else ufo_colour)
    if game.ufo_seen and game.ufo_seen_y <= LAST_UFO_LINE:
        if game.ufo_seen > 1:
            place(figures, EXPLOSION - 2 + game.ufo_seen, game.ufo_seen_x, -1, 2 * game.ufo_seen_y + 2, ufo_colour)
        else:
            place(figures, UFO + game.ufo_small, game.ufo_seen_x, game.ufo_small - 1, 2 * game.ufo_seen_y + 2, ufo_colour)


cdef inline void place_rocks(const Asteroids* game, Figures* figures) noexcept nogil:
    """Add the rocks. One that reaches across the lower edge is in two parts there if one of them is late."""
    cdef int i, kind, size, x, y, cut, late = late_rock(game)
    for i in range(SLOTS):
        kind = NONE - game.rocks_seen[i]
        if kind != NONE:
            size = kind >> 4 & 7
            cut = (i >= SINKS) if game.rock_y[i] >= edge(kind & SIZE) else UPPER_PART
            y = 2 * game.rock_y[i] + (LARGE_LINE if size < 2 else ROCK_LINE) + (i >= SINKS)
            if i != late:
                place(figures, size, game.rock_x[i], -(size > 1), y, COLOURS[kind & COLOUR], cut)
                continue
            x = drifted(game.rock_x[i], not kind & LEFTWARD)
            if cut == UPPER_PART or y >= FIELD_HIGH:
                place(figures, size, x, -(size > 1), y, COLOURS[kind & COLOUR], cut)
                continue
            place(figures, size, x, -(size > 1), y, COLOURS[kind & COLOUR], LOWER_PART)
            place(figures, size, game.rock_x[i], -(size > 1), y, COLOURS[kind & COLOUR], UPPER_PART)
