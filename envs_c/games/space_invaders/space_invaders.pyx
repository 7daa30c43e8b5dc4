"""Space Invaders, after the Atari 2600 cartridge of 1980.

Screen. 160x210 pixels, x to the right, y down. Six rows of six invaders stand 16 pixels apart across and 18 down; each
invader is 8 wide and 10 high. In wave w, counted from 0, the first is at x 22 and y 31 + 10 * min(w, 4). Three shields, 8
pixels wide and 9 rows of 2 lines high, stand at x 42, 74 and 106 and y 157. The ground begins at y 195. On it stands the
cannon, 7 wide and 10 high.

Actions. LEFT and RIGHT move the cannon by 1 pixel every other frame; its left end stays within x 34 .. 116. FIRE sends a
shot if none is on its way. A shot is 1 pixel wide and 6 high; it starts at y 174, 1 pixel right of the cannon's middle,
rises by 4 pixels every other frame and is gone at y 10. RIGHTFIRE and LEFTFIRE do both.

March. The invaders march all at once, to the right first, and change their pose. When the outermost one reaches x 22 or
129, it stops there; all come down by 10 and turn. Time and distance of a march depend on the number of invaders left:

    22 .. 36  every 32 frames by 1     5 .. 7  every 16 by 3     3  every 7 by 3     1  every 4 by 5
     8 .. 21  every 21 frames by 2          4  every 13 by 3     2  every 7 by 4

Bombs. A bomb is 1 pixel wide and 8 high and falls by 2 pixels every other frame to the ground. There are at most two. A
bomb falls 2 frames after the newest bomb is gone, or 32 frames after the newest began if the other one is gone. It falls
from the lowest invader of a column: of 12 times, 6 times from any column, 5 times from the column nearest to the cannon,
and once from the column to the right of that; if the chosen column is empty, from the nearest one.

Hits. A shot destroys the invader whose 8x10 pixels it enters. A shot or bomb whose tip meets a pixel of a shield takes it
away, and the next pixel in its course, and is gone. A bomb destroys the cannon if its tip is in the cannon's 7 columns at y
185 or more. Shots and bombs do not meet.

Saucer. 832 frames of play after the start, a lost life or the last saucer, a saucer crosses at y 12, from a random side, 7
wide and 8 high, by 1 pixel every 4 frames. A shot in its pixels destroys it. The screen shows the score modulo 10,000, and
no score while there is a saucer.

Rests. Before the first wave, and after the last invader of a wave, only the clock runs for 128 frames; before the first
wave the lives are shown and the cannon blinks. Then the wave begins, with whole shields. When the cannon is hit it burns
for 128 frames, in which only shot and bombs move. Then a life is lost; bombs, shot and saucer are removed; the cannon
stands at x 34; the lives are shown for 64 frames; and the game continues.

Points. An invader gives 5 in the lowest row, then 10, 15, 20, 25, and 30 in the highest. The saucer gives 200.

End. The episode ends when the last of 3 lives (option `lives`) is lost, or when the invaders have landed: after a march the
lowest of them is at y 169 or more.

Differences. The random columns and sides are not the cartridge's, and its shields crumble a little less evenly.
"""

from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.space_invaders.picture cimport (
    BLAST, BROWN, CANNON, EARTH, GREEN, INVADERS, LIVES_PLACE, SAUCER, WRECK, draw_shields, draw_thin, make_digits, make_spread,
    make_stamps, put_digit, put_shape)
from envs_c.games.space_invaders.rules cimport play_frame
from envs_c.games.space_invaders.state cimport (
    BOMBS, BOMB_HIGH, BURN, CANNON_Y, COLUMNS, GROUND_Y, PACE, PITCH_X, PITCH_Y, PLAY, ROWS, SAUCER_Y, SHOT_HIGH, SHOW, STRIDE,
    TOP_Y, Invaders, begin, columns_of, ctz, lowest_y)
from envs_c.games.space_invaders.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect

from envs_c.game import Feature, Option


cdef enum:
    FEATURES = 94


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Invaders*>state, <int>options[0], <int>options[1])


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return <float>play_frame(<Invaders*>state, action, rng, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """94 float32; the rows of GAME's `features` name them. Usual states have 0 in most places."""
    cdef const Invaders* game = <const Invaders*>state
    cdef float* features = <float*>out
    cdef int middle = game.cannon + 3, columns = columns_of(game), k, r, c, bottom
    for r in range(ROWS):
        for c in range(COLUMNS):
            features[COLUMNS * r + c] = 1 - (game.row[r] >> c & 1)
    for k in range(24):
        features[36 + k] = game.gone[k] * <float>0.125
    features[60] = (game.x + 3 - middle) * <float>(1.0 / 40)
    features[61] = (game.y - TOP_Y) * <float>(1.0 / 40)
    features[62] = game.way
    features[63] = <float>STRIDE[game.count] / PACE[game.count] - <float>(1.0 / 32)
    features[64] = (lowest_y(game) - 121) * <float>(1.0 / 40) if game.count else <float>0
    features[65] = (36 - game.count) * <float>(1.0 / 36)
    features[66] = (game.cannon - 75) * <float>(1.0 / 25)
    features[67] = game.shot_y > 0
    features[68] = (game.shot_y - 90) * <float>(1.0 / 50) if game.shot_y > 0 else <float>0
    for k in range(BOMBS):
        features[69 + 3 * k] = game.bomb_y[k] > 0
        features[70 + 3 * k] = (game.bomb_x[k] - middle) * <float>(1.0 / 20) if game.bomb_y[k] > 0 else <float>0
        features[71 + 3 * k] = (game.bomb_y[k] - 140) * <float>(1.0 / 30) if game.bomb_y[k] > 0 else <float>0
    features[75] = game.saucer_x >= 0
    features[76] = (game.saucer_x + 3 - middle) * <float>(1.0 / 40) if game.saucer_x >= 0 else <float>0
    features[77] = game.saucer_way if game.saucer_x >= 0 else 0
    features[78] = (game.lives - 3) * <float>0.5
    features[79] = game.wave * <float>0.25
    features[80] = game.phase != PLAY
    features[81] = game.march * <float>(1.0 / 32)
    for c in range(COLUMNS):
        bottom = 0
        for r in range(ROWS):
            bottom = r + 1 if game.row[r] >> c & 1 else bottom
        features[82 + c] = (game.x + PITCH_X * c + 3 - middle) * <float>(1.0 / 40) if columns >> c & 1 else <float>0
        features[88 + c] = bottom * <float>(1.0 / 6) - 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 197, 160, 13, EARTH)
    canvas_rect(canvas, 10, GROUND_Y, 150, 1, EARTH)
    canvas_rect(canvas, 8, 196, 152, 1, EARTH)
    canvas_rect(canvas, 33, 196, 2, 5, GREEN)
    canvas_rect(canvas, 122, 196, 2, 5, BROWN)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Invaders* game = <const Invaders*>state
    cdef int r, c, k, score = game.score
    cdef unsigned int left
    if canvas.rgb == NULL:
        memcpy(canvas.grey, canvas.screen.backdrop_grey, SMALL * SMALL)
        memset(canvas.touched, 2, SMALL)
    if game.shot_y > 0:
        draw_thin(game, canvas, game.shot_x, game.shot_y, SHOT_HIGH, True)
    for k in range(BOMBS):
        if game.bomb_y[k] > 0:
            draw_thin(game, canvas, game.bomb_x[k], game.bomb_y[k], BOMB_HIGH, False)
    draw_shields(game, canvas)
    for r in range(ROWS):
        left = game.row[r]
        while left:
            c = ctz(left)
            left &= left - 1
            put_shape(canvas, game.x + PITCH_X * c, game.y + PITCH_Y * r, INVADERS + r + ROWS * game.pose)
    if game.blast > 0:
        put_shape(canvas, game.x + PITCH_X * game.blast_column, game.y + PITCH_Y * game.blast_row, BLAST)
    if game.saucer_x >= 0:
        put_shape(canvas, game.saucer_x, SAUCER_Y, SAUCER)
    else:
        for k in range(4):
            put_digit(canvas, 3 - k, score % 10)
            score //= 10
    if game.phase == SHOW:
        put_digit(canvas, LIVES_PLACE, min(<int>game.lives, 9))
    if game.phase == BURN:
        put_shape(canvas, game.cannon, CANNON_Y, WRECK + (game.rest >> 2 & 1))
    elif game.phase != SHOW or game.rest >> 3 & 1:
        put_shape(canvas, game.cannon, CANNON_Y, CANNON)


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Invaders*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Invaders), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    make_stamps()
    make_digits()
    make_spread()


GAME = Game(
    name="space_invaders", title="SpaceInvaders", version=2, summary="Shoot invaders before they land, from behind shields.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), feature_shape=(FEATURES,), frame_skip=4,
    feature_low=-10, feature_high=70,
    options={"lives": Option(3, 1, 9, "lives at the start"),
             "first_wave": Option(0, 0, 4, "first wave; each starts 10 pixels lower than the one before, up to 40")},
    features=(
        Feature("invaders gone", 0, 1, count=ROWS * COLUMNS, help="6 x 6 row by row from the top: 1 if destroyed"),
        Feature("shields gone", 0, 1, count=24, help="8 columns of each of 3 shields, from the left: pixels taken away / 8"),
        Feature("formation x", -4.4, 2.4, help="(x of the first column - cannon's x) / 40 in pixels, even if it is empty"),
        Feature("formation y", 0, 3.5, help="(y of the first row - 31) / 40 in pixels, even if it is empty"),
        Feature("direction", -1, 1, help="1 if the invaders march right, -1 left"),
        Feature("speed", 0, 1.22, help="pixels a frame of the march, less 1/32"),
        Feature("lowest row", -2.25, 1.45, help="(y of the lowest row that is not empty - 121) / 40 in pixels; 0 without "
                                                "invaders"),
        Feature("share gone", 0, 1, help="share of the 36 invaders that are destroyed"),
        Feature("cannon x", -1.64, 1.64, help="(x - 75) / 25 in pixels"),
        Feature("shot", 0, 1, help="1 if a shot is on its way"),
        Feature("shot y", -1.56, 1.68, help="(y - 90) / 50 in pixels, positive is lower; 0 without a shot"),
        *(row for name in ("newest bomb", "other bomb") for row in (
            Feature(name, 0, 1, help="1 if it is falling"),
            Feature(f"{name} x", -4.75, 4.75, help="(x - the middle of the cannon) / 20 in pixels; 0 without it"),
            Feature(f"{name} y", -3.6, 1.54, help="(y - 140) / 30 in pixels, positive is lower; 0 without it"))),
        Feature("saucer", 0, 1, help="1 if a saucer is on the screen"),
        Feature("saucer x", -2.9, 2.9, help="(x - cannon's x) / 40 in pixels; 0 without a saucer"),
        Feature("saucer's direction", -1, 1, help="1 right, -1 left; 0 without a saucer"),
        Feature("lives", -1.5, 3, help="(lives - 3) / 2, the current one included"),
        Feature("wave", 0, 63.75, help="wave / 4, counted from 0"),
        Feature("rest", 0, 1, help="1 while the game rests: actions have no effect"),
        Feature("next march", 0, 1, help="frames to the next march / 32"),
        Feature("column x", -2.4, 2.4, count=COLUMNS, help="for each column (x - cannon's x) / 40 in pixels; 0 if it is empty"),
        Feature("column's end", -1, 0, count=COLUMNS, help="for each column (lowest row, 1 .. 6) / 6 - 1; -1 if it is empty"),
    ),
    compared_with="The cartridge under ale-py: pictures, march, turns, landing, cannon and points; the random choices of bombs "
                  "are our own.",
).bind(chunk, backdrop, draw, sizeof(Invaders), has_mask=False, valid=valid, lives=lives, prepare=prepare)
