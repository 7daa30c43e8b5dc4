"""The features of Asteroids, which asteroids.pyx describes."""

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from envs_c.games.asteroids.rules cimport (
    BLAST, HIGH, LEFTWARD, NONE, PUSH_X, PUSH_Y, REST, SINKS, SLOTS, UFOS, UFO_DOWN, UFO_LEFT, UFO_SHOT, UFO_UP, WIDE,
    Asteroids, is_here, ship_line, ship_x)
from envs_c.games.asteroids.ship cimport shot_speed


cdef enum:
    SHIP_FEATURES = 13, SHOT_FEATURES = 6, ROCK_FEATURES = 9, NEAREST = 8
    FEATURES = 97   # SHIP_FEATURES + 2 * SHOT_FEATURES + NEAREST * ROCK_FEATURES
    UFO_FEATURES = 12   # the UFO, then its shot; only if UFOs can come
    FAR = 1 << 30   # sorts empty slots behind all rocks


cdef inline void observe_rocks(const Asteroids* game, float* features) noexcept nogil:
    """Write the features of the nearest rocks. Distance is between the middles of rock and ship."""
    cdef int32_t[SLOTS] dx, dy, kind, order, rank
    cdef float[ROCK_FEATURES][SLOTS] seen
    cdef uint8_t[SLOTS] slots
    cdef long slot, other, k
    cdef int x = ship_x(game) + 3, y = ship_line(game) + 2, across, down, size, breadth, rock
    cdef float far, inverse, ahead_x = -PUSH_X[game.way] * <float>(1.0 / 127), ahead_y = PUSH_Y[game.way] * <float>(1.0 / 127)
    for slot in range(SLOTS):  # all slots, also empty ones, in 32-bit integers, so that the compiler uses vectors
        dx[slot] = game.rock_x[slot] - x
        dy[slot] = game.rock_y[slot] - y
        kind[slot] = game.kind[slot]
        rank[slot] = 0
    for slot in range(SLOTS):
        size = kind[slot] & 48
        breadth = 4 if size == 48 else 8 if size == 32 else 16
        across = dx[slot] + (breadth >> 1)
        down = dy[slot] + (4 if size == 48 else 5 if size == 32 else 9)
        across = across - WIDE if across > WIDE // 2 else across + WIDE if across < -WIDE // 2 else across
        down = down - HIGH if down > HIGH // 2 else down + HIGH if down < -HIGH // 2 else down
        order[slot] = (FAR if kind[slot] == NONE else (across * across + 4 * down * down) * SLOTS) + <int>slot
        far = sqrtf(across * across + 4 * down * down)
        inverse = 1 / (far + 1)
        seen[0][slot] = 1
        seen[1][slot] = across * <float>(1.0 / 40)
        seen[2][slot] = 2 * down * <float>(1.0 / 44)
        seen[3][slot] = (across * ahead_x + 2 * down * ahead_y) * inverse
        seen[4][slot] = (2 * down * ahead_x - across * ahead_y) * inverse
        seen[5][slot] = 24 / (far + 12)
        seen[6][slot] = 1 - ((kind[slot] & LEFTWARD) >> 2)
        seen[7][slot] = 1 if slot >= SINKS else -1
        seen[8][slot] = breadth * <float>(1.0 / 8) - 1
    for other in range(SLOTS):
        for slot in range(SLOTS):
            rank[slot] += order[other] < order[slot]
    for slot in range(SLOTS):
        slots[rank[slot]] = <uint8_t>slot
    for rock in range(min(game.rocks, NEAREST)):
        for k in range(ROCK_FEATURES):
            features[k] = seen[k][slots[rock]]
        features += ROCK_FEATURES


cdef inline void observe_place(int dx, int dy, float* features) noexcept nogil:
    """Write 1 and the way from the ship to a thing that is dx pixels to the right and dy lines below."""
    features[0] = 1
    features[1] = (dx - WIDE if dx > WIDE // 2 else dx + WIDE if dx < -WIDE // 2 else dx) * <float>(1.0 / 40)
    features[2] = (dy - HIGH if dy > HIGH // 2 else dy + HIGH if dy < -HIGH // 2 else dy) * <float>(1.0 / 22)


cdef inline void observe_shot(const Asteroids* game, int shot, int x, int y, float* features) noexcept nogil:
    """Write the features of a shot that flies, as seen from (x, y)."""
    cdef int dx, dy
    observe_place(game.shot_x[shot] - x, game.shot_y[shot] - y, features)
    shot_speed(game, shot, &dx, &dy)
    features[3] = dx * <float>(1.0 / 4)
    features[4] = dy * <float>(1.0 / 4)
    features[5] = game.shot_life[shot] * <float>(1.0 / 8)


cdef inline void observe_ufo(const Asteroids* game, int x, int y, float* features) noexcept nogil:
    """Write the features of the UFO and its shot, as seen from (x, y). What is below the field is not seen."""
    memset(features, 0, UFO_FEATURES * sizeof(float))
    if game.ufo_y < HIGH and not game.ufo_burst:
        observe_place(game.ufo_x - x, game.ufo_y - y, features)
        features[3] = -1 if game.ufo_course & UFO_LEFT else 1
        features[4] = ((game.ufo_course & UFO_DOWN) > 0) - ((game.ufo_course & UFO_UP) > 0)
        features[5] = game.ufo_small
    if game.shot_life[UFO_SHOT] > 0 and game.shot_y[UFO_SHOT] < HIGH:
        observe_shot(game, UFO_SHOT, x, y, features + UFO_FEATURES - SHOT_FEATURES)


cdef inline void observe_all(const Asteroids* game, float* features) noexcept nogil:
    """Write all features. Distances are the shorter way around the field."""
    cdef int x = ship_x(game), y = ship_line(game), i
    memset(features, 0, FEATURES * sizeof(float))
    features[0] = ((x if x < WIDE else x - WIDE) - WIDE // 2) * <float>(1.0 / 46)
    features[1] = (y - HIGH // 2) * <float>(1.0 / 26)
    features[2] = -PUSH_X[game.way] * <float>(1.0 / 127)
    features[3] = PUSH_Y[game.way] * <float>(1.0 / 127)
    features[4] = -game.vx * <float>(1.0 / 4096)
    features[5] = game.vy * <float>(1.0 / 2048)
    features[6] = not is_here(game)
    features[7] = (game.hidden - 1 if game.hidden else 0) * <float>(1.0 / (REST - 1))
    features[8] = game.blast * <float>(1.0 / BLAST)
    features[9] = game.fired != 0
    features[10] = game.dived != 0
    features[11] = (game.lives - 4) * <float>(1.0 / 4)
    features[12] = (game.rocks - 4) * <float>(1.0 / 4)
    features += SHIP_FEATURES
    for i in range(2):
        if game.shot_life[i] > 0:
            observe_shot(game, i, x, y, features)
        features += SHOT_FEATURES
    observe_rocks(game, features)
    if game.rules & UFOS:
        observe_ufo(game, x, y, features + NEAREST * ROCK_FEATURES)
