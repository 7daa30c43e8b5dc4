"""Space Invaders' rules: what happens in a frame. The prose is in space_invaders.pyx; hits are in hits.pxd."""

from libc.stdint cimport int16_t, uint8_t

from envs_c.games.space_invaders.hits cimport crumble, invader_at, meets_cannon, meets_saucer, remove, shield_at
from envs_c.games.space_invaders.shown cimport keep_blast, keep_shields, keep_shot
from envs_c.games.space_invaders.state cimport (
    BLAST_TIME, BOMBS, BOMB_APART, BOMB_END, BOMB_STEP, BURN, BURN_CLOCK, CANNON_END, CANNON_X, CLEAR, CLEAR_CLOCK, COLUMNS,
    DROP, ENTERING, FIRE, FIRST_X, GROUNDED_Y, Invaders, LANDED_Y, LAST_X, LEFT, LEFT_FIRE, MUZZLE, NEXT, NO_BOMBS, NO_SAUCER,
    OLD_BOMBS, OLD_INVADER, OLD_SAUCER, PITCH_X, PITCH_Y, PLAY, RIGHT, RIGHT_FIRE, ROWS, SAUCER_END, SAUCER_ESCORT,
    SAUCER_POINTS, SAUCER_ROW, SAUCER_WAIT, SHELTER_Y, SHOT_END, SHOT_STEP, SHOT_Y, SHOW, SHOW_CLOCK, SPENT_END, SPENT_Y,
    STRIDE, TABLE, UNAIMED, begin_wave, clz, columns_of, ctz, lowest_y, random_byte, times_of)


# --- the clock --------------------------------------------------------------------------------------------------------

cdef inline void next_phase(Invaders* game, bint* over) noexcept nogil:
    """The clock has reached 0 outside of play."""
    game.clock = SHOW_CLOCK
    if game.phase == SHOW:
        game.phase, game.saucer_wait = PLAY, SAUCER_WAIT
        return
    if game.phase == BURN:
        game.lives -= 1
        over[0] = game.lives == 0
        game.cannon, game.saucer_x = CANNON_X, -1
    if game.count == 0:
        game.wave += game.wave < 255
        game.way = 1
        begin_wave(game)
    game.phase = SHOW


cdef inline void call_saucer(Invaders* game) noexcept nogil:
    """The clock has gone round once in play: perhaps a saucer comes."""
    game.saucer_wait -= 1
    if game.saucer_wait == 0 and game.count >= SAUCER_ESCORT and not game.rules & NO_SAUCER:
        if random_byte(game) & 1:
            game.saucer_way = -game.saucer_way
        game.saucer_x = 0 if game.saucer_way > 0 else SAUCER_END


cdef inline void fade(Invaders* game) noexcept nogil:
    """Every 8 frames: the blast grows older; the saucer goes with its own."""
    if game.blast:
        keep_blast(game)
        game.blast -= 1
        if game.blast == 0 and game.blast_row == SAUCER_ROW:
            game.saucer_x = -1


cdef inline void move_saucer(Invaders* game) noexcept nogil:
    """Every 4 frames: the saucer moves on, unless it has been hit."""
    if game.blast and game.blast_row == SAUCER_ROW:
        return
    game.saucer_x += game.saucer_way
    if game.saucer_x < 0 or game.saucer_x > SAUCER_END:
        game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


# --- invaders ---------------------------------------------------------------------------------------------------------

cdef inline void come_down(Invaders* game, bint* over) noexcept nogil:
    """Turn, and come down; the episode ends if they have landed."""
    game.way = -game.way
    game.y += DROP
    if lowest_y(game) >= LANDED_Y:
        game.y += <int16_t>(GROUNDED_Y - lowest_y(game))
        over[0] = True


cdef inline void march(Invaders* game, bint* over) noexcept nogil:
    """One march of all invaders; at the end of the way they come down and turn."""
    cdef int columns = columns_of(game), stride = STRIDE[game.count]
    cdef int left = game.x + PITCH_X * ctz(columns), right = game.x + PITCH_X * (31 - clz(columns))
    game.pose ^= 1
    if game.way > 0:
        game.x += min(stride, LAST_X - right)
        if right + stride >= LAST_X:
            come_down(game, over)
    else:
        game.x -= min(stride, left - FIRST_X)
        if left - stride < FIRST_X:
            come_down(game, over)


cdef inline int aim(const Invaders* game, int columns, int luck) noexcept nogil:
    """The column near the cannon from which a bomb falls, or -1. columns: those with invaders, from the first on."""
    cdef int near = (game.cannon - game.x - PITCH_X * game.first + 2) >> 4, above
    near = max(-1, min(near, COLUMNS - 1))
    above = columns >> (near + 1) << (near + 1)
    if not luck & 16 and above:
        return ctz(above)
    columns &= (2 << max(near, 0)) - 1
    return 31 - clz(columns) if columns else -1


cdef inline void drop_bomb(Invaders* game) noexcept nogil:
    """Let a bomb fall from a random column, unless it would be too near to the other one, or the column was just emptied."""
    cdef int there = columns_of(game), columns = (there | game.emptied) >> game.first, luck, column, row = ROWS - 1, x, y, k
    if columns == 0 or game.rules & NO_BOMBS:
        return
    luck = random_byte(game)
    if luck & 128 or game.rules & UNAIMED:
        column = TABLE[luck & 31]
        while not columns >> column & 1:
            column = NEXT[luck & 3][column]
    else:
        column = aim(game, columns, luck)
        if column < 0:
            return
    column += game.first
    if not there >> column & 1:
        return
    while not game.row[row] >> column & 1:
        row -= 1
    x, y = game.x + PITCH_X * column + 3, game.y + PITCH_Y * row + 1
    k = game.bomb_y[0] > 0 and y >= game.bomb_y[0]
    if game.bomb_y[0] > 0:
        if -BOMB_APART < y - game.bomb_y[0] < BOMB_APART:
            return
        if k == 0:
            game.bomb_x[1], game.bomb_y[1] = game.bomb_x[0], game.bomb_y[0]
    game.bomb_x[k], game.bomb_y[k] = <int16_t>x, <int16_t>y


cdef inline void close_ranks(Invaders* game) noexcept nogil:
    """Note the first column that is not empty; the blast of the last one of a column is not seen."""
    cdef int first = ctz(columns_of(game))
    if first != game.first:
        game.first = <uint8_t>first
        game.blast = 0


# --- even and odd frames ----------------------------------------------------------------------------------------------

cdef inline void attack(Invaders* game, bint playing) noexcept nogil:
    """In even frames: a bomb is dropped if there is a place for it."""
    if game.bomb_y[0] == 0 and game.bomb_y[1] > 0:
        game.bomb_x[0], game.bomb_y[0], game.bomb_y[1] = game.bomb_x[1], game.bomb_y[1], 0
    elif game.bomb_y[1] == 0 and playing and game.clock:
        drop_bomb(game)
    game.emptied = 0


cdef inline void fall(Invaders* game) noexcept nogil:
    """In odd frames: bombs fall."""
    cdef int k, y
    random_byte(game)
    for k in range(BOMBS):
        y = game.bomb_y[k]
        game.bomb_y[k] = <int16_t>(y + BOMB_STEP if (y > 0) & (y < BOMB_END) else 0)


cdef inline void steer(Invaders* game, int action) noexcept nogil:
    """In even frames: the cannon moves."""
    cdef int x = game.cannon + (action == RIGHT or action == RIGHT_FIRE) - (action == LEFT or action == LEFT_FIRE)
    game.cannon = <int16_t>min(max(x, CANNON_X), CANNON_END)


cdef inline void bomb(Invaders* game) noexcept nogil:
    """In even frames: bombs hit shields and the cannon."""
    cdef int k, shield
    for k in range(BOMBS):
        game.old_bomb[k] = <uint8_t>game.bomb_y[k]
    for k in range(BOMBS):
        shield = shield_at(game, game.bomb_x[k], game.bomb_y[k])
        if shield >= 0:
            keep_shields(game)
            crumble(game, shield, game.bomb_x[k], False)
            game.bomb_y[k] = 0
            game.late |= OLD_BOMBS
    for k in range(BOMBS):
        if (game.phase == PLAY or game.phase == CLEAR) and meets_cannon(game, game.bomb_x[k], game.bomb_y[k]):
            game.phase, game.clock = BURN, BURN_CLOCK


cdef inline int shoot(Invaders* game) noexcept nogil:
    """In odd frames: the shot hits saucer, invader, or shield; returns the points."""
    cdef int points = 0, found, shield
    if not 0 < game.shot_y <= SHOT_Y:
        return 0
    if not (game.blast and game.blast_row == SAUCER_ROW) and meets_saucer(game):
        keep_blast(game)
        game.blast, game.blast_row, game.blast_column = BLAST_TIME, SAUCER_ROW, 0
        game.saucer_wait = SAUCER_WAIT
        points = SAUCER_POINTS
    found = invader_at(game)
    if found >= 0:
        keep_shot(game)
        keep_blast(game)
        game.late |= OLD_INVADER
        if game.blast and game.blast_row == SAUCER_ROW:
            game.saucer_x = -1  # its blast ends with the invader's
        points += remove(game, found)
        game.shot_y = 0
        if game.count == 0:
            game.phase, game.clock = BURN if game.phase == BURN else CLEAR, CLEAR_CLOCK
        return points
    shield = shield_at(game, game.shot_x, game.shot_y)
    if shield >= 0:
        keep_shot(game)
        keep_shields(game)
        crumble(game, shield, game.shot_x, True)
        game.shot_y = SPENT_Y
    return points


cdef inline int play_frame(Invaders* game, int action, bint* over) noexcept nogil:
    """One frame; returns the points."""
    cdef bint playing = game.phase == PLAY, saucer = game.saucer_x >= 0, free, even
    cdef int points = 0
    game.clock -= 1
    if game.clock == 0:
        if playing:
            call_saucer(game)
        else:
            next_phase(game, over)
    even = not game.clock & 1
    if even:
        attack(game, playing)
    else:
        fall(game)
    if game.count:
        close_ranks(game)
    free = game.phase == PLAY or game.phase == CLEAR
    if even:
        if game.shot_y > 0:
            game.shot_y -= SHOT_STEP
            if game.shot_y == SHOT_END or game.shot_y == SPENT_END:
                game.shot_y = 0
    elif game.shot_y == 0 and free and (action == FIRE or action >= RIGHT_FIRE):
        game.shot_x, game.shot_y = game.cannon + MUZZLE, SHOT_Y
    if game.phase == PLAY and times_of(game.count) >> (game.clock & 63) & 1:
        march(game, over)
    if game.y >= SHELTER_Y - PITCH_Y * (ROWS - 1) and game.count and lowest_y(game) >= SHELTER_Y:
        game.sheltered = 0
    game.shown = game.cannon
    game.late, game.old_saucer = 0, game.saucer_x
    if not saucer and game.saucer_x >= 0:  # it is seen a pixel farther out first
        game.old_saucer = ENTERING if game.saucer_way > 0 else SAUCER_END + 1
    if even:
        bomb(game)
        if game.phase == PLAY or game.phase == CLEAR:
            steer(game, action)
    else:
        points = shoot(game)
    if saucer and game.saucer_x >= 0 and not game.clock & 3:
        move_saucer(game)
    if not game.clock & 7:
        fade(game)
    if game.saucer_x != game.old_saucer:
        game.late |= OLD_SAUCER
    game.points = <uint8_t>points
    game.score += points
    return points
