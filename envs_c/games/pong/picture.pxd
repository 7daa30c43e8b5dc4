"""Pong's picture, in colour and in grey. The screen's layout is in pong.pyx.

The score changes rarely, so its grey rows are made once for each score and then copied.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.pong.rules cimport KNOB_MIDDLE, POINT, TARGET, Pong, ball_x
from envs_c.screen cimport Canvas, canvas_rect, canvas_row, canvas_swap, grey_of


cdef enum:
    LENGTH = 16, WIDTH = 4, BALL_HEIGHT = 4, BALL_WIDTH = 2
    BALL_LEFT = 49, BALL_TOP = 14, ENEMY_TOP = 15, PLAYER_TOP = 14      # subtracted from console coordinates for the screen
    ENEMY_LEFT = 16, PLAYER_LEFT = 140, WALL_Y = 24, COURT_Y = 34, COURT_END = 194, STRIP = 8
    EVEN_X = 139, ODD_X = 158, ROW = 3, KNOB = 6, KNOB_TOP = 12     # see `switch_column`
    CELL = 4, DIGIT_Y = 1, TENS_X = 20, UNITS_X = 36    # the score's digits: pixels
    SIDE = 80                               # pixels: the enemy's score is left of it, the player's right
    SCORES = 22, SCORE_ROWS = 9, HALF = 42      # scores 0 .. 21; grey rows with digits; half the grey columns
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5    # grey canvas: units a screen pixel and a grey pixel
    BLACK = 0x000000, BROWN = 0x904811, WHITE = 0xECECEC, ORANGE = 0xD5824A, GREEN = 0x5CBA5C

cdef extern from *:
    """
    static const unsigned short DIGIT[10] = {  // 3x5 cells, row by row from the top, the highest of 15 bits first
        075557, 022222, 071747, 071317, 055711, 074717, 044757, 071111, 075757, 075711};
    // Made when pong.pyx is imported, then constant: grey rows with the score, by side and points
    static unsigned char SCORE[2][22][9][42];
    """
    const uint16_t[10] DIGIT
    uint8_t[2][22][9][42] SCORE


cdef inline uint32_t score_colour(int side, int points, int x, int y) noexcept nogil:
    """The colour of a pixel above the walls.

    side: 0 the enemy, 1 the player.
    points: that side's score.
    x, y: pixel in that side's half of the screen.
    """
    cdef int digit = points % 10, left = UNITS_X, row = y - DIGIT_Y, column
    if x < UNITS_X:
        digit, left = points // 10, TENS_X
    column = x - left
    if 0 <= column < 3 * CELL and 0 <= row < 5 * CELL and (digit or left == UNITS_X):
        if DIGIT[digit] >> 14 - row // CELL * 3 - column // CELL & 1:
            return GREEN if side else ORANGE
    return BLACK if side == 0 and y == 0 and x < STRIP else BROWN


cdef inline void make_scores() noexcept nogil:
    """Fill SCORE. A grey pixel is the mean of the screen area that it covers, rounded as on the canvas."""
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


cdef inline int painted_score(const Pong* game, int side) noexcept nogil:
    """A side's points on the screen, which shows a point one frame late."""
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
    """Draw a rectangle, cut off at the walls."""
    cdef int y0 = max(y, COURT_Y), y1 = min(y + height, COURT_END)
    canvas_swap(canvas, x, y0, width, y1 - y0, BROWN, colour)


cdef inline uint32_t colour_behind(int x, int y, int enemy, int player) noexcept nogil:
    """The colour at (x, y) without the ball.

    enemy, player: first rows of the paddles.
    """
    if ENEMY_LEFT <= x < ENEMY_LEFT + WIDTH and enemy <= y < enemy + LENGTH:
        return ORANGE
    if PLAYER_LEFT <= x < PLAYER_LEFT + WIDTH and player <= y < player + LENGTH:
        return GREEN
    return BROWN


cdef inline int switch_column(const Pong* game, int row, int enemy, int player) noexcept nogil:
    """The first column in which `row` shows already whether the ball is in row + 1.

    The console decides that within the row. It counts rows in pairs, and decides sooner in rows with paddles, and in those
    below the target of the knob that it reads in this frame: the player's, or in odd frames the other one, which rests in
    its middle. Measured on the cartridge with balls and paddles in all rows, for columns 116 to 156.
    enemy, player: first rows of the paddles.
    """
    cdef int column = ODD_X if row & 1 else EVEN_X - ROW * (enemy <= row + 1 < enemy + LENGTH)
    cdef int pair = row + 1 & ~1, target = TARGET[KNOB_MIDDLE if game.clock & 1 else game.knob]
    return column - ROW * (player <= pair < player + LENGTH) - KNOB * (pair >= target - KNOB_TOP)


cdef inline void draw_ball(const Pong* game, Canvas* canvas, int enemy, int player) noexcept nogil:
    """Draw the ball in front of the paddles. enemy, player: first rows of the paddles."""
    cdef int i, j, x = ball_x(game) - BALL_LEFT, y = game.y - BALL_TOP
    cdef int on = switch_column(game, y - 1, enemy, player), off = switch_column(game, y + BALL_HEIGHT - 1, enemy, player)
    if ENEMY_LEFT + WIDTH <= x <= PLAYER_LEFT - BALL_WIDTH and x + BALL_WIDTH <= min(on, off):
        draw_figure(canvas, x, y, BALL_WIDTH, BALL_HEIGHT, WHITE)
        return
    for i in range(x, x + BALL_WIDTH):
        i = i if i < 2 * SIDE else i - 2 * SIDE  # the right end goes on at the left
        for j in range(max(y - (i >= on), COURT_Y), min(y + BALL_HEIGHT - (i >= off), COURT_END)):
            canvas_swap(canvas, i, j, 1, 1, colour_behind(i, j, enemy, player), WHITE)
