"""Space Invaders, after the cartridge of 1980 for the Atari 2600.

Screen. On 160x210 pixels (x to the right, y down) six rows of six invaders stand 16 pixels apart across and 18 down, each 8
wide and 10 high, the first at (22, 31) and in wave w at y 31 + 10 * min(w, 4), where w counts from 0. Three shields, 8 pixels
wide and 9 rows of 2 lines high, stand at x 42, 74 and 106 and y 157. The ground begins at y 195; on it stands the cannon, 7
wide and 10 high.

Cannon. LEFT and RIGHT move it by 1 pixel every other frame, its left end between x 34 and 116. FIRE sends a shot if none is on
its way: 1 pixel wide and 6 high, from y 174, 1/7 of the way from its left end past its middle; it rises by 4 pixels every other
frame, to y 10.

March. The invaders march to the right first, all at once by some pixels, changing their pose; when the outermost one is at x 22
or 129 they stop there, come down by 10 and turn. How often and how far depends on how many are left:
    22 .. 36  every 32 frames by 1     5 .. 7  every 16 by 3     3  every 7 by 3     1  every 4 by 5
     8 .. 21  every 21 frames by 2          4  every 13 by 3     2  every 7 by 4
If the lowest of them is then at y 169 or more they have landed, and the episode ends.

Bombs. 1 pixel wide and 8 high, they fall by 2 pixels every other frame to the ground. There are two at
most. One falls 2 frames after the newest is gone, or 32 after that began if the other is gone, from the lowest invader of a
column: 6 of 12 times of any column, 5 of the one whose middle is nearest to the cannon's, 1 of that to its right; and of the
nearest where such a column is empty.

Hits. A shot in an invader's 8 x 10 pixels destroys it, for 5 points in the lowest row to 30 in the highest. What meets a
shield's pixel with its tip takes it away, and the one behind it in its course, and is gone. A bomb whose tip is in the cannon's
7 columns at y 185 or more destroys it. Shots and bombs pass each other.

Saucer. After 832 frames of play since the start, a life lost or the last saucer, one flies across at y 12, 7 wide and 8 high, 1
pixel every 4 frames, from either side. A shot in its pixels destroys it for 200 points. The score, shown modulo 10,000, makes
room for it.

Rests. Nothing but the clock goes on for 128 frames before the first wave, while the lives are shown and the cannon blinks, and
after the last invader of a wave; then the next wave begins, with whole shields. A cannon that was hit burns for 128 frames, in
which only shots and bombs go on; then a life is lost, bombs, shot and saucer are gone, the cannon stands at x 34, the lives are
shown for 64 frames, and all goes on. The episode ends with the last life.

The cartridge's choice of columns and sides is not ours, and its shields crumble a little less evenly.
"""

from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.space_invaders.picture cimport (
    BLAST, BROWN, CANNON, EARTH, GREEN, INVADERS, LIVES_PLACE, SAUCER, WRECK, draw_shields, draw_thin, make_digits, make_spread,
    make_stamps, put_digit, put_shape)
from envs_c.games.space_invaders.rules cimport (
    BOMBS, BOMB_HIGH, BURN, CANNON_Y, COLUMNS, GROUND_Y, PACE, PITCH_X, PITCH_Y, PLAY, ROWS, SAUCER_Y, SHOT_HIGH, SHOW, STRIDE,
    TOP_Y, Invaders, begin, columns_of, ctz, lowest_y, play_frame)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect

from envs_c.game import Option


cdef enum:
    FEATURES = 94


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Invaders*>state, <int>options[0], <int>options[1])


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return <float>play_frame(<Invaders*>state, action, rng, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """36 invaders row by row from the top, 1 where gone; 24 columns of shields, rows gone / 8; x from the cannon's middle:

    60 first column, 61 first row's y, 62 way, 63 pixels a frame, 64 lowest row's y, 65 share gone, 66 cannon's x, 67 68 shot
    there, its y, 69 .. 74 bombs there, x, y, 75 76 77 saucer there, x, way, 78 lives, 79 wave, 80 resting, 81 frames to the
    next march, 82 .. 87 columns' x, or 0 if empty, 88 .. 93 how far down each reaches.
    """
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


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Invaders), states, io, lo, hi)


make_stamps()
make_digits()
make_spread()
GAME = Game(
    name="space_invaders", title="SpaceInvaders", version=2, summary="Shoot invaders before they land, from behind shields.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), feature_shape=(FEATURES,), frame_skip=4,
    feature_low=-10, feature_high=70,
    options={"lives": Option(3, 1, 9, "lives at first"),
             "first_wave": Option(0, 0, 4, "wave to begin with: each starts 10 pixels lower, up to 40")},
).bind(chunk, backdrop, draw, sizeof(Invaders))
