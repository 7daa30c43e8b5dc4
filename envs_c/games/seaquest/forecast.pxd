"""Seaquest's option forecast: features of what is near the submarine, and of how long its air lasts."""

from libc.math cimport fabsf
from libc.string cimport memset

from envs_c.games.seaquest.rules cimport (
    BREATH, COPIES, GAP, LANES, SHIP, SHIP_Y, SHOT_ROW, SPRITE, SUB_ROW, SURFACE, TANK, TORPEDO_ROW, Seaquest, bob, lane_y)


cdef enum:
    OF_LANE = 8, FORECAST_FEATURES = LANES * OF_LANE + 13
    SHIP_MIDDLE = SHIP_Y + 5                            # rows below y
    SHARK_MIDDLE = 3, SUB_MIDDLE = SUB_ROW + 4, SHOT_MIDDLE = SHOT_ROW + 2, DIVER_MIDDLE = 7    # rows below a lane's row
    IN_SIGHT = 84                                       # pixels from the middle of the submarine to that of an enemy
    FULL_AIR = 512, LITTLE_AIR = 128                    # frames


cdef inline float nearness(float away, float reach) noexcept nogil:
    """1 at 0 pixels, 0 from `reach` on."""
    cdef float near = 1 - (away / reach) * (away / reach)
    return near * near if near > 0 else <float>0


cdef inline float within(float x, float most) noexcept nogil:
    """x, but at least -most and at most `most`."""
    return min(max(x, -most), most)


cdef inline float from_ship(const Seaquest* game, int x) noexcept nogil:
    """Pixels from the submarine's middle to the right to that of a figure at x."""
    return x + SPRITE // 2 - (game.x_ship + SHIP // 2)


cdef inline void look_at_enemies(const Seaquest* game, int lane, float* features) noexcept nogil:
    """Write the first 4 features of a lane: targets to the right and left, then dangers."""
    cdef int row = lane_y(lane) + (SUB_MIDDLE if game.sub[lane] else SHARK_MIDDLE + bob(game)), copy, left
    cdef float down = row - (game.y + TORPEDO_ROW), moves = 4 if game.right[lane] else -4, across
    for copy in range(COPIES):
        across = from_ship(game, game.x[lane] + GAP * copy)
        if game.alive[lane] >> (COPIES - 1 - copy) & 1 and fabsf(across) < IN_SIGHT:
            left = across <= 0
            features[left] = max(features[left], nearness(down, 9) * (1 - fabsf(across) * <float>(1.0 / 90)))
            features[2 + left] = max(features[2 + left], nearness(across + moves, 36) * nearness(down, 22))


cdef inline void look_at_guest(const Seaquest* game, int lane, float* features, float* nearest) noexcept nogil:
    """Write the last 4 features of a lane: a shot to the right or left, a diver, the side; and its diver's, if the nearest."""
    cdef int middle = lane_y(lane) - (game.y + SHIP_MIDDLE)
    cdef float across = from_ship(game, game.guest[lane]), down, near
    if game.guest[lane] > 0 and game.sub[lane]:
        down = middle + SHOT_MIDDLE
        across += 6 if game.right[lane] else -6
        features[across <= 0] = nearness(across, 48) * nearness(down, 18)
    elif game.guest[lane] > 0:
        down = middle + DIVER_MIDDLE
        features[2] = nearness(across, 60) * nearness(down, 30)
        near = 1 - (fabsf(across) + fabsf(down)) * <float>(1.0 / 240)
        if near > nearest[3]:
            nearest[0], nearest[1] = within(across * <float>(1.0 / 20), 2), within(down * <float>(1.0 / 14), 2)
            nearest[2], nearest[3] = 1, near
    features[3] = 1 if middle + DIVER_MIDDLE > 0 else -1


cdef inline void look_at_air(const Seaquest* game, float* features) noexcept nogil:
    """Write the 9 features of the air and of the way up."""
    cdef float left = game.oxygen * BREATH - (game.y - SURFACE), high = game.y - SURFACE
    cdef bint crew = game.crew > 0, used = game.oxygen < TANK
    features[0] = min(max(left * <float>(1.0 / FULL_AIR), <float>0), <float>1)
    features[1] = (1 - features[0]) * crew
    features[2] = (1 - features[0]) * (not crew)
    features[3] = nearness(left, LITTLE_AIR)
    features[4] = features[3] * crew
    features[5] = nearness(high, 30) * (crew and used)
    features[6] = nearness(high, 30) * (not crew and used)
    features[7] = nearness(high, 12)
    features[8] = crew


cdef inline void forecast(const Seaquest* game, float* features) noexcept nogil:
    """Write FORECAST_FEATURES float32. seaquest.pyx says what they are."""
    cdef int lane
    cdef float* nearest = features + LANES * OF_LANE
    memset(features, 0, FORECAST_FEATURES * sizeof(float))
    for lane in range(LANES):
        look_at_enemies(game, lane, features)
        look_at_guest(game, lane, features + 4, nearest)
        features += OF_LANE
    look_at_air(game, nearest + 4)
