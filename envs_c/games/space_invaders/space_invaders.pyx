"""Space Invaders, after the Atari 2600 cartridge of 1980.

Screen. 160x210 pixels, x to the right, y down. Six rows of six invaders stand 16 pixels apart across and 18 down; each
invader is 8 wide and 10 high. In wave w, counted from 0, the first is at x 22 and y 31 + 10 * min(w, 4). Three shields, 8
pixels wide and 9 rows of 2 lines high, stand at x 42, 74 and 106 and y 157. The ground begins at y 195. On it stands the
cannon, 7 wide and 10 high.

Clock. A clock counts down by 1 in every frame, from 255 again after 0. In even frames (of the clock) the cannon moves, and
bombs appear and hit; in odd frames bombs fall, and the shot appears and hits.

Actions. LEFT and RIGHT move the cannon by 1 pixel in even frames; its left end stays within x 34 .. 116. FIRE sends a shot in
an odd frame if none is on its way. A shot is 1 pixel wide and 8 high; it starts at y 174, 1 pixel right of the cannon's
middle, rises by 4 pixels in even frames and is gone at y 6. RIGHTFIRE and LEFTFIRE do both.

March. The invaders march all at once, to the right first, and change their pose. If the outermost one would reach x 129, or
go beyond x 22, it stops there; all come down by 10 and turn. The number of invaders left gives the distance of a march, and
the frames, by the clock modulo 64:

    22 .. 36  1 pixel at 0 and 32          3  3 pixels at 0, 7, 14, .. 56
     8 .. 21  2 pixels at 0, 21 and 42     2  4 pixels at 0, 7, 14, .. 56
     5 .. 7   3 pixels at 0, 16, 32, 48    1  5 pixels at 0, 4, 8, .. 60
          4  3 pixels at 0, 11, 22, 33, 44

Bombs. A bomb is 1 pixel wide and 8 high and falls by 2 pixels in odd frames. There are at most two, the upper one first. One
that is out of sight below the ground keeps its place until y 218. If there is a place for it, a bomb appears in an even frame
in a random column, below the lowest invader, unless it would be less than 32 pixels above or below the other one. In the
first frame after the last invader of a column was hit, this column can still be chosen; then no bomb appears.

Random numbers. r = 5 r + 89 modulo 256, once in every odd frame, and before each choice. The column of a bomb: from r = 128
on the lower 5 bits of r choose it from a table, and if it is empty, the lowest 2 bits choose the order in which others are
tried. Below 128 it is the column over the cannon, or the next one to the left if that is empty, if bit 4 of r is set; else
the next column to the right that is not empty, or if there is none, as before. Columns count from the first one that is not
empty.

Hits. A shot destroys the invader, and a bomb the cannon, if they share a pixel. A shot that meets a pixel of a shield takes
away the lowest pixel in its column, and a bomb the highest one; in the rows above and below it they take away the pixel
beside it too. In each of the three rows, r from 192 to 223 also takes the pixel to the left, and from 224 the one to the
right. The bomb is gone; the next shot can be sent after 8 frames. When the lowest invaders are at y 145 or more, the shields
are gone. Shots and bombs do not meet.

Saucer. When the clock has turned 4 times in play after its start, a lost life, or the last saucer, and 7 invaders are left, a
saucer crosses at y 12, 7 wide and 8 high, by 1 pixel every 4 frames. It comes from the side of the last one, or if r is odd,
from the other side. A hit saucer stays until its time is over. The screen shows the score modulo 10,000, and no score while
there is a saucer.

Rests. The first wave begins after 128 frames, in which the lives are shown and the cannon blinks. When the cannon is hit it
burns for 128 frames, in which only shot and bombs move. Then a life is lost, the saucer is gone, the cannon stands at x 34,
the lives are shown for 64 frames, and the game continues. 97 frames after the last invader of a wave, in which the cannon is
free and shots and bombs fly on, the lives are shown for 64 frames; then the next wave begins, with whole shields. If a bomb
hits the cannon in these 97 frames, or the shot of a cannon that burns hits the last invader, both follow from the last one: a
life is lost, after 128 or 97 frames, and the next wave begins.

Points. An invader gives 5 in the lowest row, then 10, 15, 20, 25, and 30 in the highest. The saucer gives 200.

Forecast. With forecast=1, 27 more features follow, and the game itself is the same. They take the invaders to march on at
their mean speed without a turn, and a shot to rise by 2 pixels a frame from now on. For the lowest invader of each column, then
for the saucer, d says how many pixels to the right of a shot sent now it will be when both are at one height: d / 20, -3 to 3;
how near that is to a hit: (1 - (d / 12)^2)^2, and 0 beyond 12 pixels; and this for the shot on its way, if it is still below.
For each bomb, with d the pixels from the cannon's middle to it, and s = 1 - (frames until it is down at the cannon) / 60, at
least 0: s d / 6, -2 to 2; (1 - (d / 12)^2)^2; and s times that.

End. The episode ends when the last of 3 lives (option `lives`) is lost, or when the invaders have landed: after a turn the
lowest of them is at y 169 or more.

Picture. A frame's picture shows what was there before its hits, and the score before its points. The console's loops show some
rows of shots and bombs sooner or later than their y says (missiles.pxd). No blast is shown below the lowest invader. With
scatter=0 and flicker=1 the pictures equal the cartridge's, but for single pixels of a shot and the last one after a landing.

Differences. An episode begins with a random r (option `scatter`). The cartridge draws bombs in even frames and the shot in
odd ones; here both are drawn in every frame (option `flicker`).
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.space_invaders.forecast cimport FORECAST_FEATURES, forecast
from envs_c.games.space_invaders.missiles cimport draw_thin
from envs_c.games.space_invaders.picture cimport (
    BROWN, EARTH, GREEN, LIVES_PLACE, OTHER_PLACE, blast_shape, cannon_shape, draw_shields, is_drawn, make_digits, make_spread,
    make_stamps, put_digit, put_shape, saucer_shape)
from envs_c.games.space_invaders.rules cimport play_frame
from envs_c.games.space_invaders.shapes cimport INVADERS, SAUCER, SAUCER_CUT, SAUCER_REST
from envs_c.games.space_invaders.shown cimport as_shown
from envs_c.games.space_invaders.state cimport (
    BOMBS, BOMB_SEEN, BURN, CANNON_Y, COLUMNS, ENTERING, FLICKER, FORECAST, GROUNDED_Y, GROUND_Y, PACE, PITCH_X, PITCH_Y, ROWS,
    SAUCER_Y, SHOT_Y, SHOW, START_SEED, STRIDE, TOP_Y, Invaders, begin, clzll, columns_of, ctz, frames_to_march, lowest_y)
from envs_c.games.space_invaders.valid cimport valid
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect

from envs_c.game import Feature, Option


cdef enum:
    FEATURES = 94       # without the forecast
    RIGHTMOST = 159     # column

cdef extern from *:
    """
    #define EACH_ROW 0x010101010101ULL
    static float GONE[64][6];  // by the bits of a row: 1 for each invader that is gone; filled when this file is imported
    """
    const uint64_t EACH_ROW
    float[64][COLUMNS] GONE


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Invaders*>state, options, <int>rng_below(rng, 256) if options[2] else START_SEED)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return <float>play_frame(<Invaders*>state, action, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """94 float32, or 121 with a forecast; the rows of GAME's `features` name them. Usual states have 0 in most places."""
    cdef const Invaders* game = <const Invaders*>state
    cdef float* features = <float*>out
    cdef int middle = game.cannon + 3, columns = columns_of(game), k, r, c
    cdef uint64_t rows = 0
    memcpy(&rows, game.row, ROWS)
    for r in range(ROWS):
        memcpy(features + COLUMNS * r, GONE[game.row[r]], COLUMNS * sizeof(float))
    for k in range(24):
        features[36 + k] = game.gone[k] * <float>0.125
    if not game.sheltered:
        for k in range(24):
            features[36 + k] = 1
    features[60] = (game.x + 3 - middle) * <float>(1.0 / 40)
    features[61] = (game.y - TOP_Y) * <float>(1.0 / 40)
    features[62] = game.way
    features[63] = <float>STRIDE[game.count] / PACE[game.count] - <float>(1.0 / 32)
    features[64] = (lowest_y(game) - 121) * <float>(1.0 / 40) if game.count else <float>0
    features[65] = (36 - game.count) * <float>(1.0 / 36)
    features[66] = (game.cannon - 75) * <float>(1.0 / 25)
    features[67] = 0 < game.shot_y <= SHOT_Y
    features[68] = (game.shot_y - 90) * <float>(1.0 / 50) if features[67] else <float>0
    for k in range(BOMBS):
        features[69 + 3 * k] = 0 < game.bomb_y[k] <= BOMB_SEEN
        features[70 + 3 * k] = (game.bomb_x[k] - middle) * <float>(1.0 / 20) if features[69 + 3 * k] else <float>0
        features[71 + 3 * k] = (game.bomb_y[k] - 140) * <float>(1.0 / 30) if features[69 + 3 * k] else <float>0
    features[75] = game.saucer_x >= 0
    features[76] = (game.saucer_x + 3 - middle) * <float>(1.0 / 40) if game.saucer_x >= 0 else <float>0
    features[77] = game.saucer_way if game.saucer_x >= 0 else 0
    features[78] = (game.lives - 3) * <float>0.5
    features[79] = game.wave * <float>0.25
    features[80] = game.phase == SHOW or game.phase == BURN
    features[81] = frames_to_march(game) * <float>(1.0 / 32)
    for c in range(COLUMNS):
        features[82 + c] = (game.x + PITCH_X * c + 3 - middle) * <float>(1.0 / 40) * (columns >> c & 1) + <float>0  # never -0
        r = (63 - clzll((rows >> c & EACH_ROW) << 8 | 1)) >> 3  # number of its lowest row, 0 if it is empty
        features[88 + c] = r * <float>(1.0 / 6) - 1
    if game.rules & FORECAST:
        forecast(game, features + FEATURES)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 197, 160, 13, EARTH)
    canvas_rect(canvas, 10, GROUND_Y, 150, 1, EARTH)
    canvas_rect(canvas, 8, 196, 152, 1, EARTH)
    canvas_rect(canvas, 33, 196, 2, 5, GREEN)
    canvas_rect(canvas, 122, 196, 2, 5, BROWN)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef Invaders shown = as_shown(<const Invaders*>state)
    cdef const Invaders* game = &shown
    cdef int r, c, k, score = game.score
    cdef unsigned int left
    if canvas.rgb == NULL:
        memcpy(canvas.grey, canvas.screen.backdrop_grey, SMALL * SMALL)
        memset(canvas.touched, 2, SMALL)
    if 0 < game.shot_y <= SHOT_Y and not (game.rules & FLICKER and not game.clock & 1):
        draw_thin(game, canvas, game.shot_x, game.shot_y, not game.rules & FLICKER)
    for k in range(BOMBS):
        if 0 < game.bomb_y[k] < GROUND_Y and not (game.rules & FLICKER and game.clock & 1):
            draw_thin(game, canvas, game.bomb_x[k], game.bomb_y[k], False)
    if game.sheltered:
        draw_shields(game, canvas)
    for r in range(ROWS):
        left = game.row[r]
        while left:
            c = ctz(left)
            left &= left - 1
            put_shape(canvas, game.x + PITCH_X * c, game.y + PITCH_Y * r, INVADERS + r + ROWS * game.pose)
    if game.blast > 0 and is_drawn(game, game.blast_row) and game.y + PITCH_Y * game.blast_row <= GROUNDED_Y:
        put_shape(canvas, game.x + PITCH_X * game.blast_column, game.y + PITCH_Y * game.blast_row, blast_shape(game))
    if game.saucer_x >= 0:
        put_shape(canvas, game.saucer_x, SAUCER_Y - (saucer_shape(game) != SAUCER), saucer_shape(game))
    elif game.saucer_x == ENTERING:
        put_shape(canvas, 0, SAUCER_Y, SAUCER_CUT)
        put_shape(canvas, RIGHTMOST, SAUCER_Y, SAUCER_REST)
    else:
        for k in range(4):
            put_digit(canvas, 3 - k, score % 10)
            put_digit(canvas, OTHER_PLACE + k, 0)
            score //= 10
    if game.phase == SHOW:
        put_digit(canvas, LIVES_PLACE, min(<int>game.lives, 9))
    if cannon_shape(game) >= 0:
        put_shape(canvas, game.shown, CANNON_Y, cannon_shape(game))


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Invaders*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Invaders), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    cdef int bits, c
    for bits in range(64):
        for c in range(COLUMNS):
            GONE[bits][c] = 1 - (bits >> c & 1)
    make_stamps()
    make_digits()
    make_spread()


GAME = Game(
    name="space_invaders", title="SpaceInvaders", version=5, summary="Shoot invaders before they land, from behind shields.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), frame_skip=4,
    feature_shape=lambda options: (FEATURES + FORECAST_FEATURES * (options["forecast"] > 0),),
    feature_low=-10, feature_high=70,
    options={"lives": Option(3, 1, 9, "lives at the start"),
             "first_wave": Option(0, 0, 4, "first wave; each starts 10 pixels lower than the one before, up to 40"),
             "scatter": Option(1, 0, 1, "1: episodes begin with a random number of their own; 0: as on the cartridge"),
             "flicker": Option(0, 0, 1, "1: bombs are drawn in even frames and the shot in odd ones, as on the cartridge"),
             "shields": Option(1, 0, 1, "0: there are no shields"),
             "saucer": Option(1, 0, 1, "0: no saucer comes"),
             "bombs": Option(1, 0, 1, "0: the invaders drop no bombs"),
             "aimed_bombs": Option(1, 0, 1, "0: no bomb is aimed at the cannon"),
             "forecast": Option(0, 0, 1, "1: 27 more features, what a shot will hit, where bombs fall; the game is the same")},
    features=(
        Feature("invaders gone", 0, 1, count=ROWS * COLUMNS, help="6 x 6 row by row from the top: 1 if destroyed"),
        Feature("shields gone", 0, 1, count=24, help="8 columns of each of 3 shields, from the left: pixels taken away / 8; 1 "
                                                     "when the invaders are low"),
        Feature("formation x", -4.4, 2.4, help="(x of the first column - cannon's x) / 40 in pixels, even if it is empty"),
        Feature("formation y", 0, 3.8, help="(y of the first row - 31) / 40 in pixels, even if it is empty"),
        Feature("direction", -1, 1, help="1 if the invaders march right, -1 left"),
        Feature("speed", 0, 1.22, help="pixels a frame of the march, less 1/32"),
        Feature("lowest row", -2.25, 1.55, help="(y of the lowest row that is not empty - 121) / 40 in pixels; 0 without "
                                                "invaders"),
        Feature("share gone", 0, 1, help="share of the 36 invaders that are destroyed"),
        Feature("cannon x", -1.64, 1.64, help="(x - 75) / 25 in pixels"),
        Feature("shot", 0, 1, help="1 if a shot is on its way"),
        Feature("shot y", -1.6, 1.68, help="(y - 90) / 50 in pixels, positive is lower; 0 without a shot"),
        *(row for name in ("upper bomb", "lower bomb") for row in (
            Feature(name, 0, 1, help="1 if it is falling, down to y 186"),
            Feature(f"{name} x", -4.75, 4.75, help="(x - the middle of the cannon) / 20 in pixels; 0 without it"),
            Feature(f"{name} y", -3.6, 1.54, help="(y - 140) / 30 in pixels, positive is lower; 0 without it"))),
        Feature("saucer", 0, 1, help="1 if a saucer is on the screen"),
        Feature("saucer x", -2.9, 2.9, help="(x - cannon's x) / 40 in pixels; 0 without a saucer"),
        Feature("saucer's direction", -1, 1, help="1 right, -1 left; 0 without a saucer"),
        Feature("lives", -1.5, 3, help="(lives - 3) / 2, the current one included"),
        Feature("wave", 0, 63.75, help="wave / 4, counted from 0"),
        Feature("rest", 0, 1, help="1 while lives are shown or the cannon burns: actions have no effect"),
        Feature("next march", 0, 1, help="frames to the next march / 32"),
        Feature("column x", -2.4, 2.4, count=COLUMNS, help="for each column (x - cannon's x) / 40 in pixels; 0 if it is empty"),
        Feature("column's end", -1, 0, count=COLUMNS, help="for each column (lowest row, 1 .. 6) / 6 - 1; -1 if it is empty"),
    ),
    compared_with="The cartridge under ale-py, in every frame of whole games: places of all things, shields, points, lives and "
                  "random numbers are equal; pictures nearly.",
).bind(chunk, backdrop, draw, sizeof(Invaders), has_mask=False, valid=valid, lives=lives, prepare=prepare)
