"""The check of a restored game of Pong."""

from envs_c.games.pong.rules cimport (
    CEILING, ENEMY_X, FLOOR, GONE, KNOB_END, LEFT_END, LEFT_FIRE, NOOP, PLAYER_X, POINT, RIGHT_END, TARGET, TOP_SPEED, Pong,
    ball_x, rest_of, rules_of)
from envs_c.valid cimport between


cdef enum:
    STEEPEST = 3, ENEMY_STEP = 2            # pixels a frame: the ball down or up, the enemy
    X_END = RIGHT_END + TOP_SPEED, Y_END = FLOOR + STEEPEST     # the ball is not beyond them
    LONGEST_FLIGHT = PLAYER_X - ENEMY_X     # frames at 1 pixel a frame


cdef inline bint has_ball(const Pong* game) noexcept nogil:
    """True if the ball is on the court now and at the end of its flight, or if there is none."""
    if game.phase == GONE:
        return game.y == 0 and game.vy == 0 and between(game.x, 0, X_END)
    if game.phase == POINT and (game.free != 0 or game.score[game.vx < 0] == 0):
        return False
    return (between(game.x, LEFT_END - TOP_SPEED, X_END) and between(ball_x(game), LEFT_END - TOP_SPEED, X_END)
            and between(game.y, CEILING - STEEPEST, Y_END) and between(game.vy, -STEEPEST, STEEPEST)
            and between(game.y + game.vy * game.free, CEILING - STEEPEST, Y_END))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if ball, paddles and score can be those of one game."""
    cdef const Pong* game = <const Pong*>state
    cdef int points = <int>options[0], most = points - 1 + over
    return (game.rules == rules_of(options) and game.points == points and game.score[0] <= most and game.score[1] <= most
            and game.phase <= GONE and game.rest == rest_of(game)
            and between(game.vx, -TOP_SPEED, TOP_SPEED) and game.vx != 0 and between(game.free, 0, LONGEST_FLIGHT)
            and has_ball(game) and between(game.enemy, -ENEMY_STEP, Y_END + ENEMY_STEP)
            and between(game.paddle, TARGET[0], TARGET[KNOB_END]) and between(game.before, TARGET[0], TARGET[KNOB_END])
            and between(game.knob, 0, KNOB_END) and between(game.action, NOOP, LEFT_FIRE) and game.up <= 1)
