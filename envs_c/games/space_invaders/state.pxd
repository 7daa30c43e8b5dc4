"""Space Invaders' constants, tables and state, and how a wave begins. The rules are in prose in space_invaders.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t
from libc.string cimport memcpy, memset


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    # Invaders; places and sizes are in pixels
    ROWS = 6, COLUMNS = 6, PITCH_X = 16, PITCH_Y = 18, WIDE = 8, HIGH = 10, TOP_Y = 31, FIRST_X = 22, LAST_X = 129
    DROP = 10, LANDED_Y = 169
    LOWEST_START = 4                    # from this wave on a wave begins no lower
    CANNON_X = 34, CANNON_END = 116, CANNON_Y = 185, CANNON_WIDE = 7
    SHOT_Y = 174, SHOT_HIGH = 6, SHOT_STEP = 4, SHOT_END = 12
    BOMBS = 2, BOMB_HIGH = 8, BOMB_STEP = 2, GROUND_Y = 195
    BOMB_WAIT = 32, BOMB_AGAIN = 2      # frames between bombs: after the newest began, after it is gone
    SAUCER_Y = 12, SAUCER_HIGH = 8, SAUCER_WIDE = 7, SAUCER_END = 149, SAUCER_WAIT = 832, SAUCER_POINTS = 200
    SHIELDS = 3, SHIELD_ROWS = 9, SHIELD_X = 42, SHIELD_PITCH = 32, SHIELD_Y = 157, SHIELD_END = 175
    PLAY = 0, REST, BURN, SHOW          # phases
    REST_FRAMES = 128, SHOW_FRAMES = 64, BLAST_FRAMES = 30

cdef extern from *:
    """
    static const unsigned char WHOLE[9] = {  // rows of a shield
        60, 126, 126, 126, 126, 255, 255, 255, 195};
    static const unsigned char PACE[37] = {  // frames a march, by the number of invaders left
        4, 4, 7, 7, 13, 16, 16, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
        32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    static const unsigned char STRIDE[37] = {  // pixels a march, by the number of invaders left
        5, 5, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    """
    const uint8_t[9] WHOLE
    const uint8_t[37] PACE, STRIDE
    int ctz "__builtin_ctz"(unsigned int) noexcept nogil
    int clz "__builtin_clz"(unsigned int) noexcept nogil


ctypedef struct Invaders:
    int32_t score
    int16_t x                       # of the first column, even if it is empty
    int16_t y                       # of the first row, even if it is empty
    int16_t saucer_x                # -1: none
    int16_t saucer_wait             # frames to the next saucer
    int16_t cannon                  # x
    int16_t shot_x, shot_y          # y 0: none
    int16_t[BOMBS] bomb_x, bomb_y   # the newest first; y 0: none
    uint8_t[ROWS] row               # bit c: the invader in column c is there
    uint8_t[SHIELDS][SHIELD_ROWS] shield
    uint8_t[SHIELDS * 8] gone       # [8 * shield + column]: pixels taken away
    uint8_t count, wave, lives
    uint8_t march                   # frames to the next march
    int8_t way                      # 1 right, -1 left
    int8_t saucer_way
    uint8_t pose                    # 0 or 1
    uint8_t odd, quarter            # frames modulo 2, and modulo 4 for the saucer
    uint8_t bomb_age, bomb_rest     # frames since the newest bomb was dropped, and since it is gone
    uint8_t phase, rest             # rest: frames left of a phase other than PLAY
    uint8_t blast, blast_row, blast_column  # blast: frames left of the last blast


cdef inline int columns_of(const Invaders* game) noexcept nogil:
    """Bits of the columns that are not empty."""
    return game.row[0] | game.row[1] | game.row[2] | game.row[3] | game.row[4] | game.row[5]


cdef inline int lowest_y(const Invaders* game) noexcept nogil:
    """The y of the lowest row that is not empty. At least one invader must be left."""
    cdef int r = ROWS - 1
    while game.row[r] == 0:
        r -= 1
    return game.y + PITCH_Y * r


cdef inline void begin_wave(Invaders* game) noexcept nogil:
    """Set up the invaders and whole shields."""
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
    """Remove shot, bombs and saucer."""
    game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
    game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


cdef inline void begin(Invaders* game, int lives, int wave) noexcept nogil:
    """Begin an episode."""
    memset(game, 0, sizeof(Invaders))
    game.lives = <uint8_t>lives
    game.wave = <uint8_t>wave
    game.cannon = CANNON_X
    game.phase, game.rest = SHOW, REST_FRAMES
    begin_wave(game)
    clear_sky(game)
