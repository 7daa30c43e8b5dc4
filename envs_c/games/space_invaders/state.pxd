"""Space Invaders' constants, tables and state, and how a wave begins. The rules are in prose in space_invaders.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    # Invaders; places and sizes are in pixels
    ROWS = 6, COLUMNS = 6, PITCH_X = 16, PITCH_Y = 18, WIDE = 8, HIGH = 10, TOP_Y = 31, FIRST_X = 22, LAST_X = 129
    DROP = 10, LANDED_Y = 169, GROUNDED_Y = 183     # the lowest row's y: at the end, and where it is then drawn
    SHELTER_Y = 145                     # once the lowest row is at this y the shields are gone
    LOWEST_START = 4                    # from this wave on a wave begins no lower
    CANNON_X = 34, CANNON_END = 116, CANNON_Y = 185, CANNON_WIDE = 7, CANNON_HIGH = 10
    MUZZLE = 4                          # from the cannon's x to its shot
    SHOT_Y = 174, SHOT_HIGH = 8, SHOT_STEP = 4, SHOT_END = 6
    SPENT_Y = 258, SPENT_END = 242      # a shot that has hit a shield: counted down like a flight, not seen
    FAR_X = 112                         # from this x on, bombs appear a row higher at the cannon
    NEAR_X = 52                         # left of this x, a shot appears a row lower at the saucer
    BOMBS = 2, BOMB_HIGH = 8, BOMB_STEP = 2, BOMB_END = 218, BOMB_SEEN = 186, BOMB_APART = 32, GROUND_Y = 195
    SAUCER_Y = 12, SAUCER_HIGH = 8, SAUCER_WIDE = 7, SAUCER_END = 150, SAUCER_POINTS = 200
    SAUCER_WAIT = 4, SAUCER_ESCORT = 7  # clock's turns to the next saucer; it comes if so many invaders are left
    SHIELDS = 3, SHIELD_ROWS = 9, SHIELD_X = 42, SHIELD_PITCH = 32, SHIELD_Y = 157, SHIELD_END = 175
    PLAY = 0, SHOW, BURN, CLEAR         # phases
    START_CLOCK = 129, SHOW_CLOCK = 64, BURN_CLOCK = 128, CLEAR_CLOCK = 97      # at the begin of a phase
    BLAST_TIME = 4, SAUCER_ROW = 6      # of a blast: 8 frames each; the row of the saucer's
    START_SEED = 21
    OLD_SHOT = 1, OLD_BLAST = 2, OLD_SAUCER = 4, OLD_BOMBS = 8, OLD_SHIELDS = 16, OLD_INVADER = 32  # `late`
    ENTERING = -2
    # Bits of `rules`, for options that are not as on the cartridge, and for further features
    FLICKER = 1, NO_SHIELDS = 2, NO_SAUCER = 4, NO_BOMBS = 8, UNAIMED = 16, FORECAST = 32

cdef extern from *:
    """
    static const unsigned char WHOLE[9] = {  // rows of a shield
        60, 126, 126, 126, 126, 255, 255, 255, 195};
    static const unsigned char NONE_LEFT[8] = {  // pixels of a whole shield by column
        4, 8, 8, 8, 8, 8, 8, 4};
    static const unsigned char PACE[37] = {  // frames a march, by the number of invaders left; about
        4, 4, 7, 7, 11, 16, 16, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
        32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    static const unsigned char STRIDE[37] = {  // pixels a march, by the number of invaders left
        5, 5, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static inline unsigned long long times_of(int count) {
        if (count >= 22) return 0x100000001;
        if (count >= 8) return 0x40000200001;
        if (count >= 5) return 0x1000100010001;
        if (count == 4) return 0x100200400801;
        return count >= 2 ? 0x102040810204081 : 0x1111111111111111;
    }
    static const unsigned char TABLE[32] = {  // column of a bomb, by a random number
        1, 3, 5, 5, 2, 4, 3, 0, 3, 5, 4, 1, 4, 1, 0, 2, 5, 2, 1, 3, 0, 0, 2, 4, 0, 1, 3, 5, 0, 2, 4, 5};
    static const unsigned char NEXT[4][6] = {  // the column that is tried after an empty one
        {1, 2, 3, 4, 5, 0}, {3, 4, 5, 1, 2, 0}, {5, 3, 4, 0, 1, 2}, {5, 0, 1, 2, 3, 4}};
    """
    const uint8_t[9] WHOLE
    const uint8_t[8] NONE_LEFT
    const uint8_t[37] PACE, STRIDE
    const uint8_t[32] TABLE
    const uint8_t[4][6] NEXT
    uint64_t times_of(int count) noexcept nogil     # bit c: they march when the clock modulo 64 is c
    int ctz "__builtin_ctz"(unsigned int) noexcept nogil
    int clz "__builtin_clz"(unsigned int) noexcept nogil
    int clzll "__builtin_clzll"(unsigned long long) noexcept nogil


ctypedef struct Invaders:
    int32_t score
    int16_t x                       # of the first column, even if it is empty
    int16_t y                       # of the first row, even if it is empty
    int16_t saucer_x                # -1: none
    int16_t cannon, shown           # x; where the picture shows it
    int16_t shot_x, shot_y          # y 0: none
    int16_t[BOMBS] bomb_x, bomb_y   # the upper one first; y 0: none
    uint8_t[ROWS] row               # bit c: the invader in column c is there
    uint8_t[SHIELDS][SHIELD_ROWS] shield
    uint8_t[SHIELDS * 8] gone       # [8 * shield + column]: pixels taken away
    uint8_t count, wave, lives
    uint8_t clock                   # counts down in every frame
    uint8_t seed                    # the last random number
    uint8_t first                   # first column that is not empty, as the last frame found it
    int8_t way                      # 1 right, -1 left
    int8_t saucer_way
    uint8_t saucer_wait             # turns of the clock to the next saucer
    uint8_t pose                    # 0 or 1
    uint8_t phase
    uint8_t sheltered               # 0: the shields are gone, as the invaders have come low
    uint8_t blast, blast_row, blast_column  # blast: what is left of the last blast's BLAST_TIME
    uint8_t rules                   # bits of options
    uint8_t emptied                 # bit of the column whose last invader was shot in the last frame
    # The picture of a frame shows what was there before its hits: bits of what these changed, and its values before.
    uint8_t late
    uint8_t old_shot, old_blast, old_blast_row, old_blast_column, points
    int16_t old_saucer              # ENTERING: in part, in the first frame of one that comes from the left
    uint8_t[BOMBS] old_bomb         # y
    uint8_t[SHIELDS][SHIELD_ROWS] old_shield


cdef inline uint8_t rules_of(const double* options) noexcept nogil:
    """Bits of the options from `flicker` on."""
    return <uint8_t>(FLICKER * <int>options[3] | NO_SHIELDS * (options[4] == 0) | NO_SAUCER * (options[5] == 0)
                     | NO_BOMBS * (options[6] == 0) | UNAIMED * (options[7] == 0) | FORECAST * (options[8] != 0))


cdef inline int random_byte(Invaders* game) noexcept nogil:
    """The next random number, 0 to 255; all come before one comes again."""
    game.seed = <uint8_t>(5 * game.seed + 89)
    return game.seed


cdef inline int columns_of(const Invaders* game) noexcept nogil:
    """Bits of the columns that are not empty."""
    return game.row[0] | game.row[1] | game.row[2] | game.row[3] | game.row[4] | game.row[5]


cdef inline int frames_to_march(const Invaders* game) noexcept nogil:
    """Frames to the next march, from 1 on, if the clock goes on."""
    cdef uint64_t times = times_of(game.count)
    cdef int turn = (64 - game.clock) & 63
    return 1 + clzll(times << turn | times >> ((64 - turn) & 63))


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
    memset(game.shield, 0, sizeof(game.shield))
    memset(game.gone, 0, sizeof(game.gone))
    for s in range(SHIELDS):
        if game.rules & NO_SHIELDS:
            memcpy(&game.gone[8 * s], NONE_LEFT, 8)
        else:
            memcpy(game.shield[s], WHOLE, SHIELD_ROWS)
    game.count, game.first = ROWS * COLUMNS, 0
    game.x, game.y = FIRST_X, TOP_Y + DROP * min(<int>game.wave, LOWEST_START)
    game.sheltered = 1
    game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
    game.cannon = game.shown = CANNON_X
    game.saucer_x = -1


cdef inline void begin(Invaders* game, const double* options, int seed) noexcept nogil:
    """Begin an episode."""
    memset(game, 0, sizeof(Invaders))
    game.lives, game.wave = <uint8_t>options[0], <uint8_t>options[1]
    game.rules = rules_of(options)
    game.phase, game.clock = SHOW, START_CLOCK
    game.way, game.saucer_way, game.pose, game.saucer_wait = 1, -1, 1, SAUCER_WAIT
    game.seed = <uint8_t>seed
    begin_wave(game)
