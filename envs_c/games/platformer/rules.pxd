"""How levels are laid out, and how player and enemies move, for platformer.pyx, which states the rules.

A level is COLUMNS columns of three sets of bits (solid tiles, spikes, coins; bit r is row r from the top) and at most
ENEMIES enemies. It is laid out from left to right in sections, each of which begins and ends on ground that is safe for
ever, so that one who can pass every section can pass the level.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below, rng_next, rng_seed


cdef enum:
    NOOP, LEFT, RIGHT, JUMP, JUMPLEFT, JUMPRIGHT
    NOBODY = 0, SLIME, URCHIN, BAT
    EASY = 0, MEDIUM, HARD, EXPERT, DIFFICULTIES
    FLAT = 0, STEP, PIT, SPIKES, WALK, BRICKS, ISLANDS, FLIGHT, SECTIONS
    ROWS = 12, COLUMNS = 64, MARGIN = 8         # tiles; closed columns beyond each end
    ENEMIES = 8
    LOWEST = 2, HIGHEST = 6                     # ground, in tiles
    TILE = 256                                  # units a tile, of all places and speeds below
    START_X = 2 * TILE, GOAL_COLUMN = 60, GOAL_X = GOAL_COLUMN * TILE, LAST = 57  # sections end before column LAST
    WIDTH = 183, HEIGHT = 256                   # of the player
    ENEMY_WIDTH = 219, ENEMY_HEIGHT = 183
    NOWHERE = 30000                             # x of enemies that the level has not
    SPEED = 72, ACCELERATION = 6, BRAKE = 12, AIR_BRAKE = 2
    JUMP_SPEED = 120, BOUNCE = 90, RISE = 8, CUT = 24, FALL = 12, FALL_SPEED = 120   # gravity: jump held, let go, falling
    GRACE = 4, BUFFER = 4                       # frames: to jump after the edge, and before the ground
    SPIKE_TOP = 112, SPIKE_SIDE = 48            # how much of its tile does not sting
    STOMP = 140                                 # how deep feet may be in an enemy to stomp it
    TIME = 1000                                 # frames a level

cdef extern from *:
    """
    static const short DIRECTION[6] = {0, -1, 1, 0, -1, 1};
    static const unsigned char SECTION[4][16] = {  // by difficulty: what is as likely as it is often here
        {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 5},
        {0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6},
        {1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7},
        {1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7, 7}};
    static const unsigned char CLIMB[4] = {1, 2, 2, 3};     // tiles, at most
    static const unsigned char GAP[4] = {2, 3, 4, 5};       // columns of a pit, at most
    static const unsigned char STING[4] = {1, 2, 3, 4};     // columns of spikes, at most
    static const unsigned char REST[4] = {4, 3, 3, 2};      // safe columns between sections
    static const unsigned char PACE[4] = {12, 16, 20, 28};  // of enemies that walk
    """
    const int16_t[6] DIRECTION
    const uint8_t[4][16] SECTION
    const uint8_t[4] CLIMB, GAP, STING, REST, PACE
    int popcount "__builtin_popcount"(uint32_t bits) nogil


ctypedef struct Platformer:
    uint16_t[COLUMNS + 2 * MARGIN] solid, spike, coin   # bits 1 << row; column c is at c + MARGIN
    int16_t[ENEMIES] ex, ey     # enemies: their left and top
    int16_t[ENEMIES] edx, edy   # units a frame
    int16_t[ENEMIES] left, span  # frames to the turn, and from turn to turn
    uint8_t[ENEMIES] kind       # NOBODY: there is none, or none any more
    int32_t score
    uint32_t level              # its number
    uint32_t levels, level_seed  # options
    int16_t x, y, vx, vy        # the player: left and top
    int16_t time                # frames left
    uint8_t difficulty, stages  # stages: left to play, with this one
    uint8_t enemies             # how many the level began with
    uint8_t grace, buffer       # frames left
    uint8_t held, facing        # JUMP was held in the last frame; 1 to the left
    uint8_t stage               # passed


ctypedef struct Pen:
    # Where the layout of a level stands.
    Rng rng
    int column, ground  # next column; the ground's height there
    int hard        # difficulty


cdef inline int between(Pen* pen, int low, int high) noexcept nogil:
    return low + <int>rng_below(&pen.rng, high - low + 1)


cdef inline uint16_t coin_above(int ground, int tiles) noexcept nogil:
    """The bit of the tile that is so many tiles above the ground's top one."""
    return <uint16_t>(1 << (ROWS - ground - tiles))


cdef inline void put_ground(Platformer* game, Pen* pen, int columns) noexcept nogil:
    cdef uint16_t bits = <uint16_t>((0xFFF << (ROWS - pen.ground)) & 0xFFF)
    cdef int end = min(pen.column + columns, COLUMNS)
    while pen.column < end:
        game.solid[MARGIN + pen.column] = bits
        pen.column += 1


cdef inline void put_enemy(Platformer* game, int kind, int x, int y, int dx, int dy, int span, int left) noexcept nogil:
    cdef int k = game.enemies
    if k < ENEMIES:
        game.kind[k] = kind
        game.ex[k], game.ey[k], game.edx[k], game.edy[k] = x, y, dx, dy
        game.span[k], game.left[k] = span, left
        game.enemies += 1


cdef inline int climb(Pen* pen, int up, int down) noexcept nogil:
    """Another height of the ground."""
    return min(max(pen.ground + between(pen, -down, up), LOWEST), HIGHEST)


cdef inline void put_pit(Platformer* game, Pen* pen) noexcept nogil:
    """Empty, or with spikes on its floor; the ground goes on up to a tile higher and two lower. A FLIGHT has a bat in it."""
    cdef int width = between(pen, 2, GAP[pen.hard]), k, edge = pen.column
    cdef bint floor = between(pen, 0, 2) == 0
    for k in range(width):
        if floor:
            game.solid[MARGIN + edge + k] = 1 << (ROWS - 1)
            game.spike[MARGIN + edge + k] = 1 << (ROWS - 2)
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 3 if 0 < k < width - 1 else 2)
    pen.column += width
    pen.ground = climb(pen, 1, 2)


cdef inline void put_flight(Platformer* game, Pen* pen) noexcept nogil:
    """A pit with a bat that flies up and down in its middle."""
    cdef int edge = pen.column, ground = pen.ground, span
    put_pit(game, pen)
    span = between(pen, 30, 50)
    put_enemy(game, BAT, edge * TILE + ((pen.column - edge) * TILE - ENEMY_WIDTH) // 2, (ROWS - ground - 5) * TILE,
              0, 1280 // span, span, span)


cdef inline void put_spikes(Platformer* game, Pen* pen) noexcept nogil:
    cdef int width = between(pen, 1, STING[pen.hard]), k, edge = pen.column
    put_ground(game, pen, width)
    for k in range(width):
        game.spike[MARGIN + edge + k] = coin_above(pen.ground, 1)
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 3)


cdef inline void put_walk(Platformer* game, Pen* pen) noexcept nogil:
    """Ground that a slime or an urchin walks on, from end to end."""
    cdef int width = between(pen, 5, 8), edge = pen.column, pace = PACE[pen.hard], span, late, k
    cdef int kind = URCHIN if pen.hard >= HARD and between(pen, 0, 2) == 0 else SLIME
    put_ground(game, pen, width)
    for k in range(1, width - 1, 2):
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 1)
    span = (width * TILE - ENEMY_WIDTH) // pace
    late = between(pen, 0, span - 1)
    put_enemy(game, kind, (edge + width) * TILE - ENEMY_WIDTH - late * pace, (ROWS - pen.ground) * TILE - ENEMY_HEIGHT,
              -pace, 0, span, span - late)


cdef inline void put_bricks(Platformer* game, Pen* pen) noexcept nogil:
    """A ledge of bricks, three tiles up, with coins on it."""
    cdef int width = between(pen, 3, 5), edge = pen.column + 1, k
    put_ground(game, pen, width + 2)
    for k in range(width):
        game.solid[MARGIN + edge + k] |= coin_above(pen.ground, 3)
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 4)


cdef inline void put_islands(Platformer* game, Pen* pen) noexcept nogil:
    """One to three ledges over a pit, two or three columns between and on them."""
    cdef int count = between(pen, 1, 1 + (pen.hard >= HARD) + (pen.hard >= EXPERT)), width, k, _i
    for _i in range(count):
        pen.column += between(pen, 2, 3)
        pen.ground = climb(pen, 1, 1)
        width = between(pen, 2, 3)
        for k in range(width):
            game.solid[MARGIN + pen.column + k] = coin_above(pen.ground, 0)
            game.coin[MARGIN + pen.column + k] = coin_above(pen.ground, 1)
        pen.column += width
    pen.column += 2


cdef inline void put_section(Platformer* game, Pen* pen) noexcept nogil:
    cdef int kind = SECTION[pen.hard][rng_next(&pen.rng) >> 28], edge = pen.column
    if pen.column + (8 + 6 * (pen.hard - MEDIUM) if kind == ISLANDS else 8) > LAST:
        kind = FLAT
    if kind == STEP:
        pen.ground = climb(pen, CLIMB[pen.hard], CLIMB[pen.hard])
    elif kind == PIT:
        put_pit(game, pen)
    elif kind == SPIKES:
        put_spikes(game, pen)
    elif kind == WALK:
        put_walk(game, pen)
    elif kind == BRICKS:
        put_bricks(game, pen)
    elif kind == ISLANDS:
        put_islands(game, pen)
    elif kind == FLIGHT:
        put_flight(game, pen)
    edge = pen.column
    put_ground(game, pen, REST[pen.hard])
    if between(pen, 0, 3) == 0:
        game.coin[MARGIN + edge + 1] = coin_above(pen.ground, 1)


cdef inline void lay_out_level(Platformer* game) noexcept nogil:
    """All of a level but the player, from level_seed, level and difficulty alone."""
    cdef Pen pen
    cdef int k
    memset(game.solid, 0, sizeof(game.solid))
    memset(game.spike, 0, sizeof(game.spike))
    memset(game.coin, 0, sizeof(game.coin))
    for k in range(ENEMIES):
        game.ex[k] = NOWHERE
        game.ey[k] = game.edx[k] = game.edy[k] = game.left[k] = game.span[k] = 0
        game.kind[k] = NOBODY
    game.enemies = 0
    rng_seed(&pen.rng, game.level_seed, <uint64_t>game.level * 4 + game.difficulty)
    pen.column, pen.hard = 0, game.difficulty
    pen.ground = between(&pen, LOWEST + 1, LOWEST + 2)
    put_ground(game, &pen, 5)
    while pen.column < LAST:
        put_section(game, &pen)
    put_ground(game, &pen, COLUMNS)
    for k in range(MARGIN):
        game.solid[k] = game.solid[COLUMNS + MARGIN + k] = 0xFFF


cdef inline void begin_level(Platformer* game, Rng* rng) noexcept nogil:
    """Choose the level, lay it out and put the player at its start."""
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
    """The player's speed after gravity and what he presses."""
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
    """The bits of the rows that a player whose top is at y is in."""
    return 1 << (y >> 8) | 1 << ((y + HEIGHT - 1) >> 8)


cdef inline void move_player(Platformer* game) noexcept nogil:
    """Across, then down; solid tiles stop him."""
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
    cdef long k
    for k in range(ENEMIES):
        game.ex[k] += game.edx[k]
        game.ey[k] += game.edy[k]
        game.left[k] -= 1
        game.edx[k] = -game.edx[k] if game.left[k] == 0 else game.edx[k]
        game.edy[k] = -game.edy[k] if game.left[k] == 0 else game.edy[k]
        game.left[k] = game.span[k] if game.left[k] == 0 else game.left[k]


cdef inline int meet_enemies(Platformer* game, bint* over) noexcept nogil:
    """Stomp or be hurt; returns the enemies stomped."""
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
    """Those of the tiles that the player touches; how many."""
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
    cdef const uint16_t* spike = game.spike + MARGIN
    cdef int rows = 1 << (game.y >> 8) | 1 << ((game.y + HEIGHT - 1 - SPIKE_TOP) >> 8)
    return (spike[(game.x + SPIKE_SIDE) >> 8] | spike[(game.x + WIDTH - 1 - SPIKE_SIDE) >> 8]) & rows != 0
