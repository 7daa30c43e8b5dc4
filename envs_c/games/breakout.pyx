"""Breakout, frame by frame as the cartridge of 1978 for the Atari 2600 plays it.

Court. On a screen of 160x210 pixels (x to the right, y down) it lies below the ceiling (y < 32), between the left
wall (x < 8) and the right wall (x > 151), and is open below. In it hang six rows of 18 bricks, 8x6 each, from (8, 57)
on. The paddle is 16x4, its top at y 189. The ball is 2x4; x and y are those of its top left corner, kept to 1/256 of a
pixel and rounded down wherever a rule compares them.

Paddle. A knob of 101 positions, in the middle at first, turns by 3 a frame under LEFT or RIGHT, not past its ends. Each
has a target x; each frame the paddle goes half the way to the target of the knob as it stood before this frame's turn,
rounded down, and not beyond 8 .. 144.

Serve. While no ball is in play, FIRE serves one at once, at y 122, 1 pixel a frame downwards and 1 sideways: as frames
pass, by turns from x 78 to the left, 80 to the right, 142 to the left and 16 to the right. The first turn is random.

Ball. Each frame these rules look, in their order, at ball and paddle as the last frame left them; then the ball moves.
  1. At y 217 or more the ball is lost, and with it a life. The paddle is 16 wide again.
  2. The paddle returns a ball that overlaps it (y 186 .. 192), unless it did so and no brick or ceiling was hit since.
     The ball reverses its vertical direction and goes left if its middle is left of the paddle's, else right; if left
     of it by exactly 1 pixel, it is first set back by 4 against the way it came. Here and in the table below a paddle
     of 12 counts as one of 16 that begins 2 pixels farther left.
  3. The ceiling returns it downwards at y 33 or less, and the paddle shrinks to 12 until the ball is lost.
  4. At y 55 .. 93 it may take the brick in row (y - 59) / 6 and column (x - 8) / 8, in the top row (x - 9) / 8, cut to
     what exists. It does if that brick is there and its pixels (x .. x + 1, y - 1 .. y + 2) touch any brick. It then
     reverses its vertical direction, and passes through all other bricks until paddle or ceiling has returned it.
  5. The walls return it: to the right at x < 8 and y < 196, to the left at x > 150 and y < 195.

Speed. Across and down, in pixels a frame, by how often the paddle has returned this ball:
                                                      1 .. 3     4 .. 7     8 .. 11    12 and more
  last at x <= paddle + 1 or x >= paddle + 11         1.5 1      1.5 2      2   1      2   2
  last between them                                   1   1.5    0.5 2      2   1      2   2
A brick of the top three rows makes it 2 and 3.375 at once, until the ball is lost.

Points. A brick gives 7, 7, 4, 4, 1 or 1 by its row from the top, the wall 432. When all are gone, the frame after the
paddle's next return puts up a second wall, and no rule but motion holds in it. The episode ends with the last life, or
when that wall too is gone, at 864 points.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap
from envs_c.game import Option


cdef enum:
    NOOP, FIRE, RIGHT, LEFT
    NOTHING = 0, PADDLE, BRICK, WALL_DUE    # what the ball met last; the paddle, and a second wall is due
    ONE = 256                               # units of x, y, vx and vy a pixel
    CEILING = 32, FLOOR = 196               # y: the court's first row, the first where nothing is drawn
    LEFT_WALL = 8, RIGHT_WALL = 152         # x: the court's first column, the first past it
    ROWS = 6, COLUMNS = 18, BRICKS = 108, BRICK_WIDTH = 8, BRICK_HEIGHT = 6, WALL_Y = 57, WALL_END = 93
    PADDLE_Y = 189, PADDLE_HEIGHT = 4, PADDLE_WIDTH = 16, SHORT_WIDTH = 12, PADDLE_END = 144
    BALL_WIDTH = 2, BALL_HEIGHT = 4, SERVE_Y = 122, LOST_Y = 217
    MIDDLE_PADDLE = 72, MIDDLE_X = 80, MIDDLE_Y = 120   # where their features are 0
    KNOB_MIDDLE = 50, KNOB_END = 100, KNOB_TURN = 3
    MANY_HITS = 12                          # further ones are not counted
    FAST = 16                               # instead of the hits: the ball took a brick of the top three rows
    DIGIT_Y = 5, CELL_WIDTH = 4, CELL_HEIGHT = 2
    BLACK = 0x000000, GREY = 0x8E8E8E, RED = 0xC84848, GREEN = 0x429E82

cdef extern from *:
    """
    static const short SERVE_X[4] = {78, 80, 142, 16};
    static const short ACROSS[5][2] = {{256, 384}, {128, 384}, {512, 512}, {512, 512}, {512, 512}};  // [hits / 4][edge]
    static const short DOWN[5][2] = {{384, 256}, {512, 512}, {256, 256}, {512, 512}, {864, 864}};
    static const unsigned char POINTS[6] = {7, 7, 4, 4, 1, 1};
    static const unsigned COLOUR[6] = {0xC84848, 0xC66C3A, 0xB47A30, 0xA2A22A, 0x48A048, 0x4248C8};
    static const unsigned char TARGET[101] = {  // by the knob, from its right end; the first 24 all pull to the wall
        154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154,
        154, 154, 154, 154, 148, 148, 144, 142, 142, 140, 138, 136, 134, 132, 130, 128, 126, 124, 122, 120,
        120, 116, 114, 114, 112, 108, 108, 106, 104, 102, 100,  98,  96,  94,  92,  90,  88,  86,  84,  82,
         80,  80,  76,  74,  74,  72,  68,  68,  66,  62,  62,  60,  58,  56,  54,  52,  50,  48,  46,  44,
         42,  40,  38,  36,  34,  34,  30,  28,  28,  24,  22,  22,  20,  16,  16,  14,  10,  10,   8,   6,  4};
    static const unsigned char CUTS[10][3][4] = {  // x, y, width, height: what to cut from 3x5 cells to leave a digit
        {{1, 1, 1, 3}}, {{0, 0, 1, 5}, {2, 0, 1, 5}}, {{0, 1, 2, 1}, {1, 3, 2, 1}},
        {{0, 1, 1, 3}, {1, 1, 1, 1}, {1, 3, 1, 1}}, {{1, 0, 1, 2}, {0, 3, 2, 2}}, {{1, 1, 2, 1}, {0, 3, 2, 1}},
        {{1, 0, 2, 2}, {1, 3, 1, 1}}, {{0, 1, 2, 4}}, {{1, 1, 1, 1}, {1, 3, 1, 1}}, {{1, 1, 1, 1}, {0, 3, 2, 2}}};
    """
    const int16_t[4] SERVE_X
    const int16_t[5][2] ACROSS, DOWN
    const uint8_t[6] POINTS
    const uint8_t[101] TARGET
    const uint8_t[10][3][4] CUTS
    const uint32_t[6] COLOUR


ctypedef struct Breakout:
    int32_t x, y, vx, vy    # ball: 1/256 pixel, 1/256 pixel a frame
    int16_t score, gone     # points; bricks gone of both walls
    uint8_t lives, in_play  # in_play is 0 or 1
    uint8_t met             # NOTHING, PADDLE, BRICK or WALL_DUE
    uint8_t hits            # 0 .. MANY_HITS, or FAST
    uint8_t turn            # of the serve: counts frames
    uint8_t knob            # 0 (right) .. KNOB_END (left)
    uint8_t paddle, width   # its x and its width
    uint8_t[BRICKS] brick   # 1 where there is one, row by row from the top


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Breakout* game = <Breakout*>state
    memset(game, 0, sizeof(Breakout))
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
    """Rule 4; returns the points."""
    cdef int row = (y - 59) // BRICK_HEIGHT if y > 59 else 0
    cdef int column = (x - LEFT_WALL - (row == 0)) >> 3
    column = min(max(column, 0), COLUMNS - 1)
    if not game.brick[row * COLUMNS + column] or not (brick_at(game, x, y - 1) or brick_at(game, x + 1, y - 1)
                                                      or brick_at(game, x, y + 2) or brick_at(game, x + 1, y + 2)):
        return 0.0
    game.brick[row * COLUMNS + column] = 0
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
    """Rule 2 and the speed."""
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
    game.in_play = game.met = game.hits = game.vx = game.vy = 0
    game.width = PADDLE_WIDTH
    game.lives -= 1
    over[0] = game.lives == 0


cdef inline float turn_ball(Breakout* game, bint* over) noexcept nogil:
    """The ball's rules; returns the points."""
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
        game.width = SHORT_WIDTH
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


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Breakout* game = <Breakout*>state
    cdef float points = 0.0
    if game.in_play:
        if game.met == WALL_DUE:
            memset(game.brick, 1, BRICKS)
            game.met = PADDLE
        else:
            points = turn_ball(game, over)
        game.x += game.vx
        game.y += game.vy
    elif action == FIRE:  # as on the cartridge, x and y keep the fractions that the last ball left
        game.in_play = True
        game.x = SERVE_X[game.turn & 3] * ONE | (game.x & (ONE - 1))
        game.y = SERVE_Y * ONE | (game.y & (ONE - 1))
        game.vx = ONE if game.turn & 1 else -ONE
        game.vy = ONE
    move_paddle(game, action)
    game.turn += 1
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Paddle x, ball x y, velocity x y, lives, score, bricks gone, paddle shrunk, ball in play, and 108 bricks, 1 where gone.

    Positions are counted from the court's middle, in units of about their deviation in play, and what is there at first is
    0: so a network sees a ball that moves by a paddle's width at once. (With 0 .. 1 for all of it learning took 20 times
    as long.)
    """
    cdef const Breakout* game = <const Breakout*>state
    cdef float* features = <float*>out
    cdef int i
    features[0] = (game.paddle - MIDDLE_PADDLE) * <float>(1.0 / 36)
    features[1] = (game.x - MIDDLE_X * ONE if game.in_play else 0) * <float>(1.0 / (36 * ONE))
    features[2] = (game.y - MIDDLE_Y * ONE if game.in_play else 0) * <float>(1.0 / (48 * ONE))
    features[3] = game.vx * <float>(1.0 / 256)
    features[4] = game.vy * <float>(1.0 / 432)
    features[5] = game.lives * <float>(1.0 / 5)
    features[6] = game.score * <float>(1.0 / 864)
    features[7] = game.gone * <float>(1.0 / (2 * BRICKS))
    features[8] = (PADDLE_WIDTH - game.width) * <float>(1.0 / 4)
    features[9] = game.in_play
    for i in range(BRICKS):
        features[10 + i] = 1 - game.brick[i]


cdef inline void draw_digit(Canvas* canvas, int x, int digit) noexcept nogil:
    cdef int k
    canvas_swap(canvas, x, DIGIT_Y, 3 * CELL_WIDTH, 5 * CELL_HEIGHT, BLACK, GREY)
    for k in range(3):
        canvas_swap(canvas, x + CUTS[digit][k][0] * CELL_WIDTH, DIGIT_Y + CUTS[digit][k][1] * CELL_HEIGHT,
                    CUTS[digit][k][2] * CELL_WIDTH, CUTS[digit][k][3] * CELL_HEIGHT, GREY, BLACK)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but score, lives, paddle and ball; the wall is whole, `draw` takes out the bricks that are gone."""
    cdef int row
    draw_digit(canvas, 132, 1)  # the player's number
    canvas_rect(canvas, 0, 17, 160, CEILING - 17, GREY)
    canvas_rect(canvas, 0, CEILING, LEFT_WALL, PADDLE_Y - CEILING, GREY)
    canvas_rect(canvas, RIGHT_WALL, CEILING, 8, PADDLE_Y - CEILING, GREY)
    canvas_rect(canvas, 0, PADDLE_Y, LEFT_WALL, FLOOR - PADDLE_Y, GREEN)
    canvas_rect(canvas, RIGHT_WALL, PADDLE_Y, 8, FLOOR - PADDLE_Y - 1, RED)
    for row in range(ROWS):
        canvas_rect(canvas, LEFT_WALL, WALL_Y + row * BRICK_HEIGHT, COLUMNS * BRICK_WIDTH, BRICK_HEIGHT, COLOUR[row])


cdef inline void draw_gaps(const Breakout* game, Canvas* canvas) noexcept nogil:
    """Take out the bricks that are gone, neighbours in a row together."""
    cdef int row, column, start
    for row in range(ROWS):
        start = 0
        for column in range(COLUMNS + 1):
            if column == COLUMNS or game.brick[row * COLUMNS + column]:
                if column > start:
                    canvas_swap(canvas, LEFT_WALL + start * BRICK_WIDTH, WALL_Y + row * BRICK_HEIGHT,
                                (column - start) * BRICK_WIDTH, BRICK_HEIGHT, COLOUR[row], BLACK)
                start = column + 1


cdef inline void draw_ball(const Breakout* game, Canvas* canvas) noexcept nogil:
    """Behind walls and bricks, in the colour of what stands at its height; 1 pixel higher down to the lowest bricks."""
    cdef int x, y, left = game.x >> 8, top = game.y >> 8
    cdef int x0 = max(left, LEFT_WALL), x1 = min(left + BALL_WIDTH, RIGHT_WALL)
    cdef int y0 = max(top - (top <= WALL_END), CEILING)
    cdef int y1 = min(top + BALL_HEIGHT - (top + BALL_HEIGHT <= WALL_END), FLOOR - 1)
    if y1 <= WALL_Y or (y0 >= WALL_END and (y1 <= PADDLE_Y or y0 >= PADDLE_Y + PADDLE_HEIGHT)):
        canvas_swap(canvas, x0, y0, x1 - x0, y1 - y0, BLACK, GREY if y1 <= WALL_Y else RED)
        return
    for y in range(y0, y1):
        for x in range(x0, x1):
            if not brick_at(game, x, y) and not (
                    PADDLE_Y <= y < PADDLE_Y + PADDLE_HEIGHT and game.paddle <= x < game.paddle + game.width):
                canvas_swap(canvas, x, y, 1, 1, BLACK, GREY if y < WALL_Y else RED if y >= WALL_END
                            else COLOUR[(y - WALL_Y) // BRICK_HEIGHT])


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Breakout* game = <const Breakout*>state
    draw_digit(canvas, 36, game.score // 100)
    draw_digit(canvas, 52, game.score // 10 % 10)
    draw_digit(canvas, 68, game.score % 10)
    draw_digit(canvas, 100, game.lives if game.lives > 0 else 1)
    draw_gaps(game, canvas)
    canvas_swap(canvas, game.paddle, PADDLE_Y, min(game.width, RIGHT_WALL - game.paddle), PADDLE_HEIGHT, BLACK, RED)
    if game.in_play:
        draw_ball(game, canvas)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Breakout), states, io, lo, hi)


GAME = Game(
    name="breakout", title="Breakout", version=1, summary="Break two walls of bricks with a ball and a paddle.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT"), feature_shape=(10 + BRICKS,), frame_skip=4,
    feature_low=(-2, -5, -3, -2, -2) + (0,) * (5 + BRICKS), feature_high=(2, 5, 3, 2, 2) + (1,) * (5 + BRICKS),
    options={"lives": Option(5, 1, 5, "balls an episode")},
).bind(chunk, backdrop, draw, sizeof(Breakout))
