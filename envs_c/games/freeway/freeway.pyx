"""Freeway, frame by frame like the cartridge of 1981 for the Atari 2600, with one player.

Screen. 160x210 pixels, x to the right and y down. Ten lanes of 16 rows lie between two pavements. Lane 0 is the lowest. Its
cars have the rows 171 to 180; the cars of lane i are 16 * i rows higher. Columns 0 to 7 stay black.

Actions. UP and DOWN move the chicken by 1 pixel a frame. Its columns are always 44 to 51. Its height y is 6 at first, on
the lower pavement, and its rows are 193 - y to 200 - y. DOWN stops at 6. The second player's chicken stands on the lower
pavement and never moves.

Points. UP at height 177 reaches the far side. It gives 1 point and puts the chicken back to height 6, where it rests for 28
or 29 frames.

Lanes. Lanes 0 to 4 drive to the right, lanes 5 to 9 to the left. A lane's place is a number x of 0 to 159; after 159 comes
0. The left end of its first car is 3 pixels to the left of it, that of a truck 2. A car that leaves the screen on one side
comes in on the other. A lane has a pace of 0 to 5: with pace 0 its cars move by 2 pixels every frame, with pace n of 1 to 5
by 1 pixel every n frames.

Cars. All cars of a lane have the same shape: 1 to 3 cars 8 pixels wide, 16, 32 or 64 pixels apart, or one truck 16 pixels
wide. The table has a row for each game and a column for each lane, lane 0 first. An entry is the pace, then cxg for c cars
g pixels apart, 1 for one car, or T for a truck:

  1   5 1     4 1     3 1     2 1     1 1     1 1     2 1     3 1     4 1     5 1
  2   4 1     3 2x16  2 2x32  1 3x16  0 2x64  1 T     1 2x64  2 3x16  3 2x32  4 2x16
  3   4 3x32  3 3x32  2 1     1 3x32  0 T     0 1     1 3x32  2 1     3 3x32  4 3x32
  4   0 T     1 T     2 T     1 T     0 T     0 T     1 T     2 T     1 T     0 T

Changing paces. Games 5 to 8 are games 1 to 4 with paces that change. In frame f, if lane = f modulo 128 is less than 10,
the pace of that lane changes after the cars have moved: it goes down by 1, but not below 0, if bit 0 of (register XOR lane)
is set; then it goes up by 1, but not above 5, if bit 1 is set. The register has 8 bits. Every 32 frames it is shifted to
the left by one bit, and the exclusive or of its bits 7 and 4 comes in at the right.

Hit. If a pixel of the chicken lies on a pixel of a car, the chicken is hit in the next frame; in lane 0 the touch counts
for one more frame. A hit stuns the chicken for 55 or 56 frames: a counter goes from 28 to 0, by one in each even frame. No
other hit counts until the counter is 22. While it is 16 or more, the chicken falls by 1 pixel a frame, but not below 6. So
a hit costs about 24 pixels. With difficulty 1 the chicken is at 6 from the first even frame on.

End. The episode ends after 8,192 frames. In the last 512 the score flashes.

Start. The cars are at random places, and the register is random, but not 0. With scatter=0 all lanes are at x 0 and the
register is 132, as on the cartridge. Then everything goes as there, and the pictures do, but for the maker's name that the
cartridge shows below the road. (They show a new score in the next odd frame, and a fall to 6 at once a frame late.) The
cartridge's counter of frames may begin at 1 in later episodes on the same console; they then have a frame less, and stuns and
rests change with it.

Changed rules. With frozen_traffic=1 no car moves, in games 5 to 8 neither: all lanes stay at x 0, where no car is in the
chicken's way. With fast_traffic=1 all lanes begin with pace 0, and keep it in games 1 to 4. With harmless_cars=1 touching a
car has no effect.

Forecast. With forecast=1, 20 more features follow, and the game itself is the same. They are for a chicken that goes up all
the time. 10 say where the first car of each lane will be (for a lane below: was) when the chicken is in the middle of the lane,
at height 21 + 16 * lane: pixels to the right of the chicken, -80 to 79 around the screen, / 46. The other 10 say how near that
is to a hit: (1 - (d / 20)^2)^2, with d = these pixels - 1, and 0 if d is beyond -20 .. 20.
"""

from libc.stdint cimport uint16_t
from libc.math cimport floorf
from libc.string cimport memcpy

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.freeway.picture cimport (
    DIGIT, EDGE, FEET, PAVEMENT, PINK, RIVAL_SCORE_X, RIVAL_X, ROAD, SCORE_Y, STANDING, YELLOW, draw_chicken, draw_lane,
    draw_scores, ground, make_stamps, put_shape)
from envs_c.games.freeway.rules cimport (
    BOTTOM, CHICKEN_ROWS, CHICKEN_X, COUNT, FORECAST, FRAMES, LANES, PITCH, POSE, RIGHT_LANES, STAND, STUN, Freeway,
    apply_changes, begin, look_for_cars, move_cars, move_chicken, rules_of)
from envs_c.games.freeway.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_swap
from envs_c.stamp cimport CELLS, WIDTH, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Feature, Option


cdef enum:
    FEATURES = 5 + 2 * LANES        # without the forecast
    MIDDLE = 21                     # height of a chicken in the middle of lane 0
    NEAR = 20
    FIRST_ROW = 2, END_ROW = 78     # rows of the grey canvas; things move only between them

cdef extern from *:
    """
    static const float SPEED[7] = {2.0f, 1.0f, 1.0f / 2, 1.0f / 3, 1.0f / 4, 1.0f / 5, 0.0f};  // pixels a frame, by pace
    """
    const float[7] SPEED


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Freeway*>state, <int>options[0] - 1, options[1] != 0.0, options[2] != 0.0, rules_of(options), rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Freeway* game = <Freeway*>state
    cdef float points
    game.frame += 1
    points = move_chicken(game, action)
    move_cars(game)
    look_for_cars(game)
    if game.changing:
        apply_changes(game)
    over[0] = game.frame == FRAMES
    return points


cdef inline void forecast(const Freeway* game, float* features) noexcept nogil:
    """Write the 20 features of the option forecast."""
    cdef int lane
    cdef float away, near
    for lane in range(LANES):
        away = SPEED[game.pace[lane]] if lane < RIGHT_LANES else -SPEED[game.pace[lane]]
        away = game.x[lane] - CHICKEN_X - 2 + away * (MIDDLE + PITCH * lane - game.y)
        away -= WIDTH * floorf((away + WIDTH // 2) * <float>(1.0 / WIDTH))
        near = max(1 - (away - 1) * (away - 1) * <float>(1.0 / (NEAR * NEAR)), <float>0.0)
        features[lane] = away * <float>(1.0 / 46)
        features[LANES + lane] = near * near


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes. Each has a standard deviation of about 1 in play."""
    cdef const Freeway* game = <const Freeway*>state
    cdef float* features = <float*>out
    cdef int lane, away
    features[0] = (game.y - 90) * <float>(1.0 / 50)
    features[1] = 0.0
    features[2] = (game.timer & COUNT) * <float>(1.0 / STUN)
    features[3] = game.score * <float>(1.0 / 32)
    features[4] = 1 - game.frame * <float>(2.0 / FRAMES)
    for lane in range(LANES):
        away = game.x[lane] - CHICKEN_X - 2
        away = away - WIDTH if away >= WIDTH // 2 else away
        features[5 + lane] = away * <float>(1.0 / 46)
    for lane in range(LANES):
        features[5 + LANES + lane] = SPEED[game.pace[lane]] if lane < RIGHT_LANES else -SPEED[game.pace[lane]]
    if game.rules & FORECAST:
        forecast(game, features + FEATURES)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Paint road and pavements, and the score and chicken of the second player."""
    cdef Sheet sheet = sheet_of(canvas, NULL, EDGE)
    cdef int x, y
    for y in range(4, 195):
        canvas_rect(canvas, EDGE, y, WIDTH - EDGE, 1, ground(0, y))
        for x in range(12, WIDTH, 8):
            if ground(x, y) != ground(0, y):
                canvas_swap(canvas, x, y, 4, 1, ground(0, y), ground(x, y))
    put_shape(&sheet, RIVAL_SCORE_X, SCORE_Y, DIGIT[0], 8, ROAD, PINK)
    put_shape(&sheet, RIVAL_X, FEET - BOTTOM, POSE[STAND], CHICKEN_ROWS, PAVEMENT, YELLOW)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Freeway* game = <const Freeway*>state
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet = sheet_of(canvas, sums, EDGE)
    cdef int lane
    if canvas.rgb == NULL:
        memcpy(sums, STANDING, END_ROW * SMALL * sizeof(uint16_t))
    draw_scores(game, &sheet)
    draw_chicken(game, &sheet)
    for lane in range(LANES):
        draw_lane(game, &sheet, lane)
    if canvas.rgb == NULL:
        finish_rows(canvas, sums, FIRST_ROW, END_ROW)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Freeway), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    sum_backdrop(backdrop, STANDING)
    make_stamps()


GAME = Game(
    name="freeway", title="Freeway", version=1, summary="Lead a chicken across ten lanes of traffic, as often as time allows.",
    actions=("NOOP", "UP", "DOWN"), frame_skip=4,
    feature_shape=lambda options: (FEATURES + 2 * LANES * (options["forecast"] > 0),),
    feature_low=lambda options: (-2, 0, 0, 0, -1) + (-2,) * 20 + ((-2,) * 10 + (0,) * 10 if options["forecast"] else ()),
    feature_high=lambda options: (2, 1, 1, 4, 1) + (2,) * 20 + ((2,) * 10 + (1,) * 10 if options["forecast"] else ()),
    options={
        "game": Option(1, 1, 8, "number of the game on the cartridge, its traffic"),
        "difficulty": Option(0, 0, 1, "1: a hit sends the chicken back to the start"),
        "scatter": Option(1, 0, 1, "0: all cars start at the edge of the screen, as on the cartridge"),
        "frozen_traffic": Option(0, 0, 1, "1: the cars stand still where they start with scatter=0"),
        "fast_traffic": Option(0, 0, 1, "1: all lanes start with pace 0, 2 pixels a frame"),
        "harmless_cars": Option(0, 0, 1, "1: cars do not hit the chicken"),
        "forecast": Option(0, 0, 1, "1: 20 more features, where cars will be when the chicken is there; the game is the same"),
    },
    features=(
        Feature("chicken height", -2, 2, help="(height - 90) / 50 pixels; height is 6 to 177"),
        Feature("second chicken", 0, 1, help="always 0: the second player's chicken never moves"),
        Feature("stun or rest left", 0, 1, help="counter of a stun, or of the rest after a point, / 28; 0 if the chicken can "
                "move"),
        Feature("score", 0, 4, help="points / 32"),
        Feature("time left", -1, 1, help="1 at the start, -1 at the end"),
        Feature("car distances", -2, 2, count=LANES, help="by lane, lane 0 first: pixels of its first car to the right of the "
                "chicken, -80 to 79 around the screen, / 46"),
        Feature("car velocities", -2, 2, count=LANES, help="by lane, lane 0 first: pixels a frame, positive to the right"),
    ),
    compared_with="The cartridge under ale-py, frame by frame in all eight games: chicken, cars, paces, score and picture.",
).bind(chunk, backdrop, draw, sizeof(Freeway), has_mask=False, valid=valid, lives=NULL, prepare=prepare)
