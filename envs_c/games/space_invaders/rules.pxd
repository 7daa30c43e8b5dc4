"""Space Invaders' rules: what happens in a frame. The prose is in space_invaders.pyx."""

from libc.stdint cimport int8_t, int16_t, uint8_t

from envs_c.games.space_invaders.state cimport (
    BLAST_FRAMES, BOMBS, BOMB_AGAIN, BOMB_HIGH, BOMB_STEP, BOMB_WAIT, BURN, CANNON_END, CANNON_WIDE, CANNON_X, CANNON_Y,
    COLUMNS, DROP, FIRE, FIRST_X, GROUND_Y, HIGH, LANDED_Y, LAST_X, LEFT, LEFT_FIRE, PACE, PITCH_X, PITCH_Y, PLAY, REST,
    REST_FRAMES, RIGHT, RIGHT_FIRE, ROWS, SAUCER_END, SAUCER_HIGH, SAUCER_POINTS, SAUCER_WAIT, SAUCER_WIDE, SAUCER_Y, SHIELDS,
    SHIELD_END, SHIELD_PITCH, SHIELD_ROWS, SHIELD_X, SHIELD_Y, SHOT_END, SHOT_HIGH, SHOT_STEP, SHOT_Y, SHOW, SHOW_FRAMES,
    STRIDE, WIDE, Invaders, begin_wave, clear_sky, clz, columns_of, ctz, lowest_y)
from envs_c.rng cimport Rng, rng_below


cdef inline void march(Invaders* game) noexcept nogil:
    """One march of all invaders; at the end of the way they come down and turn."""
    cdef int columns = columns_of(game), stride = STRIDE[game.count]
    cdef int left = game.x + PITCH_X * ctz(columns), right = game.x + PITCH_X * (31 - clz(columns))
    game.march = PACE[game.count]
    game.pose ^= 1
    if game.way > 0:
        stride = min(stride, LAST_X - right)
        if right + stride >= LAST_X:
            game.way = -1
            game.y += DROP
        game.x += stride
    else:
        stride = min(stride, left - FIRST_X)
        if left - stride <= FIRST_X:
            game.way = 1
            game.y += DROP
        game.x -= stride


cdef inline bint crumble(Invaders* game, int x, int y, int behind) noexcept nogil:
    """Take away the shield's pixel at the tip of a shot or bomb, and the next one in its course.

    x, y: the tip.
    behind: -1 for a shot, 1 for a bomb.
    Returns True if a pixel was at the tip.
    """
    cdef int shield = (x - SHIELD_X) >> 5, column = (x - SHIELD_X) & (SHIELD_PITCH - 1), row = (y - SHIELD_Y) >> 1, _tip
    cdef uint8_t bit
    if not (SHIELD_Y <= y < SHIELD_END and 0 <= shield < SHIELDS and column < 8):
        return False
    bit = 128 >> column
    if not game.shield[shield][row] & bit:
        return False
    for _tip in range(2):
        if 0 <= row < SHIELD_ROWS and game.shield[shield][row] & bit:
            game.shield[shield][row] ^= bit
            game.gone[8 * shield + column] += 1
        row += behind
    return True


cdef inline int hit_invader(Invaders* game) noexcept nogil:
    """Destroy the invader whose box the shot is in; returns its points, or 0."""
    cdef int dx = game.shot_x - game.x, column = dx >> 4, row, line
    if dx < 0 or column >= COLUMNS or (dx & 15) >= WIDE:
        return 0
    line = game.shot_y - game.y + PITCH_Y  # pixels below the top of an imaginary row above the first
    if line < 0 or line >= PITCH_Y * (ROWS + 1):
        return 0
    row = line // PITCH_Y - 1
    line -= PITCH_Y * (row + 1)
    if line >= HIGH:
        if line + SHOT_HIGH <= PITCH_Y:
            return 0
        row += 1  # the shot's tail is in the next row
    if not 0 <= row < ROWS or not game.row[row] >> column & 1:
        return 0
    game.row[row] ^= 1 << column
    game.count -= 1
    game.blast, game.blast_row, game.blast_column = BLAST_FRAMES, row, column
    return 5 * (ROWS - row)


cdef inline int move_shot(Invaders* game) noexcept nogil:
    """Move the shot as far as it goes in two frames, and let it hit; returns the points."""
    cdef int points
    game.shot_y -= SHOT_STEP
    points = hit_invader(game)
    if game.saucer_x >= 0 and game.shot_y < SAUCER_Y + SAUCER_HIGH \
            and game.saucer_x <= game.shot_x < game.saucer_x + SAUCER_WIDE:
        points += SAUCER_POINTS
        game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT
    if points > 0 or game.shot_y < SHOT_END or crumble(game, game.shot_x, game.shot_y, -1):
        game.shot_y = 0
    return points


cdef inline bint move_bombs(Invaders* game) noexcept nogil:
    """Move the bombs as far as they go in two frames; True if one has hit the cannon."""
    cdef int k, tip
    cdef bint hit = False
    for k in range(BOMBS):
        if game.bomb_y[k] == 0:
            continue
        game.bomb_y[k] += BOMB_STEP
        tip = game.bomb_y[k] + BOMB_HIGH - 1
        if tip >= CANNON_Y and 0 <= game.bomb_x[k] - game.cannon < CANNON_WIDE and game.phase == PLAY:
            hit = True
            game.bomb_y[k] = 0
        elif tip >= GROUND_Y - 1 or crumble(game, game.bomb_x[k], tip, 1):
            game.bomb_y[k] = 0
    return hit


cdef inline void drop_bomb(Invaders* game, Rng* rng) noexcept nogil:
    """Drop a bomb from a random column; the newest bomb becomes the older one."""
    cdef int columns = columns_of(game), chosen = 0, column, away, least = 1000, middle = game.cannon + 3 - game.x - 3, row
    cdef int luck = <int>rng_below(rng, 2 * COLUMNS)
    for column in range(COLUMNS):
        away = middle - PITCH_X * column
        away = away if away >= 0 else -away
        if columns >> column & 1 and away < least:
            chosen, least = column, away
    if luck == 2 * COLUMNS - 1:
        luck = chosen + 1
    if luck < COLUMNS and columns >> luck & 1:
        chosen = luck
    row = ROWS - 1
    while not game.row[row] >> chosen & 1:
        row -= 1
    if game.bomb_y[0] > 0:
        game.bomb_x[1], game.bomb_y[1] = game.bomb_x[0], game.bomb_y[0]
    game.bomb_x[0] = game.x + PITCH_X * chosen + 3
    game.bomb_y[0] = game.y + PITCH_Y * row + 1
    game.bomb_age = game.bomb_rest = 0


cdef inline void move_saucer(Invaders* game, Rng* rng) noexcept nogil:
    """Move the saucer, or wait for the next one."""
    if game.saucer_x < 0:
        game.saucer_wait -= 1
        if game.saucer_wait == 0:
            game.saucer_way = 1 - 2 * <int8_t>rng_below(rng, 2)
            game.saucer_x = 0 if game.saucer_way > 0 else SAUCER_END
            game.quarter = 0
        return
    game.quarter = (game.quarter + 1) & 3
    if game.quarter == 0:
        game.saucer_x += game.saucer_way
        if game.saucer_x < 0 or game.saucer_x > SAUCER_END:
            game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


cdef inline void go_on(Invaders* game, bint* over) noexcept nogil:
    """Begin the next phase when a rest is over."""
    if game.phase == BURN:
        game.lives -= 1
        clear_sky(game)
        game.cannon = CANNON_X
        game.phase, game.rest = SHOW, SHOW_FRAMES
        over[0] = game.lives == 0
    else:
        if game.count == 0:
            game.wave += game.wave < 255
            begin_wave(game)
            game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
        game.phase = PLAY


cdef inline int fly(Invaders* game) noexcept nogil:
    """Move shot and bombs in every other frame; returns the points."""
    cdef int points = 0
    game.odd ^= 1
    if game.odd:
        return 0
    if game.shot_y > 0:
        points = move_shot(game)
    if move_bombs(game):
        game.phase, game.rest = BURN, REST_FRAMES
    return points


cdef inline void steer(Invaders* game, int action) noexcept nogil:
    """Move the cannon, and fire if no shot is on its way."""
    cdef int x = game.cannon
    if not game.odd:
        x += (action == RIGHT or action == RIGHT_FIRE) - (action == LEFT or action == LEFT_FIRE)
        game.cannon = <int16_t>min(max(x, CANNON_X), CANNON_END)
    if game.shot_y == 0 and (action == FIRE or action >= RIGHT_FIRE):
        game.shot_x, game.shot_y = game.cannon + 4, SHOT_Y


cdef inline void attack(Invaders* game, Rng* rng, bint* over) noexcept nogil:
    """The invaders' part of a frame: march, drop bombs, send the saucer."""
    game.march -= 1
    if game.march == 0:
        march(game)
        over[0] = lowest_y(game) >= LANDED_Y
    game.bomb_age += game.bomb_age < 255
    game.bomb_rest = 0 if game.bomb_y[0] > 0 else min(game.bomb_rest + 1, 255)
    if (game.bomb_age >= BOMB_WAIT and game.bomb_y[1] == 0) or game.bomb_rest >= BOMB_AGAIN:
        drop_bomb(game, rng)
    move_saucer(game, rng)


cdef inline int play_frame(Invaders* game, int action, Rng* rng, bint* over) noexcept nogil:
    """One frame; returns the points."""
    cdef int points = 0
    game.blast -= game.blast > 0
    if game.phase != PLAY:
        if game.phase == BURN:
            points = fly(game)
        game.rest -= 1
        if game.rest == 0:
            go_on(game, over)
    else:
        steer(game, action)
        points = fly(game)
        if game.count > 0:
            attack(game, rng, over)
        else:
            game.phase, game.rest = REST, REST_FRAMES
    game.score += points
    return points
