"""The check of a restored game of Breakout."""

from libc.stdint cimport int64_t

from envs_c.games.breakout.rules cimport (
    BRICKS, COLUMNS, FAST, FAST_BALL, KEEP_WIDTH, KNOB_END, LEFT_WALL, MANY_HITS, ONE, PADDLE_END, PADDLE_WIDTH, POINTS,
    SHORT_WIDTH, WALL_DUE, Breakout, rules_of)
from envs_c.valid cimport between


cdef enum:
    WALL_POINTS = 432                   # of all bricks of a wall
    BALL_LEFT = -64, BALL_RIGHT = 224   # x that a ball cannot reach while it falls past the paddle
    BALL_TOP = 30, BALL_BOTTOM = 221    # y that it cannot reach


cdef inline bint has_bricks(const Breakout* game, bint over) noexcept nogil:
    """True if score and count are those of the bricks that are gone."""
    cdef int i, gone = 0, score = 0, walls
    for i in range(BRICKS):
        if game.brick[i] > 1:
            return False
        gone += 1 - game.brick[i]
        score += (1 - game.brick[i]) * POINTS[i // COLUMNS]
    walls = 1 if game.gone > gone else 0  # those that were taken before the present one
    return (game.gone == gone + BRICKS * walls and game.score == score + WALL_POINTS * walls
            and game.gone < 2 * BRICKS + over)


cdef inline bint has_ball(const Breakout* game) noexcept nogil:
    """True if the ball in play, or the place of the last one, is in the court, at one of the speeds."""
    cdef int64_t vx = game.vx, vy = game.vy  # wider: the smallest int32 has no negative of its type
    cdef int64_t across = vx if vx > 0 else -vx, down = vy if vy > 0 else -vy
    if not (between(game.x, BALL_LEFT * ONE, BALL_RIGHT * ONE) and between(game.y, 0, BALL_BOTTOM * ONE)):
        return False
    if not game.in_play:
        return game.vx == 0 and game.vy == 0 and game.met == 0
    if game.met == WALL_DUE and (game.gone != BRICKS or game.brick[0]):
        return False
    return (game.y >= BALL_TOP * ONE and game.met <= WALL_DUE and across in (128, 256, 384, 512)
            and down in (256, 384, 512, 864))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if bricks, ball and paddle can be those of one game."""
    cdef const Breakout* game = <const Breakout*>state
    return (game.rules == rules_of(options) and between(game.lives, 1 - over, <int>options[0]) and game.in_play <= 1
            and (game.hits == FAST or between(game.hits, MANY_HITS if game.rules & FAST_BALL else 0, MANY_HITS))
            and game.knob <= KNOB_END and (game.width == PADDLE_WIDTH or not game.rules & KEEP_WIDTH)
            and between(game.paddle, LEFT_WALL, PADDLE_END) and game.width in (SHORT_WIDTH, PADDLE_WIDTH)
            and game.points in (0, 1, 4, 7) and game.points <= game.score and game.lost <= (game.lives < <int>options[0])
            and has_bricks(game, over) and has_ball(game))
