"""The platformer's rules: how player and enemies move and meet. The prose is in platformer.pyx."""

from libc.stdint cimport int16_t, uint16_t, uint32_t

from envs_c.games.platformer.levels cimport (
    ENEMIES, ENEMY_HEIGHT, ENEMY_WIDTH, GOAL_COLUMN, MARGIN, NOBODY, TILE, URCHIN, Platformer, lay_out_level)
from envs_c.rng cimport Rng, rng_below, rng_next


cdef enum:
    NOOP, LEFT, RIGHT, JUMP, JUMPLEFT, JUMPRIGHT
    START_X = 2 * TILE, GOAL_X = GOAL_COLUMN * TILE
    WIDTH = 183, HEIGHT = 256                   # of the player
    SPEED = 72, ACCELERATION = 6, BRAKE = 12, AIR_BRAKE = 2
    JUMP_SPEED = 120, BOUNCE = 90, FALL_SPEED = 120
    RISE = 8, CUT = 24, FALL = 12               # gravity: rising with JUMP held, rising without, falling
    GRACE = 4, BUFFER = 4                       # frames to jump after the ground, and before it
    SPIKE_TOP = 112, SPIKE_SIDE = 48            # outer units of a spike's tile that do not hurt
    STOMP = 140                                 # most units that feet may be below an enemy's top to stomp it
    TIME = 1000                                 # frames a level

cdef extern from *:
    """
    static const short DIRECTION[6] = {0, -1, 1, 0, -1, 1};     // by action
    """
    const int16_t[6] DIRECTION
    int popcount "__builtin_popcount"(uint32_t bits) nogil


cdef inline void begin_level(Platformer* game, Rng* rng) noexcept nogil:
    """Choose a level, lay it out and put the player at its start."""
    game.level = rng_below(rng, game.levels) if game.levels else rng_next(rng)
    lay_out_level(game)
    game.x, game.y = START_X, 0
    while not game.solid[MARGIN + (START_X >> 8)] >> ((game.y >> 8) + 1) & 1:
        game.y += TILE
    game.vx = game.vy = 0
    game.time = TIME
    game.grace = GRACE
    game.buffer = game.facing = game.held = 0


cdef inline void steer(Platformer* game, int action) noexcept nogil:
    """Update the player's speed by the action and gravity."""
    cdef int way = DIRECTION[action], vx = game.vx, vy = game.vy, brake
    cdef bint jump = action >= JUMP
    brake = BRAKE if game.grace == GRACE else AIR_BRAKE
    if way:
        game.facing = way < 0
        vx += way * (BRAKE if way * vx < 0 else ACCELERATION)
        vx = min(max(vx, -SPEED), SPEED)
    else:
        vx = max(vx - brake, 0) if vx > 0 else min(vx + brake, 0)
    game.buffer = BUFFER if jump and not game.held else game.buffer - (game.buffer > 0)
    game.held = jump
    if game.buffer and game.grace:
        vy = -JUMP_SPEED
        game.buffer = game.grace = 0
    vy += FALL if vy >= 0 else RISE if jump else CUT
    game.vx, game.vy = vx, min(vy, FALL_SPEED)


cdef inline int rows_at(int y) noexcept nogil:
    """The bits of the rows that the player covers if his top is at y."""
    return 1 << (y >> 8) | 1 << ((y + HEIGHT - 1) >> 8)


cdef inline void move_player(Platformer* game) noexcept nogil:
    """Move the player across, then down; solid tiles stop him."""
    cdef const uint16_t* solid = game.solid + MARGIN
    cdef int x = game.x + game.vx, y = game.y, side
    side = (x + WIDTH - 1 if game.vx > 0 else x) >> 8
    if game.vx and solid[side] & rows_at(y):
        x = side * TILE - WIDTH if game.vx > 0 else (side + 1) * TILE
        game.vx = 0
    y += game.vy
    game.grace -= game.grace > 0
    if y < 0:
        y = game.vy = 0
    side = (y + HEIGHT - 1 if game.vy > 0 else y) >> 8
    if (solid[x >> 8] | solid[(x + WIDTH - 1) >> 8]) >> side & 1:
        if game.vy > 0:
            y = side * TILE - HEIGHT
            game.grace = GRACE
        else:
            y = (side + 1) * TILE
        game.vy = 0
    game.x, game.y = x, y


cdef inline void move_enemies(Platformer* game) noexcept nogil:
    """Move all enemies, and turn those whose time has come; without branches, so that it vectorizes."""
    cdef long k
    for k in range(ENEMIES):
        game.ex[k] += game.edx[k]
        game.ey[k] += game.edy[k]
        game.left[k] -= 1
        game.edx[k] = -game.edx[k] if game.left[k] == 0 else game.edx[k]
        game.edy[k] = -game.edy[k] if game.left[k] == 0 else game.edy[k]
        game.left[k] = game.span[k] if game.left[k] == 0 else game.left[k]


cdef inline int meet_enemies(Platformer* game, bint* over) noexcept nogil:
    """Stomp enemies or end the episode; returns the number of enemies stomped."""
    cdef int k, stomped = 0
    cdef bint falls = game.vy > 0
    for k in range(game.enemies):
        if game.kind[k] and (game.x < game.ex[k] + ENEMY_WIDTH and game.ex[k] < game.x + WIDTH
                             and game.y < game.ey[k] + ENEMY_HEIGHT and game.ey[k] < game.y + HEIGHT):
            if game.kind[k] != URCHIN and falls and game.y + HEIGHT - game.ey[k] <= STOMP:
                game.kind[k] = NOBODY
                game.vy = -BOUNCE
                stomped += 1
            else:
                over[0] = True
    return stomped


cdef inline int take_coins(Platformer* game) noexcept nogil:
    """Take the coins of the tiles that the player touches; returns their number."""
    cdef uint16_t* coin = game.coin + MARGIN
    cdef int rows = rows_at(game.y), near = game.x >> 8, far = (game.x + WIDTH - 1) >> 8, taken
    if not (coin[near] | coin[far]) & rows:
        return 0
    taken = popcount(coin[near] & rows)
    coin[near] &= ~rows
    taken += popcount(coin[far] & rows)
    coin[far] &= ~rows
    return taken


cdef inline bint stung(const Platformer* game) noexcept nogil:
    """True if the player touches spikes."""
    cdef const uint16_t* spike = game.spike + MARGIN
    cdef int rows = 1 << (game.y >> 8) | 1 << ((game.y + HEIGHT - 1 - SPIKE_TOP) >> 8)
    return (spike[(game.x + SPIKE_SIDE) >> 8] | spike[(game.x + WIDTH - 1 - SPIKE_SIDE) >> 8]) & rows != 0
