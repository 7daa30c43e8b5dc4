"""Pong's rules: constants, state, and how a frame changes it. The prose is in pong.pyx.

Most frames change only the ball's y: the ball flies freely to the next place where a rule may act. `fly` finds this place in
advance, so that `step` has little to do until then.
"""

from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from envs_c.rng cimport Rng


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    FIRES = 1 << FIRE | 1 << RIGHT_FIRE | 1 << LEFT_FIRE
    PLAY = 0, POINT, GONE                   # phases: POINT lasts one frame, GONE until the serve
    LEFT_END = 52, RIGHT_END = 205          # x: a point
    CEILING = 45, FLOOR = 206               # y: the ball turns
    ENEMY_X = 64, PLAYER_X = 188, DEPTH = 4     # x: the ball meets a paddle from here to DEPTH pixels farther right
    TOP_SPEED = 4                           # pixels a frame across
    MIDDLE = 128                            # x and y of a serve, and the enemy's y at a serve
    WAIT = 63, FIRST_WAIT = 59              # frames from a point, and from the start, to the serve
    FIRST_PADDLE = 109, FIRST_ENEMY = 22, FIRST_CLOCK = 7
    KNOB_MIDDLE = 50, KNOB_END = 100
    LAZY_ENEMY = 1, FAST_SERVE = 2, HIDDEN_ENEMY = 4    # bits of `rules`: changes of the cartridge's rules
    RESTING = 8                             # index in PACE

cdef extern from *:
    """
    static const signed char PACE[16] = {2, 0, 2, 2, 2, 2, 2, 2};   // the enemy's pixels a frame, by clock; from RESTING on 0
    static const signed char TURN[8] = {0, 0, -3, 3, -3, 3};        // knob's turn, by action
    static const unsigned char TARGET[101] = {  // the paddle's y, by knob
         38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  38,  40,  42,  44,  46,  48,  50,
         52,  54,  54,  58,  60,  60,  64,  66,  66,  68,  72,  72,  74,  78,  78,  80,  82,  84,  86,  88,
         90,  92,  94,  96,  98, 100, 102, 104, 106, 106, 110, 112, 112, 114, 118, 118, 120, 124, 124, 126,
        128, 130, 132, 134, 136, 138, 140, 142, 144, 146, 148, 150, 152, 152, 156, 158, 158, 162, 164, 164,
        166, 170, 170, 172, 174, 176, 178, 180, 182, 184, 186, 188, 190, 192, 194, 196, 198, 198, 202, 204, 204};
    """
    const int8_t[16] PACE
    const int8_t[8] TURN
    const uint8_t[101] TARGET


ctypedef struct Pong:
    # All fields that change in every frame are as wide as a register: narrower fields cost a third of the speed.
    int32_t x               # the ball's, at the end of its free flight; see ball_x
    int32_t y               # the ball's, now; 0 if there is no ball
    int32_t free            # remaining frames of free flight, or without a ball
    int32_t enemy           # y
    int32_t paddle, before  # the player's y now, and before its last move; see shown_paddle
    int32_t knob            # 0 (right, up) .. KNOB_END (left, down)
    int32_t vx, vy          # the ball's: pixels a frame to the right and down
    uint32_t clock          # counts frames; only the lowest 3 bits matter
    int32_t action          # of the previous frame
    uint8_t up              # 1: the next serve goes up
    uint8_t phase           # PLAY, POINT or GONE
    uint8_t[2] score        # the enemy's, the player's
    uint8_t points          # the episode ends when a side has this many
    uint8_t rules           # the changed ones
    uint8_t rest            # RESTING while the enemy rests from a ball that flies away, else 0


cdef inline int ball_x(const Pong* game) noexcept nogil:
    """The ball's x now."""
    return game.x - game.vx * game.free


cdef inline int shown_paddle(const Pong* game) noexcept nogil:
    """The player's y on the screen, which is also the y that the ball meets: one frame late."""
    return game.paddle if game.clock & 1 else game.before


cdef inline int frames_to(int low, int high, int place, int velocity) noexcept nogil:
    """Frames until a moving place leaves the open interval (low, high).

    place: now, between low and high.
    velocity: pixels a frame.
    """
    if velocity > 0:
        return (high - place + velocity - 1) // velocity
    return (place - low - velocity - 1) // -velocity if velocity < 0 else WAIT


cdef inline void fly(Pong* game) noexcept nogil:
    """Set `free` to the frames until the next place at which a rule may act, and `x` to the ball's x there."""
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
    """Count a point and return the reward. side: 0 the enemy, 1 the player."""
    game.phase = POINT
    game.score[side] += 1
    over[0] = game.score[side] == game.points
    return 1.0 if side else -1.0


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return (options[2] != 0.0) * LAZY_ENEMY | (options[3] != 0.0) * FAST_SERVE | (options[4] != 0.0) * HIDDEN_ENEMY


cdef inline int rest_of(const Pong* game) noexcept nogil:
    return RESTING if game.rules & LAZY_ENEMY and game.vx > 0 and game.phase != GONE else 0


cdef inline void serve(Pong* game) noexcept nogil:
    cdef int speed = 2 if game.rules & FAST_SERVE else 1
    game.phase = PLAY
    game.x = game.y = game.enemy = MIDDLE
    game.vx = speed if game.vx > 0 else -speed
    game.vy = -1 if game.up else 1


cdef inline float turn_ball(Pong* game, bint* over) noexcept nogil:
    """One frame of the ball when it does not fly freely: its rules, then its move. Returns the reward."""
    cdef int odd = game.y & 1, away = game.y - shown_paddle(game), behind = game.y - game.enemy
    if game.phase == POINT:
        game.phase = GONE
        game.up = game.vy < 0
        game.y = game.vy = 0
        game.free = WAIT - 2
        game.rest = 0
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
    game.rest = <uint8_t>rest_of(game)
    fly(game)
    return 0.0
