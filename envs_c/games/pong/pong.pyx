"""Pong, frame by frame as on the Atari 2600 cartridge of 1977 ("Video Olympics", one player).

Screen. 160x210 pixels, x to the right, y down. White walls fill rows 24 .. 33 and 194 .. 209. The enemy's paddle is at x 16
.. 19, the player's at x 140 .. 143; both are 16 rows high. The ball is 2 pixels wide and 4 high.

Coordinates. All rules below use the console's coordinates. The ball's x is 49 more than on the screen. On the screen the
enemy's rows begin at y - 15; the player's at y - 14, or y - 13 if y is odd; the ball's at y - 14. Near the right end, from
columns on that depend on the paddles, the ball is one row higher: the beam comes there only after the console has decided
whether the next row shows it (`switch_column` in picture.pxd).

Frame. A clock counts frames modulo 8. In each frame the clock advances by 1; then the ball moves by the rules below; then
the enemy moves; then the knob turns and the player's paddle moves.

Actions. LEFT turns the player's knob by +3 and RIGHT by -3, within 0 .. 100. When the clock is even, the paddle moves to (y
+ TARGET[knob]) / 2, rounded down. So it comes to rest at the place that the knob points to: LEFT is down, RIGHT is up. The
screen shows each of these moves one frame late, and the ball meets the paddle at the place shown. FIRE makes the ball
faster when the paddle hits it; RIGHTFIRE and LEFTFIRE do both.

Enemy. It moves by 2 pixels a frame towards the ball's y, but rests when the clock is 1. While there is no ball it moves
towards y 0.

Ball. In each frame the first of these rules whose condition holds acts. Then the ball moves by its velocity, except after
rule 1.

  1. At x <= 52 the player scores; at x >= 205 the enemy scores. The ball stays for this frame.
  2. At y <= 45 it turns down and moves 1 pixel more; at y >= 206 it turns up and moves 1 pixel more.
  3. At x 188 .. 192, if its rows meet the rows of the player's paddle, it turns left. If FIRE was held in the previous
     frame, it becomes faster by 1 pixel a frame across, up to 4.
  4. At x 64 .. 68, if its y is -4 .. 14 from the enemy's y, it turns right.

In rules 3 and 4 the velocity down becomes (ball's y - paddle's y + 3) / 4 - 2, rounded down: from -2 (at the enemy -3) near
the paddle's upper end to 2 near its lower end. The speed across lasts until the point; long rallies do not change it.

Serve. After the frame of a point there is no ball for 62 frames. Then the ball starts at (128, 128), moves at once, and
goes 1 pixel a frame across and down: towards the side that lost the point; up if it went up before, else down. The enemy
starts at y 128, too.

Points. A point for the player gives 1, a point for the enemy -1.

End. The episode ends when a side has 21 points (option `points`).

Start. The knob is at 50, the paddle at y 109, the enemy at y 22. The clock is random. The first serve goes to a random
side, up or down at random, in a random frame of 28 .. 59. With random_serve=0 the clock is 7 and the serve goes to the
enemy, down, in frame 59, as on the cartridge; the whole game then equals the cartridge's, and its pictures do.

Changed rules. With lazy_enemy=1 the enemy does not move in frames after whose move the ball flies to the right, or in which
it flew there into a point. With fast_serve=1 each serve goes 2 pixels a frame across. With hidden_enemy=1 the enemy's paddle
is not painted and its feature is 0; it plays as before.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.pong.picture cimport (
    BLACK, BROWN, COURT_END, COURT_Y, ENEMY_LEFT, ENEMY_TOP, GREEN, LENGTH, ORANGE, PLAYER_LEFT,
    PLAYER_TOP, SIDE, STRIP, WALL_Y, WHITE, WIDTH, draw_ball, draw_figure, draw_score, make_scores)
from envs_c.games.pong.rules cimport (
    FIRST_CLOCK, FIRST_ENEMY, FIRST_PADDLE, FIRST_WAIT, GONE, HIDDEN_ENEMY, KNOB_END, KNOB_MIDDLE, PACE, TARGET, TURN, Pong,
    ball_x, rules_of, shown_paddle, turn_ball)
from envs_c.games.pong.valid cimport valid
from envs_c.rng cimport Rng, rng_next
from envs_c.screen cimport Canvas, canvas_rect

from envs_c.game import Feature, Option


cdef enum:
    MIDDLE_X = 128, MIDDLE_Y = 126          # places whose features are 0


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Pong* game = <Pong*>state
    cdef uint32_t bits = rng_next(rng)
    memset(game, 0, sizeof(Pong))
    game.points = <uint8_t>options[0]
    game.rules = <uint8_t>rules_of(options)
    game.vx, game.free, game.clock, game.phase = -1, FIRST_WAIT - 1, FIRST_CLOCK, GONE
    if options[1] != 0.0:
        game.vx = 1 if bits & 1 else -1
        game.up = bits >> 1 & 1
        game.clock = bits >> 2 & 7
        game.free = FIRST_WAIT - 1 - (bits >> 5 & 31)
    game.enemy = FIRST_ENEMY
    game.paddle = game.before = FIRST_PADDLE
    game.knob = KNOB_MIDDLE


cdef inline float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Pong* game = <Pong*>state
    cdef float points = 0.0
    if game.free > 0:
        game.free -= 1
        game.y += game.vy
    else:
        points = turn_ball(game, over)
    game.clock += 1
    game.enemy += PACE[game.clock & 7 | game.rest] * ((game.y > game.enemy) - (game.y < game.enemy))
    game.knob = min(max(game.knob + TURN[action & 7], 0), KNOB_END)
    if game.clock & 1 == 0:
        game.before = game.paddle
        game.paddle = game.paddle + TARGET[game.knob] >> 1
    game.action = action & 7
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """8 float32; the rows of GAME's `features` name them."""
    cdef const Pong* game = <const Pong*>state
    cdef float* features = <float*>out
    cdef int ball = game.y != 0, hidden = (game.rules & HIDDEN_ENEMY) != 0
    features[0] = (game.paddle - MIDDLE_Y) * <float>(1.0 / 50)
    features[1] = (game.enemy - MIDDLE_Y) * (ball & ~hidden) * <float>(1.0 / 50)
    features[2] = (ball_x(game) - MIDDLE_X) * ball * <float>(1.0 / 40)
    features[3] = (game.y - game.paddle - 7) * ball * <float>(1.0 / 50)
    features[4] = game.vx * ball
    features[5] = game.vy * ball
    features[6] = game.score[1] * <float>(1.0 / 21)
    features[7] = game.score[0] * <float>(1.0 / 21)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Walls and court, without score, paddles and ball."""
    canvas_rect(canvas, 0, 0, 2 * SIDE, WALL_Y, BROWN)
    canvas_rect(canvas, 0, 0, STRIP, 1, BLACK)
    canvas_rect(canvas, 0, WALL_Y, 2 * SIDE, 210 - WALL_Y, WHITE)
    canvas_rect(canvas, 0, COURT_Y, 2 * SIDE, COURT_END - COURT_Y, BROWN)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Pong* game = <const Pong*>state
    cdef int enemy = game.enemy - ENEMY_TOP, player = (shown_paddle(game) + 1 & ~1) - PLAYER_TOP
    draw_score(game, canvas)
    if game.rules & HIDDEN_ENEMY:
        enemy = -LENGTH  # above the court
    else:
        draw_figure(canvas, ENEMY_LEFT, enemy, WIDTH, LENGTH, ORANGE)
    draw_figure(canvas, PLAYER_LEFT, player, WIDTH, LENGTH, GREEN)
    if game.y:
        draw_ball(game, canvas, enemy, player)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Pong), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    make_scores()


GAME = Game(
    name="pong", title="Pong", version=1, summary="Table tennis against the machine, to 21 points.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), feature_shape=(8,), frame_skip=4,
    feature_low=(-2, -2, -2, -4, -4, -3, 0, 0), feature_high=(2, 2, 3, 4, 4, 3, 1, 1),
    options={
        "points": Option(21, 1, 21, "points of one side that end the episode"),
        "random_serve": Option(1, 0, 1, "0: the first serve is always the cartridge's"),
        "lazy_enemy": Option(0, 0, 1, "1: the enemy rests while the ball flies away from it"),
        "fast_serve": Option(0, 0, 1, "1: a serve goes 2 pixels a frame across, not 1"),
        "hidden_enemy": Option(0, 0, 1, "1: picture and features do not show the enemy's paddle"),
    },
    features=(
        Feature("paddle y", -1.8, 1.6, help="the player's paddle: (y - 126) / 50 in pixels; positive is lower"),
        Feature("enemy y", -1.8, 1.7, help="the enemy's paddle: (y - 126) / 50 in pixels; 0 without a ball"),
        Feature("ball x", -2, 2, help="(x - 128) / 40 in pixels, positive is to the right; 0 without a ball"),
        Feature("ball y", -3.4, 3.3, help="(ball's y - paddle's y - 7) / 50 in pixels: 0 if the ball would meet the middle of "
                                          "the player's paddle, positive if it is lower; 0 without a ball"),
        Feature("ball velocity x", -4, 4, help="pixels a frame to the right; 0 only without a ball"),
        Feature("ball velocity y", -3, 3, help="pixels a frame down; 0 without a ball"),
        Feature("player's score", 0, 1, help="points / 21"),
        Feature("enemy's score", 0, 1, help="points / 21"),
    ),
    compared_with="The cartridge under ale-py: rewards, ends, positions, velocities and pictures (but for a row of the ball "
                  "near the right edge) are equal frame by frame.",
).bind(chunk, backdrop, draw, sizeof(Pong), has_mask=False, valid=valid, lives=NULL, prepare=prepare)
