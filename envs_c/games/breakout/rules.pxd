"""The rules of Breakout: constants, the state, and how a frame changes it. breakout.pyx states the rules in prose."""

from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, FIRE, RIGHT, LEFT
    NOTHING = 0, PADDLE, BRICK, WALL_DUE    # the ball met last; WALL_DUE: the paddle, and a second wall is due
    ONE = 256                               # units of x, y, vx and vy in a pixel
    CEILING = 32, FLOOR = 196               # y: first row of the court; first row in which nothing is drawn
    LEFT_WALL = 8, RIGHT_WALL = 152         # x: first column of the court; first column right of it
    ROWS = 6, COLUMNS = 18, BRICKS = 108, BRICK_WIDTH = 8, BRICK_HEIGHT = 6, WALL_Y = 57, WALL_END = 93
    PADDLE_Y = 189, PADDLE_HEIGHT = 4, PADDLE_WIDTH = 16, SHORT_WIDTH = 12, PADDLE_END = 144
    BALL_WIDTH = 2, BALL_HEIGHT = 4, SERVE_Y = 122, LOST_Y = 217
    KNOB_MIDDLE = 50, KNOB_END = 100, KNOB_TURN = 3
    MANY_HITS = 12                          # hits are counted up to this
    FAST = 16                               # in place of the hits: the ball took a brick of the top three rows
    KEEP_WIDTH = 1, FAST_BALL = 2, HIDDEN_BRICKS = 4    # bits of `rules`: changes of the cartridge's rules

cdef extern from *:
    """
    static const short SERVE_X[4] = {78, 80, 142, 16};
    static const short ACROSS[5][2] = {{256, 384}, {128, 384}, {512, 512}, {512, 512}, {512, 512}};  // [hits / 4][edge]
    static const short DOWN[5][2] = {{384, 256}, {512, 512}, {256, 256}, {512, 512}, {864, 864}};
    static const unsigned char POINTS[6] = {7, 7, 4, 4, 1, 1};
    // By the knob, from its right end. The first 24 are all beyond the wall.
    static const unsigned char TARGET[101] = {
        154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154,
        154, 154, 154, 154, 148, 148, 144, 142, 142, 140, 138, 136, 134, 132, 130, 128, 126, 124, 122, 120,
        120, 116, 114, 114, 112, 108, 108, 106, 104, 102, 100,  98,  96,  94,  92,  90,  88,  86,  84,  82,
         80,  80,  76,  74,  74,  72,  68,  68,  66,  62,  62,  60,  58,  56,  54,  52,  50,  48,  46,  44,
         42,  40,  38,  36,  34,  34,  30,  28,  28,  24,  22,  22,  20,  16,  16,  14,  10,  10,   8,   6,  4};
    """
    const int16_t[4] SERVE_X
    const int16_t[5][2] ACROSS, DOWN
    const uint8_t[6] POINTS
    const uint8_t[101] TARGET


ctypedef struct Breakout:
    int32_t x, y, vx, vy    # ball: 1/256 pixel, 1/256 pixel a frame
    int16_t score           # points
    uint8_t gone            # bricks gone of both walls
    uint8_t rules           # the changed ones
    uint8_t lives, in_play  # in_play: 0 or 1
    uint8_t met             # NOTHING, PADDLE, BRICK or WALL_DUE
    uint8_t hits            # 0 .. MANY_HITS, or FAST
    uint8_t turn            # counts frames; the low two bits choose the serve
    uint8_t knob            # 0 (right) .. KNOB_END (left)
    uint8_t paddle, width   # of the paddle: x and width, in pixels
    uint8_t[BRICKS] brick   # 1 if the brick is there, row by row from the top
    uint8_t points, lost    # of the last frame: its points, and whether a ball was lost; the picture does not show them yet


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return (options[1] != 0.0) * KEEP_WIDTH | (options[2] != 0.0) * FAST_BALL | (options[3] != 0.0) * HIDDEN_BRICKS


cdef inline uint8_t first_hits(const Breakout* game) noexcept nogil:
    """The hits of a new ball."""
    return MANY_HITS if game.rules & FAST_BALL else 0


cdef inline void begin(Breakout* game, const double* options, Rng* rng) noexcept nogil:
    """Begin a new episode."""
    memset(game, 0, sizeof(Breakout))
    game.rules = <uint8_t>rules_of(options)
    game.hits = first_hits(game)
    memset(game.brick, 1, BRICKS)
    game.turn = <uint8_t>rng_below(rng, 4)
    game.lives = <uint8_t>options[0]
    game.knob, game.paddle = KNOB_MIDDLE, TARGET[KNOB_MIDDLE] - 1
    game.width = PADDLE_WIDTH


cdef inline bint brick_at(const Breakout* game, int x, int y) noexcept nogil:
    """Whether pixel (x, y) belongs to a brick that is there."""
    if y < WALL_Y or y >= WALL_END or x < LEFT_WALL or x >= RIGHT_WALL:
        return False
    return game.brick[(y - WALL_Y) // BRICK_HEIGHT * COLUMNS + (x - LEFT_WALL) // BRICK_WIDTH]


cdef inline float take_brick(Breakout* game, int x, int y, bint* over) noexcept nogil:
    """Rule 4. Returns the points."""
    cdef int row = (y - 59) // BRICK_HEIGHT if y > 59 else 0
    cdef int column = (x - LEFT_WALL - (row == 0)) >> 3
    column = min(max(column, 0), COLUMNS - 1)
    if not game.brick[row * COLUMNS + column] or not (brick_at(game, x, y - 1) or brick_at(game, x + 1, y - 1)
                                                      or brick_at(game, x, y + 2) or brick_at(game, x + 1, y + 2)):
        return 0.0
    game.brick[row * COLUMNS + column] = 0
    game.points = POINTS[row]
    game.met = BRICK
    game.gone += 1
    game.score += POINTS[row]
    over[0] = game.gone == 2 * BRICKS
    if row < 3:
        game.hits = FAST
        game.vx = ACROSS[FAST // 4][0] if game.vx > 0 else -ACROSS[FAST // 4][0]
        game.vy = DOWN[FAST // 4][0] if game.vy > 0 else -DOWN[FAST // 4][0]
    game.vy = -game.vy
    return POINTS[row]


cdef inline void hit_paddle(Breakout* game, int x) noexcept nogil:
    """Rule 2, and the table of speeds."""
    cdef int place = x - game.paddle + (PADDLE_WIDTH - game.width) // 2
    cdef bint edge = place <= 1 or place >= 11
    if game.hits < MANY_HITS:
        game.hits += 1
    if place == 6:
        game.x += -4 * ONE if game.vx > 0 else 4 * ONE
    game.vx = ACROSS[game.hits // 4][edge] if place > 6 else -ACROSS[game.hits // 4][edge]
    game.vy = -DOWN[game.hits // 4][edge] if game.vy > 0 else DOWN[game.hits // 4][edge]
    game.met = WALL_DUE if game.gone == BRICKS and not game.brick[0] else PADDLE


cdef inline void lose_ball(Breakout* game, bint* over) noexcept nogil:
    game.in_play = game.met = game.vx = game.vy = 0
    game.hits = first_hits(game)
    game.width = PADDLE_WIDTH
    game.lives -= 1
    game.lost = True
    over[0] = game.lives == 0


cdef inline float turn_ball(Breakout* game, bint* over) noexcept nogil:
    """Rules 1 to 5. Returns the points."""
    cdef int x = game.x >> 8, y = game.y >> 8
    cdef float points = 0.0
    if y > PADDLE_Y - BALL_HEIGHT:
        if y >= LOST_Y:
            lose_ball(game, over)
        elif (y < PADDLE_Y + PADDLE_HEIGHT and game.met != PADDLE
              and game.paddle - BALL_WIDTH < x < game.paddle + game.width):
            hit_paddle(game, x)
    elif y < CEILING + 2:
        game.vy = game.vy if game.vy > 0 else -game.vy
        game.met = NOTHING
        game.width = PADDLE_WIDTH if game.rules & KEEP_WIDTH else SHORT_WIDTH
    elif WALL_Y - 2 <= y <= WALL_END and game.met != BRICK:
        points = take_brick(game, x, y, over)
    if x < LEFT_WALL and y < FLOOR and game.vx < 0:
        game.vx = -game.vx
    if x > RIGHT_WALL - BALL_WIDTH and y < FLOOR - 1 and game.vx > 0:
        game.vx = -game.vx
    return points


cdef inline void move_paddle(Breakout* game, int action) noexcept nogil:
    cdef int twist = KNOB_TURN if action == LEFT else -KNOB_TURN if action == RIGHT else 0
    game.paddle = min(max((game.paddle + TARGET[game.knob]) >> 1, LEFT_WALL), PADDLE_END)
    game.knob = min(max(game.knob + twist, 0), KNOB_END)


cdef inline float play_frame(Breakout* game, int action, bint* over) noexcept nogil:
    """Play one frame; returns the points."""
    cdef float points = 0.0
    game.points = game.lost = 0
    if game.in_play:
        if game.met == WALL_DUE:
            memset(game.brick, 1, BRICKS)
            game.met = PADDLE
        else:
            points = turn_ball(game, over)
        game.x += game.vx
        game.y += game.vy
    elif action == FIRE:  # as on the cartridge, x and y keep the fractions of the last ball
        game.in_play = True
        game.x = SERVE_X[game.turn & 3] * ONE | (game.x & (ONE - 1))
        game.y = SERVE_Y * ONE | (game.y & (ONE - 1))
        game.vx = ONE if game.turn & 1 else -ONE
        game.vy = ONE
    move_paddle(game, action)
    game.turn += 1
    return points
