"""The platformer's state, and how a level is laid out. The rules are in prose in platformer.pyx.

A level is COLUMNS columns of three sets of bits (solid tiles, spikes, coins; bit r is row r from the top) and at most ENEMIES
enemies. It is laid out from left to right in sections. Each section begins and ends on ground that is always safe, so a
player who can pass every section can pass the level.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below, rng_next, rng_seed


cdef enum:
    NOBODY = 0, SLIME, URCHIN, BAT
    EASY = 0, MEDIUM, HARD, EXPERT, DIFFICULTIES
    FLAT = 0, STEP, PIT, SPIKES, WALK, BRICKS, ISLANDS, FLIGHT, SECTIONS
    ROWS = 12, COLUMNS = 64, MARGIN = 8         # tiles; MARGIN: solid columns beyond each end
    ENEMIES = 8
    LOWEST = 2, HIGHEST = 6                     # height of the ground, tiles
    TILE = 256                                  # units a tile; all places and speeds are in units
    GOAL_COLUMN = 60, LAST = 57                 # sections end before column LAST
    ENEMY_WIDTH = 219, ENEMY_HEIGHT = 183
    NOWHERE = 30000                             # x of unused enemies

cdef extern from *:
    """
    static const unsigned char SECTION[4][16] = {  // by difficulty: sections, each as likely as often it stands here
        {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 5},
        {0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6},
        {1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7},
        {1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7, 7}};
    static const unsigned char CLIMB[4] = {1, 2, 2, 3};     // most tiles up or down
    static const unsigned char GAP[4] = {2, 3, 4, 5};       // most columns of a pit
    static const unsigned char STING[4] = {1, 2, 3, 4};     // most columns of spikes
    static const unsigned char REST[4] = {4, 3, 3, 2};      // safe columns between sections
    static const unsigned char PACE[4] = {12, 16, 20, 28};  // units a frame of walking enemies
    """
    const uint8_t[4][16] SECTION
    const uint8_t[4] CLIMB, GAP, STING, REST, PACE


ctypedef struct Platformer:
    uint16_t[COLUMNS + 2 * MARGIN] solid, spike, coin   # bits 1 << row; column c is at c + MARGIN
    int16_t[ENEMIES] ex, ey     # enemies: their left and top
    int16_t[ENEMIES] edx, edy   # units a frame
    int16_t[ENEMIES] left, span  # frames to the next turn, and from turn to turn
    uint8_t[ENEMIES] kind       # NOBODY: unused or stomped
    int32_t score
    uint32_t level              # number of the level
    uint32_t levels, level_seed  # options
    int16_t x, y, vx, vy        # the player: left and top, units a frame
    int16_t time                # frames left
    uint8_t difficulty, stages  # options
    uint8_t enemies             # number of enemies at the start of the level
    uint8_t grace, buffer       # frames left to jump after the ground, and before it
    uint8_t held, facing        # held: JUMP was held in the last frame; facing: 1 is left
    uint8_t stage               # levels passed


ctypedef struct Pen:
    # The place up to which a level is laid out.
    Rng rng
    int column, ground  # next column; height of the ground there
    int hard        # difficulty


cdef inline int between(Pen* pen, int low, int high) noexcept nogil:
    """A random integer from low to high, both included."""
    return low + <int>rng_below(&pen.rng, high - low + 1)


cdef inline uint16_t coin_above(int ground, int tiles) noexcept nogil:
    """The bit of the row that is `tiles` tiles above the top tile of the ground."""
    return <uint16_t>(1 << (ROWS - ground - tiles))


cdef inline void put_ground(Platformer* game, Pen* pen, int columns) noexcept nogil:
    """Columns of ground at the pen's height."""
    cdef uint16_t bits = <uint16_t>((0xFFF << (ROWS - pen.ground)) & 0xFFF)
    cdef int end = min(pen.column + columns, COLUMNS)
    while pen.column < end:
        game.solid[MARGIN + pen.column] = bits
        pen.column += 1


cdef inline void put_enemy(Platformer* game, int kind, int x, int y, int dx, int dy, int span, int left) noexcept nogil:
    """Add an enemy; the arguments are fields of Platformer. No effect if the level has ENEMIES already."""
    cdef int k = game.enemies
    if k < ENEMIES:
        game.kind[k] = kind
        game.ex[k], game.ey[k], game.edx[k], game.edy[k] = x, y, dx, dy
        game.span[k], game.left[k] = span, left
        game.enemies += 1


cdef inline int climb(Pen* pen, int up, int down) noexcept nogil:
    """A random height of the ground, at most `up` above and `down` below the current one."""
    return min(max(pen.ground + between(pen, -down, up), LOWEST), HIGHEST)


cdef inline void put_pit(Platformer* game, Pen* pen) noexcept nogil:
    """A pit, empty or with spikes on its floor; the ground beyond is at most 1 tile higher or 2 lower."""
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
    """A pit with a bat that flies up and down in the middle."""
    cdef int edge = pen.column, ground = pen.ground, span
    put_pit(game, pen)
    span = between(pen, 30, 50)
    put_enemy(game, BAT, edge * TILE + ((pen.column - edge) * TILE - ENEMY_WIDTH) // 2, (ROWS - ground - 5) * TILE,
              0, 1280 // span, span, span)


cdef inline void put_spikes(Platformer* game, Pen* pen) noexcept nogil:
    """Ground with spikes, and coins above them."""
    cdef int width = between(pen, 1, STING[pen.hard]), k, edge = pen.column
    put_ground(game, pen, width)
    for k in range(width):
        game.spike[MARGIN + edge + k] = coin_above(pen.ground, 1)
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 3)


cdef inline void put_walk(Platformer* game, Pen* pen) noexcept nogil:
    """Ground on which a slime or an urchin walks from end to end."""
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
    """Ground with a ledge of bricks 3 tiles above it, and coins on the ledge."""
    cdef int width = between(pen, 3, 5), edge = pen.column + 1, k
    put_ground(game, pen, width + 2)
    for k in range(width):
        game.solid[MARGIN + edge + k] |= coin_above(pen.ground, 3)
        game.coin[MARGIN + edge + k] = coin_above(pen.ground, 4)


cdef inline void put_islands(Platformer* game, Pen* pen) noexcept nogil:
    """One to three ledges over a pit, 2 or 3 columns wide and 2 or 3 columns apart."""
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
    """A random section, flat if there is no space for it, and safe ground behind it."""
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
    """Lay out a level without the player. It depends only on level_seed, level and difficulty."""
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
