"""Breakout, frame by frame like the cartridge of 1978 for the Atari 2600.

Screen. 160x210 pixels, x to the right and y down. The court lies below the ceiling (y < 32) and between the left wall
(x < 8) and the right wall (x > 151). It is open below. It holds six rows of 18 bricks. A brick is 8x6; the first one has
its corner at (8, 57). The paddle is 16x4 with its top at y 189. The ball is 2x4. The x and y of the ball are those of its
top left corner, in 1/256 of a pixel, and are rounded down wherever a rule compares them.

Actions. LEFT and RIGHT turn a knob, FIRE serves. The knob has 101 positions and begins in the middle. It turns by 3
positions a frame and stops at its ends. Each position has a target x for the paddle (TARGET in rules.pxd). In each frame
the paddle goes to the middle between its x and the target of the position that the knob had before this frame, rounded down
and limited to 8 to 144.

Serve. While no ball is in play, FIRE serves one at once. It starts at y 122 and moves by 1 pixel a frame downwards and 1
sideways. The place changes with every frame, in this order: x 78 (to the left), 80 (right), 142 (left), 16 (right); then 78
again. The episode's first frame has a random one of them. A new ball keeps the fractions of the last ball's x and y.

Ball. In each frame these rules are applied, in this order, to ball and paddle as the last frame left them. Then the ball
moves.
  1. At y 217 or more the ball is lost, and a life with it. The paddle is 16 wide again.
  2. The paddle returns a ball that overlaps it (y 186 to 192), unless the paddle was also the last to return it. (Bricks
     and the ceiling return the ball, too; side walls do not count.) The ball reverses its vertical direction. It goes to
     the left if its middle is left of the paddle's middle, otherwise to the right. If its middle is left of the paddle's by
     exactly 1 pixel, it is first moved by 4 pixels against its horizontal direction. In this rule and in the table of
     speeds a paddle 12 wide counts as one 16 wide that begins 2 pixels farther left.
  3. At y 33 or less the ceiling sends the ball downwards. The paddle is 12 wide until the ball is lost.
  4. At y 55 to 93 the ball may take a brick, the one in row (y - 59) / 6 and column (x - 8) / 8, in the top row
     (x - 9) / 8, rounded down and limited to the rows and columns that exist. It takes the brick if that is there and one
     of the pixels x to x + 1, y - 1 to y + 2 belongs to any brick. The ball then reverses its vertical direction. It passes
     through all bricks until the paddle or the ceiling returns it.
  5. The walls send the ball to the right at x < 8 and y < 196, and to the left at x > 150 and y < 195.

Speed. In pixels a frame, across and down. It depends on the number of times that the paddle has returned this ball, and on
the ball's x at the last of them:
                                                      1 .. 3     4 .. 7     8 .. 11    12 and more
  x <= paddle + 1 or x >= paddle + 11                 1.5 1      1.5 2      2   1      2   2
  between them                                        1   1.5    0.5 2      2   1      2   2
A brick of the top three rows makes the speed 2 and 3.375 at once, until the ball is lost.

Points. A brick gives 7, 7, 4, 4, 1 or 1 points by its row from the top, so a wall gives 432. After all bricks are gone, a
second wall appears in the frame after the paddle's next return; in that frame things move, but no other rule applies. The
picture shows points and lost balls one frame later.

End. The episode ends with the last life, or when the second wall is gone, at 864 points.

Changed rules. With keep_width=1 the paddle stays 16 wide in rule 3. With fast_ball=1 all returns of the paddle have the
speeds of 12 and more. With hidden_bricks=1 the picture and the features "bricks" show no brick; the ball hits them as before.
"""

from libc.stdint cimport uint8_t, uint32_t

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.breakout.rules cimport (
    BALL_HEIGHT, BALL_WIDTH, BRICKS, BRICK_HEIGHT, BRICK_WIDTH, CEILING, COLUMNS, FLOOR, LEFT_WALL, ONE, PADDLE_HEIGHT,
    HIDDEN_BRICKS, PADDLE_WIDTH, PADDLE_Y, RIGHT_WALL, ROWS, WALL_END, WALL_Y, Breakout, begin, brick_at, play_frame)
from envs_c.games.breakout.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap

from envs_c.game import Feature, Option


cdef enum:
    MIDDLE_PADDLE = 72, MIDDLE_X = 80, MIDDLE_Y = 120   # positions at which the features of paddle and ball are 0
    DIGIT_Y = 5, CELL_WIDTH = 4, CELL_HEIGHT = 2        # top of the digits, and their cells, in pixels
    BLACK = 0x000000, GREY = 0x8E8E8E, RED = 0xC84848, GREEN = 0x429E82

cdef extern from *:
    """
    static const unsigned COLOUR[6] = {0xC84848, 0xC66C3A, 0xB47A30, 0xA2A22A, 0x48A048, 0x4248C8};  // of the bricks, by row
    static const unsigned char LAST_ROW_END[2] = {46, 56};  // by the last bit of the ball's y
    static const unsigned char CUTS[10][3][4] = {  // x, y, width, height: rectangles to cut from 3x5 cells to leave a digit
        {{1, 1, 1, 3}}, {{0, 0, 1, 5}, {2, 0, 1, 5}}, {{0, 1, 2, 1}, {1, 3, 2, 1}},
        {{0, 1, 1, 3}, {1, 1, 1, 1}, {1, 3, 1, 1}}, {{1, 0, 1, 2}, {0, 3, 2, 2}}, {{1, 1, 2, 1}, {0, 3, 2, 1}},
        {{1, 0, 2, 2}, {1, 3, 1, 1}}, {{0, 1, 2, 4}}, {{1, 1, 1, 1}, {1, 3, 1, 1}}, {{1, 1, 1, 1}, {0, 3, 2, 2}}};
    """
    const uint8_t[2] LAST_ROW_END
    const uint8_t[10][3][4] CUTS
    const uint32_t[6] COLOUR


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Breakout*>state, options, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return play_frame(<Breakout*>state, action, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes.

    Positions are measured from the middle of the court and scaled to a standard deviation of about 1 in play; a brick that
    is there is 0. So a move of the ball by a paddle's width changes the input of a network clearly. (With all features
    scaled to 0 .. 1, learning took 20 times as long.)
    """
    cdef const Breakout* game = <const Breakout*>state
    cdef float* features = <float*>out
    cdef int i, hidden = (game.rules & HIDDEN_BRICKS) != 0
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
        features[10 + i] = 1 - game.brick[i] | hidden


cdef inline void draw_digit(Canvas* canvas, int x, int digit) noexcept nogil:
    cdef int k
    canvas_swap(canvas, x, DIGIT_Y, 3 * CELL_WIDTH, 5 * CELL_HEIGHT, BLACK, GREY)
    for k in range(3):
        canvas_swap(canvas, x + CUTS[digit][k][0] * CELL_WIDTH, DIGIT_Y + CUTS[digit][k][1] * CELL_HEIGHT,
                    CUTS[digit][k][2] * CELL_WIDTH, CUTS[digit][k][3] * CELL_HEIGHT, GREY, BLACK)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Paint walls, ceiling and all bricks; `draw` takes out the bricks that are gone."""
    cdef int row
    draw_digit(canvas, 132, 1)  # the player's number
    canvas_rect(canvas, 0, 17, 160, CEILING - 17, GREY)
    canvas_rect(canvas, 0, CEILING, LEFT_WALL, PADDLE_Y - CEILING, GREY)
    canvas_rect(canvas, RIGHT_WALL, CEILING, 8, PADDLE_Y - CEILING, GREY)
    canvas_rect(canvas, 0, PADDLE_Y, LEFT_WALL, FLOOR - PADDLE_Y, GREEN)
    canvas_rect(canvas, RIGHT_WALL, PADDLE_Y, 8, FLOOR - PADDLE_Y - 1, RED)
    for row in range(0 if options[3] != 0.0 else ROWS):
        canvas_rect(canvas, LEFT_WALL, WALL_Y + row * BRICK_HEIGHT, COLUMNS * BRICK_WIDTH, BRICK_HEIGHT, COLOUR[row])


cdef inline void draw_gaps(const Breakout* game, Canvas* canvas) noexcept nogil:
    """Take out the bricks that are gone, neighbours in a row by one rectangle."""
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
    """Paint the ball behind walls and bricks, in the colour of its row. Above WALL_END it is painted 1 pixel higher.

    The console turns the ball off within the court's last row: only its pixels left of that place are painted.
    """
    cdef int x, y, left = game.x >> 8, top = game.y >> 8
    cdef int x0 = max(left, LEFT_WALL), x1 = min(left + BALL_WIDTH, RIGHT_WALL)
    cdef int y0 = max(top - (top <= WALL_END), CEILING)
    cdef int y1 = min(top + BALL_HEIGHT - (top + BALL_HEIGHT <= WALL_END), FLOOR - 1)
    if top <= FLOOR - 1 < top + BALL_HEIGHT:
        canvas_swap(canvas, x0, FLOOR - 1, min(x1, LAST_ROW_END[top & 1]) - x0, 1, BLACK, RED)
    if y1 <= WALL_Y or (y0 >= WALL_END and (y1 <= PADDLE_Y or y0 >= PADDLE_Y + PADDLE_HEIGHT)):
        canvas_swap(canvas, x0, y0, x1 - x0, y1 - y0, BLACK, GREY if y1 <= WALL_Y else RED)
        return
    for y in range(y0, y1):
        for x in range(x0, x1):
            if (game.rules & HIDDEN_BRICKS or not brick_at(game, x, y)) and not (
                    PADDLE_Y <= y < PADDLE_Y + PADDLE_HEIGHT and game.paddle <= x < game.paddle + game.width):
                canvas_swap(canvas, x, y, 1, 1, BLACK, GREY if y < WALL_Y else RED if y >= WALL_END
                            else COLOUR[(y - WALL_Y) // BRICK_HEIGHT])


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Breakout* game = <const Breakout*>state
    cdef int score = game.score - game.points
    draw_digit(canvas, 36, score // 100)
    draw_digit(canvas, 52, score // 10 % 10)
    draw_digit(canvas, 68, score % 10)
    draw_digit(canvas, 100, game.lives + game.lost)
    if not game.rules & HIDDEN_BRICKS:
        draw_gaps(game, canvas)
    canvas_swap(canvas, game.paddle, PADDLE_Y, min(game.width, RIGHT_WALL - game.paddle), PADDLE_HEIGHT, BLACK, RED)
    if game.in_play:
        draw_ball(game, canvas)


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Breakout*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Breakout), states, io, lo, hi)


GAME = Game(
    name="breakout", title="Breakout", version=1, summary="Break two walls of bricks with a ball and a paddle.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT"), feature_shape=(10 + BRICKS,), frame_skip=4,
    feature_low=(-2, -5, -3, -2, -2) + (0,) * (5 + BRICKS), feature_high=(2, 5, 3, 2, 2) + (1,) * (5 + BRICKS),
    options={
        "lives": Option(5, 1, 5, "balls an episode"),
        "keep_width": Option(0, 0, 1, "1: the ceiling does not make the paddle shorter"),
        "fast_ball": Option(0, 0, 1, "1: each return counts as the 12th of the ball, so it is fast from the first one on"),
        "hidden_bricks": Option(0, 0, 1, "1: picture and features show all bricks as gone"),
    },
    features=(
        Feature("paddle x", -2, 2, help="(x - 72) / 36 pixels"),
        Feature("ball x", -5, 5, help="(x - 80) / 36 pixels; 0 without a ball"),
        Feature("ball y", -3, 3, help="(y - 120) / 48 pixels; 0 without a ball"),
        Feature("ball speed x", -2, 2, help="pixels a frame, positive to the right"),
        Feature("ball speed y", -2, 2, help="pixels a frame / 1.6875, positive down"),
        Feature("lives", 0, 1, help="lives / 5"),
        Feature("score", 0, 1, help="points / 864"),
        Feature("bricks gone", 0, 1, help="number of bricks gone of both walls / 216"),
        Feature("short paddle", 0, 1, help="1 while the paddle is 12 wide, 0 while it is 16 wide"),
        Feature("ball in play", 0, 1, help="1 while a ball is in play"),
        Feature("bricks", 0, 1, count=BRICKS, help="1 if the brick is gone; 6 rows of 18, row by row from the top left"),
    ),
    compared_with="The cartridge under ale-py, frame by frame: paddle, ball, bricks, score, lives and picture.",
).bind(chunk, backdrop, draw, sizeof(Breakout), has_mask=False, valid=valid, lives=lives)
