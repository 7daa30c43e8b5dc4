"""Space Invaders' option forecast: features that say what a shot will hit, and where bombs will fall."""

from libc.string cimport memset

from envs_c.games.space_invaders.state cimport (
    BOMBS, BOMB_HIGH, BOMB_SEEN, CANNON_Y, COLUMNS, Invaders, MUZZLE, PACE, PITCH_X, PITCH_Y, ROWS, SAUCER_Y, SHOT_Y, STRIDE,
    columns_of)


cdef enum:
    FORECAST_FEATURES = 27
    TARGET_X = 4, TARGET_Y = 6      # the point of an invader that is aimed at, from its upper left corner
    SAUCER_MIDDLE = 3, SAUCER_TARGET_Y = 2      # that of the saucer
    CANNON_MIDDLE = 3
    REACH = 12                      # pixels; no nearness beyond
    SOON = 60                       # frames; a bomb further away is no danger
    SHOT_SPEED = 2                  # pixels a frame
    SAUCER_FRAMES = 4               # a pixel


cdef inline float nearness(float away) noexcept nogil:
    """1 at 0 pixels, 0 from REACH on."""
    cdef float near = 1 - away * away * <float>(1.0 / (REACH * REACH))
    return near * near if near > 0 else <float>0


cdef inline float within(float x, float most) noexcept nogil:
    """x, but at least -most and at most `most`."""
    return min(max(x, -most), most)


cdef inline void take_aim(const Invaders* game, float x, float y, float speed, float* features, int apart) noexcept nogil:
    """Write three features, `apart` places apart, of a target at (x, y) that moves by `speed` pixels a frame to the right."""
    cdef float away = x + speed * (SHOT_Y - y) * <float>(1.0 / SHOT_SPEED) - (game.cannon + MUZZLE)
    features[0] = within(away * <float>(1.0 / 20), 3)
    features[apart] = nearness(away)
    if y < game.shot_y <= SHOT_Y:
        features[2 * apart] = nearness(x + speed * (game.shot_y - y) * <float>(1.0 / SHOT_SPEED) - game.shot_x)


cdef inline void forecast(const Invaders* game, float* features) noexcept nogil:
    """Write FORECAST_FEATURES float32. space_invaders.pyx says what they are."""
    cdef float speed = game.way * <float>STRIDE[game.count] / PACE[game.count], away, soon
    cdef int columns = columns_of(game), c, k, row
    memset(features, 0, FORECAST_FEATURES * sizeof(float))
    for c in range(COLUMNS):
        if columns >> c & 1:
            row = ROWS - 1
            while not game.row[row] >> c & 1:
                row -= 1
            take_aim(game, game.x + PITCH_X * c + TARGET_X, game.y + PITCH_Y * row + TARGET_Y, speed, features + c,
                     COLUMNS)
    features += 3 * COLUMNS
    if game.saucer_x >= 0:
        take_aim(game, game.saucer_x + SAUCER_MIDDLE, SAUCER_Y + SAUCER_TARGET_Y,
                 game.saucer_way * <float>(1.0 / SAUCER_FRAMES), features, 1)
    features += 3
    for k in range(BOMBS):
        if 0 < game.bomb_y[k] <= BOMB_SEEN:
            away = game.bomb_x[k] - (game.cannon + CANNON_MIDDLE)
            soon = max(1 - (CANNON_Y - BOMB_HIGH - game.bomb_y[k]) * <float>(1.0 / SOON), <float>0)
            features[0] = within(away * <float>(1.0 / 6), 2) * soon
            features[1] = nearness(away)
            features[2] = features[1] * soon
        features += 3
