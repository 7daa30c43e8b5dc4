"""Freeway, frame by frame as the cartridge of 1981 for the Atari 2600 plays it with one player.

Road. On a screen of 160x210 pixels (x to the right, y down) ten lanes of 16 rows lie between two pavements. Lane 0 is the
lowest; its cars stand in rows 171 .. 180, those of lane i 16 * i rows higher. Lanes 0 .. 4 drive to the right, 5 .. 9 to
the left. A lane's place is the x of its first car, whose left end is 3 to the left of it (a truck's 2); past 159 it goes
to 0, below 0 to 159, and what leaves the screen on one side comes in on the other. Columns 0 .. 7 stay black.

Chicken. Its column never changes (x 44 .. 51). It stands y = 6 high on the lower pavement at first, in rows 193 - y ..
200 - y. UP and DOWN move it by 1 a frame, not below 6. UP at 177 is the far side: it gives 1 point, puts the chicken back
to 6, and there it rests for 28 or 29 frames. The second player's chicken stands at the lower pavement for ever.

Cars. A lane has a pace 0 .. 5: its cars move by 1 pixel every so many frames, at pace 0 by 2 pixels every frame. All cars
of a lane are alike, either 1 to 3 cars 8 pixels wide and 16, 32 or 64 apart, or one truck 16 pixels wide. By game, lane 0
first, with the pace, then c cars g apart as cxg, T for the truck:

  1   5 1     4 1     3 1     2 1     1 1     1 1     2 1     3 1     4 1     5 1
  2   4 1     3 2x16  2 2x32  1 3x16  0 2x64  1 T     1 2x64  2 3x16  3 2x32  4 2x16
  3   4 3x32  3 3x32  2 1     1 3x32  0 T     0 1     1 3x32  2 1     3 3x32  4 3x32
  4   0 T     1 T     2 T     1 T     0 T     0 T     1 T     2 T     1 T     0 T

Games 5 .. 8 are these with paces that change: in frame f, where f modulo 128 is less than 10, after the cars have moved,
the pace of lane f modulo 128 goes down by 1 if bit 0 of (register XOR lane) is set, not below 0, then up by 1 if bit 1 is,
not above 5. The register, 8 bits, is then shifted to the left every 32 frames; the exclusive or of its bits 7 and 4 comes
in at the right.

Hit. The chicken is hit in the frame after one in which any of its pixels lies on one of a car; in lane 0 its touch counts
for another frame. A hit stuns for 55 or 56 frames (a counter goes from 28 to 0, by one each even frame), and nothing else
hits before that counter is 22. While it is 16 or more the chicken falls by 1 a frame, not below 6; so it loses about 24.
With difficulty 1 it is put down to 6 at once instead.

Time. The episode ends after 8,192 frames; in the last 512 the score flashes.

Start. Cars are at random places and so is the register, but not 0. With scatter=0 all cars are at x 0 and the register is
132, as on the cartridge; then all goes as there, but that the cartridge paints a new score, and a fall to 6 at once, a
frame late, and its maker's name below the road.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memcpy

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.freeway.picture cimport (
    DIGIT, EDGE, FEET, PAVEMENT, PINK, RIVAL_SCORE_X, RIVAL_X, ROAD, SCORE_Y, STANDING, YELLOW, draw_chicken, draw_lane,
    draw_scores, ground, make_stamps, put_shape)
from envs_c.games.freeway.rules cimport (
    BOTTOM, CHICKEN_ROWS, CHICKEN_X, COUNT, FRAMES, LANES, POSE, RIGHT_LANES, STAND, STUN, Freeway, begin, change_pace,
    look_for_cars, move_cars, move_chicken)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_swap
from envs_c.stamp cimport CELLS, WIDTH, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Option


cdef enum:
    FIRST_ROW = 2, END_ROW = 78     # of the grey canvas: between them things move

cdef extern from *:
    """
    static const float SPEED[6] = {2.0f, 1.0f, 1.0f / 2, 1.0f / 3, 1.0f / 4, 1.0f / 5};  // pixels a frame, by pace
    """
    const float[6] SPEED


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Freeway*>state, <int>options[0] - 1, options[1] != 0.0, options[2] != 0.0, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Freeway* game = <Freeway*>state
    cdef float points
    game.frame += 1
    points = move_chicken(game, action)
    move_cars(game)
    if game.changing:
        change_pace(game)
    look_for_cars(game)
    over[0] = game.frame == FRAMES
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Both chickens' heights, counter of the timer, score, time left, and of each lane how far its first car is to the
    right of the chicken (-80 .. 79, around the screen) and its velocity, all in units of about their deviation in play.
    """
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


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but the own score, the own chicken and the cars."""
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


sum_backdrop(backdrop, STANDING)
make_stamps()
GAME = Game(
    name="freeway", title="Freeway", version=1, summary="Lead a chicken across ten lanes of traffic, as often as time allows.",
    actions=("NOOP", "UP", "DOWN"), feature_shape=(5 + 2 * LANES,), frame_skip=4,
    feature_low=(-2, 0, 0, 0, -1) + (-2,) * (2 * LANES), feature_high=(2, 1, 1, 4, 1) + (2,) * (2 * LANES),
    options={
        "game": Option(1, 1, 8, "number of the game on the cartridge, its traffic"),
        "difficulty": Option(0, 0, 1, "1: a hit sends the chicken back to the start"),
        "scatter": Option(1, 0, 1, "0: all cars start at the edge of the screen, as on the cartridge"),
    },
).bind(chunk, backdrop, draw, sizeof(Freeway))
