"""Pong, frame by frame as the cartridge of 1977 for the Atari 2600 plays it ("Video Olympics", one player).

Court. On a screen of 160x210 pixels (x to the right, y down) white walls fill rows 24 .. 33 and 194 .. 209. The enemy's
paddle stands at x 16 .. 19, the player's at x 140 .. 143, each 16 rows high. The ball is 2 wide and 4 high. All that
follows counts as the console does: ball x is 49 more than on the screen; the enemy's rows begin at y - 15, the player's at
y - 14 or, where y is odd, y - 13, the ball's at y - 14 or, where y is odd and x is 182 or more, y - 15.

Frame. A clock counts frames from 0 to 7 and around. In each frame the clock ticks, the ball goes by the rules below, then
the enemy moves, then the player's paddle, by its knob.

Knob. An action that holds LEFT turns it by +3, one that holds RIGHT by -3, between 0 and 100. At even clocks the paddle
moves to (y + TARGET[knob]) / 2, rounded down, and so comes to rest where the knob points; LEFT is down. The screen shows
each move a frame later, and it is there that the ball meets the paddle.

Enemy. It moves by 2 towards the ball's y, but rests when the clock is 1. While there is no ball its aim is y 0.

Ball. The first of these that holds acts; then, but after 1, the ball moves by its velocity.
  1. At x <= 52 the player has a point, at x >= 205 the enemy. For this frame the ball stays.
  2. At y <= 45 it goes down, 1 pixel in addition; at y >= 206 it goes up, 1 pixel in addition.
  3. At x 188 .. 192, where its rows meet those of the player's paddle, it goes left. If FIRE was held in the frame before
     it gains 1 pixel a frame across, up to 4.
  4. At x 64 .. 68 and y -4 .. 14 from the enemy's it goes right.
In 3 and 4 its velocity down becomes (its y - the paddle's y + 3) / 4 - 2, rounded down: from -2, or -3 at the enemy, near
the upper end to 2 near the lower one. The velocity across stays until the point; long rallies do not change it.

Serve. After the frame of a point the ball is gone for 62 frames. Then it starts at (128, 128), moves at once, and goes
1 pixel a frame across and down: to the side that lost the point, up if it went up before, else down. The enemy starts at
128, too.

Points. Each is 1 to its side; the reward is that, less for the enemy's. The episode ends when a side has 21 (an option).

Start. The clock is random, and the first serve goes to a random side, up or down, in frame 28 .. 59. With random_serve=0
it goes to the enemy, down, in frame 59, as on the cartridge; then all goes as there. Only the picture differs, by a row of
the ball where x is 175 or more: there the beam meets the ball before the cartridge has decided whether to show it.
"""

from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_next
from envs_c.screen cimport Canvas, canvas_rect, canvas_row, canvas_swap, grey_of
from envs_c.game import Option


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    FIRES = 1 << FIRE | 1 << RIGHT_FIRE | 1 << LEFT_FIRE
    PLAY = 0, POINT, GONE                   # phases; POINT is the frame of one, GONE until the serve
    LEFT_END = 52, RIGHT_END = 205          # x: a point
    CEILING = 45, FLOOR = 206               # y: the ball turns
    ENEMY_X = 64, PLAYER_X = 188, DEPTH = 4     # x: the ball meets a paddle, up to so much farther
    LENGTH = 16, WIDTH = 4, BALL_HEIGHT = 4, BALL_WIDTH = 2
    TOP_SPEED = 4
    MIDDLE = 128                            # x and y of a serve, and the enemy's y at it
    WAIT = 63, FIRST_WAIT = 59, FIRST_PADDLE = 109, FIRST_ENEMY = 22, FIRST_CLOCK = 7
    KNOB_MIDDLE = 50, KNOB_END = 100
    MIDDLE_X = 128, MIDDLE_Y = 126          # where their features are 0
    BALL_LEFT = 49, BALL_TOP = 14, ENEMY_TOP = 15, PLAYER_TOP = 14      # what is taken off for the screen
    ENEMY_LEFT = 16, PLAYER_LEFT = 140, WALL_Y = 24, COURT_Y = 34, COURT_END = 194, STRIP = 8
    EARLY_X = 182                           # from here on the ball's odd rows are drawn 1 higher
    CELL = 4, DIGIT_Y = 1, TENS_X = 20, UNITS_X = 36, SIDE = 80         # of the score: pixels; SIDE is the player's
    SCORES = 22, SCORE_ROWS = 9, HALF = 42      # of the grey canvas: its rows with digits and half its columns
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5    # of the grey canvas: units a pixel and a cell
    BLACK = 0x000000, BROWN = 0x904811, WHITE = 0xECECEC, ORANGE = 0xD5824A, GREEN = 0x5CBA5C

cdef extern from *:
    """
    static const signed char PACE[8] = {2, 0, 2, 2, 2, 2, 2, 2};    // of the enemy in pixels, by the clock
    static const signed char TURN[8] = {0, 0, -3, 3, -3, 3};        // of the knob, by the action
    static const unsigned char TARGET[101] = {  // by the knob, from its right end
         38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  40,  42,  44,  46,  48,  50,
         52,  54,  54,  58,  60,  60,  64,  66,  66,  68,  72,  72,  74,  78,  78,  80,  82,  84,  86,  88,
         90,  92,  94,  96,  98, 100, 102, 104, 106, 106, 110, 112, 112, 114, 118, 118, 120, 124, 124, 126,
        128, 130, 132, 134, 136, 138, 140, 142, 144, 146, 148, 150, 152, 152, 156, 158, 158, 162, 164, 164,
        166, 170, 170, 172, 174, 176, 178, 180, 182, 184, 186, 188, 190, 192, 194, 196, 198, 198, 202, 204, 204};
    static const unsigned short DIGIT[10] = {  // 3x5 cells, row by row from the top, the highest of 15 bits first
        075557, 022222, 071747, 071317, 055711, 074717, 044757, 071111, 075757, 075711};
    """
    const int8_t[8] PACE, TURN
    const uint8_t[101] TARGET
    const uint16_t[10] DIGIT


cdef uint8_t[2][SCORES][SCORE_ROWS][HALF] SCORE     # the grey canvas's rows with the score, by side and points


ctypedef struct Pong:
    # In most frames the ball flies free to the next place where it may meet something, and only its y is followed.
    # All that changes in every frame is as wide as a register: narrower fields cost a third of the speed.
    int32_t x               # of the ball at the end of its flight; see ball_x
    int32_t y               # of the ball now; 0 where there is none
    int32_t free            # so many more frames of flight, or without a ball
    int32_t enemy           # y
    int32_t paddle, before  # the player's y, and what it was before its last move; see shown_paddle
    int32_t knob            # 0 (right, up) .. KNOB_END (left, down)
    int32_t vx, vy          # of the ball: pixels a frame to the right and down
    uint32_t clock          # counts frames; its lowest 3 bits matter
    int32_t action          # of the frame before
    uint8_t up              # whether the next serve goes up
    uint8_t phase           # PLAY, POINT or GONE
    uint8_t[2] score        # the enemy's and the player's
    uint8_t points          # so many end the episode


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Pong* game = <Pong*>state
    cdef uint32_t bits = rng_next(rng)
    memset(game, 0, sizeof(Pong))
    game.points = <uint8_t>options[0]
    game.vx, game.free, game.clock, game.phase = -1, FIRST_WAIT - 1, FIRST_CLOCK, GONE
    if options[1] != 0.0:
        game.vx = 1 if bits & 1 else -1
        game.up = bits >> 1 & 1
        game.clock = bits >> 2 & 7
        game.free = FIRST_WAIT - 1 - (bits >> 5 & 31)
    game.enemy = FIRST_ENEMY
    game.paddle = game.before = FIRST_PADDLE
    game.knob = KNOB_MIDDLE


cdef inline int ball_x(const Pong* game) noexcept nogil:
    return game.x - game.vx * game.free


cdef inline int shown_paddle(const Pong* game) noexcept nogil:
    """The player's y on the screen, and as the ball meets it: that of the frame before."""
    return game.paddle if game.clock & 1 else game.before


cdef inline int frames_to(int low, int high, int place, int velocity) noexcept nogil:
    """Until `place`, between them, is at `low` or less or at `high` or more."""
    if velocity > 0:
        return (high - place + velocity - 1) // velocity
    return (place - low - velocity - 1) // -velocity if velocity < 0 else WAIT


cdef inline void fly(Pong* game) noexcept nogil:
    """Find the next place where a rule may act, and x there."""
    cdef int frames = 0
    if CEILING < game.y < FLOOR:
        if ENEMY_X + DEPTH < game.x < PLAYER_X:
            frames = frames_to(ENEMY_X + DEPTH, PLAYER_X, game.x, game.vx)
        elif game.x > PLAYER_X + DEPTH:
            frames = frames_to(PLAYER_X + DEPTH, RIGHT_END, game.x, game.vx)
        elif game.x < ENEMY_X:
            frames = frames_to(LEFT_END, ENEMY_X, game.x, game.vx)
        frames = max(min(frames, frames_to(CEILING, FLOOR, game.y, game.vy)), 0)
    game.free = frames
    game.x += game.vx * frames


cdef inline float score_point(Pong* game, int side, bint* over) noexcept nogil:
    game.phase = POINT
    game.score[side] += 1
    over[0] = game.score[side] == game.points
    return 1.0 if side else -1.0


cdef inline void serve(Pong* game) noexcept nogil:
    game.phase = PLAY
    game.x = game.y = game.enemy = MIDDLE
    game.vx = 1 if game.vx > 0 else -1
    game.vy = -1 if game.up else 1


cdef inline float turn_ball(Pong* game, bint* over) noexcept nogil:
    """The ball's rules where it does not fly free, its move included; returns the points."""
    cdef int odd = game.y & 1, away = game.y - shown_paddle(game), behind = game.y - game.enemy
    if game.phase == POINT:
        game.phase = GONE
        game.up = game.vy < 0
        game.y = game.vy = 0
        game.free = WAIT - 2
        return 0.0
    if game.phase == GONE:
        serve(game)
    elif game.x <= LEFT_END:
        return score_point(game, 1, over)
    elif game.x >= RIGHT_END:
        return score_point(game, 0, over)
    elif game.y <= CEILING:
        game.vy = game.vy if game.vy > 0 else -game.vy
        game.y += 1
    elif game.y >= FLOOR:
        game.vy = game.vy if game.vy < 0 else -game.vy
        game.y -= 1
    elif PLAYER_X <= game.x <= PLAYER_X + DEPTH and odd - 2 <= away <= odd + 15:
        game.vx = game.vx if game.vx < 0 else -game.vx
        if FIRES >> game.action & 1 and game.vx > -TOP_SPEED:
            game.vx -= 1
        game.vy = (away + 3 >> 2) - 2
    elif ENEMY_X <= game.x <= ENEMY_X + DEPTH and -4 <= behind <= 14:
        game.vx = game.vx if game.vx > 0 else -game.vx
        game.vy = (behind + 3 >> 2) - 2
    game.x += game.vx
    game.y += game.vy
    fly(game)
    return 0.0


cdef inline float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Pong* game = <Pong*>state
    cdef float points = 0.0
    if game.free > 0:
        game.free -= 1
        game.y += game.vy
    else:
        points = turn_ball(game, over)
    game.clock += 1
    game.enemy += PACE[game.clock & 7] * ((game.y > game.enemy) - (game.y < game.enemy))
    game.knob = min(max(game.knob + TURN[action & 7], 0), KNOB_END)
    if game.clock & 1 == 0:
        game.before = game.paddle
        game.paddle = game.paddle + TARGET[game.knob] >> 1
    game.action = action & 7
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Paddle y, enemy's y, ball x y, velocity x y, both scores (the player's first), in units of about their deviation.

    The ball's y is counted from where it would meet the middle of the player's paddle. Without a ball, the enemy's y, the
    ball's and its velocity are 0.
    """
    cdef const Pong* game = <const Pong*>state
    cdef float* features = <float*>out
    cdef int ball = game.y != 0
    features[0] = (game.paddle - MIDDLE_Y) * <float>(1.0 / 50)
    features[1] = (game.enemy - MIDDLE_Y) * ball * <float>(1.0 / 50)
    features[2] = (ball_x(game) - MIDDLE_X) * ball * <float>(1.0 / 40)
    features[3] = (game.y - game.paddle - 7) * ball * <float>(1.0 / 50)
    features[4] = game.vx * ball
    features[5] = game.vy * ball
    features[6] = game.score[1] * <float>(1.0 / 21)
    features[7] = game.score[0] * <float>(1.0 / 21)


cdef inline uint32_t score_colour(int side, int points, int x, int y) noexcept nogil:
    """Of the pixel (x, y) of a side's half of the screen, above the walls."""
    cdef int digit = points % 10, left = UNITS_X, row = y - DIGIT_Y, column
    if x < UNITS_X:
        digit, left = points // 10, TENS_X
    column = x - left
    if 0 <= column < 3 * CELL and 0 <= row < 5 * CELL and (digit or left == UNITS_X):
        if DIGIT[digit] >> 14 - row // CELL * 3 - column // CELL & 1:
            return GREEN if side else ORANGE
    return BLACK if side == 0 and y == 0 and x < STRIP else BROWN


cdef void make_scores() noexcept nogil:
    """SCORE: each cell is the mean of what it covers, rounded as the canvas does."""
    cdef int[SCORE_ROWS + 1][HALF] sums
    cdef int side, points, x, y, i, row, grey, area = CELL_X * CELL_Y
    for side in range(2):
        for points in range(SCORES):
            memset(sums, 0, sizeof(sums))
            for y in range(WALL_Y):
                for x in range(SIDE):
                    grey = grey_of(score_colour(side, points, x, y))
                    for i in range(UNIT_X * UNIT_Y):
                        sums[(y * UNIT_Y + i // UNIT_X) // CELL_Y][(x * UNIT_X + i % UNIT_X) // CELL_X] += grey
            for row in range(SCORE_ROWS):
                for x in range(HALF):
                    SCORE[side][points][row][x] = <uint8_t>((2 * sums[row][x] + area) // (2 * area))


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but the score, the paddles and the ball."""
    canvas_rect(canvas, 0, 0, 2 * SIDE, WALL_Y, BROWN)
    canvas_rect(canvas, 0, 0, STRIP, 1, BLACK)
    canvas_rect(canvas, 0, WALL_Y, 2 * SIDE, 210 - WALL_Y, WHITE)
    canvas_rect(canvas, 0, COURT_Y, 2 * SIDE, COURT_END - COURT_Y, BROWN)


cdef inline int painted_score(const Pong* game, int side) noexcept nogil:
    """The screen shows a point a frame late."""
    return min(game.score[side] - (game.phase == POINT and side == (game.vx < 0)), SCORES - 1)


cdef inline void draw_score(const Pong* game, Canvas* canvas) noexcept nogil:
    cdef int side, row, x, y
    cdef uint8_t* cells
    if canvas.rgb == NULL:
        for row in range(SCORE_ROWS):
            cells = canvas_row(canvas, row)
            for side in range(2):
                memcpy(cells + side * HALF, SCORE[side][painted_score(game, side)][row], HALF)
        return
    for side in range(2):
        for y in range(DIGIT_Y, DIGIT_Y + 5 * CELL):
            for x in range(TENS_X, UNITS_X + 3 * CELL):
                canvas_rect(canvas, side * SIDE + x, y, 1, 1, score_colour(side, painted_score(game, side), x, y))


cdef inline void draw_figure(Canvas* canvas, int x, int y, int width, int height, uint32_t colour) noexcept nogil:
    """Between the walls, which hide what is behind them."""
    cdef int y0 = max(y, COURT_Y), y1 = min(y + height, COURT_END)
    canvas_swap(canvas, x, y0, width, y1 - y0, BROWN, colour)


cdef inline uint32_t colour_behind(int x, int y, int enemy, int player) noexcept nogil:
    """The court's at (x, y), by the paddles' first rows."""
    if ENEMY_LEFT <= x < ENEMY_LEFT + WIDTH and enemy <= y < enemy + LENGTH:
        return ORANGE
    if PLAYER_LEFT <= x < PLAYER_LEFT + WIDTH and player <= y < player + LENGTH:
        return GREEN
    return BROWN


cdef inline void draw_ball(Canvas* canvas, int x, int y, int enemy, int player) noexcept nogil:
    """In front of the paddles, which are at the rows `enemy` and `player`."""
    cdef int i, j
    if ENEMY_LEFT + WIDTH <= x <= PLAYER_LEFT - BALL_WIDTH:
        draw_figure(canvas, x, y, BALL_WIDTH, BALL_HEIGHT, WHITE)
        return
    for j in range(max(y, COURT_Y), min(y + BALL_HEIGHT, COURT_END)):
        for i in range(x, x + BALL_WIDTH):
            canvas_swap(canvas, i, j, 1, 1, colour_behind(i, j, enemy, player), WHITE)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Pong* game = <const Pong*>state
    cdef int x = ball_x(game), enemy = game.enemy - ENEMY_TOP, player = (shown_paddle(game) + 1 & ~1) - PLAYER_TOP
    draw_score(game, canvas)
    draw_figure(canvas, ENEMY_LEFT, enemy, WIDTH, LENGTH, ORANGE)
    draw_figure(canvas, PLAYER_LEFT, player, WIDTH, LENGTH, GREEN)
    if game.y:
        draw_ball(canvas, x - BALL_LEFT, game.y - BALL_TOP - (game.y & (x >= EARLY_X)), enemy, player)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Pong), states, io, lo, hi)


make_scores()

GAME = Game(
    name="pong", title="Pong", version=1, summary="Table tennis against the machine, to 21 points.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), feature_shape=(8,), frame_skip=4,
    feature_low=(-2, -2, -2, -4, -4, -3, 0, 0), feature_high=(2, 2, 3, 4, 4, 3, 1, 1),
    options={
        "points": Option(21, 1, 21, "so many end the episode"),
        "random_serve": Option(1, 0, 1, "0: the first serve is always the cartridge's"),
    },
).bind(chunk, backdrop, draw, sizeof(Pong))
