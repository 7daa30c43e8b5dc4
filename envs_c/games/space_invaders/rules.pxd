"""Space Invaders' rules: its constants, its state and what a frame does to it; the prose is in space_invaders.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    ROWS = 6, COLUMNS = 6, PITCH_X = 16, PITCH_Y = 18, WIDE = 8, HIGH = 10, TOP_Y = 31, FIRST_X = 22, LAST_X = 129
    DROP = 10, LANDED_Y = 169, LOWEST_START = 4, CANNON_X = 34, CANNON_END = 116, CANNON_Y = 185, CANNON_WIDE = 7
    SHOT_Y = 174, SHOT_HIGH = 6, SHOT_STEP = 4, SHOT_END = 12
    BOMBS = 2, BOMB_HIGH = 8, BOMB_STEP = 2, GROUND_Y = 195, BOMB_WAIT = 32, BOMB_AGAIN = 2
    SAUCER_Y = 12, SAUCER_HIGH = 8, SAUCER_WIDE = 7, SAUCER_END = 149, SAUCER_WAIT = 832, SAUCER_POINTS = 200
    SHIELDS = 3, SHIELD_ROWS = 9, SHIELD_X = 42, SHIELD_PITCH = 32, SHIELD_Y = 157, SHIELD_END = 175
    PLAY = 0, REST, BURN, SHOW          # phases
    REST_FRAMES = 128, SHOW_FRAMES = 64, BLAST_FRAMES = 30

cdef extern from *:
    """
    static const unsigned char WHOLE[9] = {60, 126, 126, 126, 126, 255, 255, 255, 195};
    static const unsigned char PACE[37] = {  // frames a march, by how many are left
        4, 4, 7, 7, 13, 16, 16, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
        32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    static const unsigned char STRIDE[37] = {  // pixels
        5, 5, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    """
    const uint8_t[9] WHOLE
    const uint8_t[37] PACE, STRIDE
    int ctz "__builtin_ctz"(unsigned int) noexcept nogil
    int clz "__builtin_clz"(unsigned int) noexcept nogil


ctypedef struct Invaders:
    int32_t score
    int16_t x                       # of the first column, whether any of it is left or not
    int16_t y                       # of the first row
    int16_t saucer_x                # -1: none
    int16_t saucer_wait
    int16_t cannon
    int16_t shot_x, shot_y          # y 0: none
    int16_t[BOMBS] bomb_x, bomb_y   # the newest first; y 0: none
    uint8_t[ROWS] row               # bit c: the invader in column c is there
    uint8_t[SHIELDS][SHIELD_ROWS] shield
    uint8_t[SHIELDS * 8] gone       # of a shield's columns: rows that are not there any more
    uint8_t count, wave, lives
    uint8_t march                   # frames to the next one
    int8_t way                      # 1 right, -1 left
    int8_t saucer_way
    uint8_t pose, odd, quarter
    uint8_t bomb_age, bomb_rest     # frames since the newest was dropped, and since it is gone
    uint8_t phase, rest
    uint8_t blast, blast_row, blast_column


cdef inline int columns_of(const Invaders* game) noexcept nogil:
    return game.row[0] | game.row[1] | game.row[2] | game.row[3] | game.row[4] | game.row[5]


cdef inline int lowest_y(const Invaders* game) noexcept nogil:
    """The y of the lowest row that has an invader; there is one."""
    cdef int r = ROWS - 1
    while game.row[r] == 0:
        r -= 1
    return game.y + PITCH_Y * r


cdef inline void begin_wave(Invaders* game) noexcept nogil:
    cdef int s, k
    for k in range(ROWS):
        game.row[k] = (1 << COLUMNS) - 1
    for s in range(SHIELDS):
        memcpy(game.shield[s], WHOLE, SHIELD_ROWS)
    memset(game.gone, 0, sizeof(game.gone))
    game.count = ROWS * COLUMNS
    game.x, game.y, game.way = FIRST_X, TOP_Y + DROP * min(<int>game.wave, LOWEST_START), 1
    game.march = 1
    game.pose = 1
    game.bomb_age = game.bomb_rest = BOMB_WAIT
    game.blast = 0


cdef inline void clear_sky(Invaders* game) noexcept nogil:
    """No shot, bombs or saucer."""
    game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
    game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


cdef inline void begin(Invaders* game, int lives, int wave) noexcept nogil:
    """A new episode."""
    memset(game, 0, sizeof(Invaders))
    game.lives = <uint8_t>lives
    game.wave = <uint8_t>wave
    game.cannon = CANNON_X
    game.phase, game.rest = SHOW, REST_FRAMES
    begin_wave(game)
    clear_sky(game)


cdef inline void march(Invaders* game) noexcept nogil:
    """One march of all invaders; where the outermost one comes to the end, down and back."""
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
    """Whether the tip at (x, y) meets a shield's pixel; that and the one in the row `behind` it are then taken away."""
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
    """The points of the invader in whose box the shot is, which is then gone; 0 where there is none."""
    cdef int dx = game.shot_x - game.x, column = dx >> 4, row, line
    if dx < 0 or column >= COLUMNS or (dx & 15) >= WIDE:
        return 0
    line = game.shot_y - game.y + PITCH_Y  # how far below the top of the row above the first one
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
    """The shot's way of two frames, and what it hits; returns the points."""
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
    """The bombs' way of two frames; returns whether one has hit the cannon."""
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
    """From a column as the rules say; the newest bomb becomes the older one."""
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
    """What follows when a rest is over."""
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
    """Shot and bombs, every other frame; returns the points."""
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
    """The cannon, and its shot if none is on its way."""
    cdef int x = game.cannon
    if not game.odd:
        x += (action == RIGHT or action == RIGHT_FIRE) - (action == LEFT or action == LEFT_FIRE)
        game.cannon = <int16_t>min(max(x, CANNON_X), CANNON_END)
    if game.shot_y == 0 and (action == FIRE or action >= RIGHT_FIRE):
        game.shot_x, game.shot_y = game.cannon + 4, SHOT_Y


cdef inline void attack(Invaders* game, Rng* rng, bint* over) noexcept nogil:
    """What the invaders do: march, drop bombs, send the saucer."""
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
    """Returns the points."""
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
