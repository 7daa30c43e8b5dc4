"""Asterix, after the cartridge of 1983 for the Atari 2600.

Screen. On 160x210 pixels (x to the right, y down) eight lanes lie between two roofs, lane 0 on top: lane i has the rows
25 + 16 * i .. 38 + 16 * i. What is in it, hero or thing, is 8 pixels wide, x is its left end, and 11 high.

Hero. LEFT and RIGHT move it by 2 pixels a frame, by 4 from stage 4 on, by 6 from stage 16 on, while x > 24 and x < 128.
UP and DOWN move it by a lane, only in frames
before which the clock (below) is a multiple of 4. It starts in lane 3 at x 76.

Things. Each lane holds one. In lanes 0, 2, 4 and 6 they come in at x 5, go to the right by 1 pixel a frame (2 from stage 4
on, 3 from stage 16 on) and leave before x 143; in the others they come in at 143, go to the left and leave before x 5. When
one leaves, or the nothing that is left of it, the next comes in at once: a treasure, or a lyre. A clock decides: it goes
from 1 or 2 to 128 by 1 a frame and begins again at 2. A second counter begins at 0, later at 1 whenever the clock begins
again, and counts the frames in which the stick is held straight to the LEFT or RIGHT. If, before the frame, both are even
or both are odd, it is a treasure. So the things of lanes that were not disturbed come and go together.

Touch. If hero and thing of a lane overlap, as REACH says for each pair, it counts in the next frame, after all have moved.
  Treasure: its points, which stand in its place until a wait is over; then nothing at all goes on from there. The points are
  50, 100, 200, 300, 400 in stages 0 .. 4 and 500 later, the wait is 254, 134, 66 or 32 frames for stages 0 .. 3, 4 .. 7 and
  16 .. 19 in this order, 16 for 8 .. 15 and 20 .. 23, and 7 for 24; of the last treasure of a stage it is the next stage's.
  Lyre: it vanishes and the hero is stunned for 126 frames, in which nothing moves, but waits go on. Then a life is lost,
all things become nothing that goes on, and the hero stands at its start. The last life ends a frame earlier, and with
it the episode.

Stages. 50 treasures make a stage, after 24 comes 16 again. Treasures look after their stage, and those on the screen change
with it. In stages 4 .. 7, 12 .. 15 and 20 .. 24 the hero is Obelix. When he first comes, in stage 4, the screen shows his
name for 255 frames; then all things are treasures, at the places where they were, and he stands at the start.

Lives. 3 at first; one more at 10,000, 30,000, 50,000, 80,000 and 110,000 points and then every 40,000, but never more than 8.

Start. The clock and the places of the first things, all treasures, are random. With scatter=0 things stand at x 4 and
  145 and all goes as on the cartridge from its first frame on.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.asterix.picture cimport (
    BLACK, DIGITS, HEROES, LIVES_X, LIVES_Y, PITCH, SCORE_X, SCORE_Y, STANDING, WIDTH, draw_hero, draw_sprite, draw_thing,
    draw_title, make_stamps)
from envs_c.games.asterix.rules cimport (
    LANES, LAST_STAGE, LEFT, LYRE, NOTHING, RIGHT, ROUND, START_X, STUN, TITLE_FRAMES, TREASURE, Asterix, begin, hero_of,
    look_for_touch, move_hero, move_things, pace, pass_waits, show_title, start_again, take_treasure)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect
from envs_c.stamp cimport CELLS, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Option


cdef enum:
    SLOTS = 15                      # lanes counted from the hero's, 7 above to 7 below
    FEATURES = 8 + 4 * SLOTS
    LINE_Y = 39, LINE_X = 24, LINE_WIDTH = 112, TOP_ROOF = 9, BOTTOM_ROOF = 150
    FIRST_ROW = 10, END_ROW = 77    # of the grey canvas: between them things move
    BLUE = 0x545CD6

cdef extern from *:
    """
    static const unsigned ROOF[8] = {0x331AA3, 0x4E32B5, 0x6848C6, 0x7F5CD5, 0x181AA7, 0x2D32B8, 0x4248C8, 0x545CD6};
    """
    const uint32_t[8] ROOF


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Asterix*>state, <int>options[0], <int>options[1], options[2] != 0.0, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Asterix* game = <Asterix*>state
    cdef uint8_t entering = LYRE if (game.clock ^ game.held) & 1 else TREASURE
    cdef bint step_lane = game.clock & 3 == 0
    cdef float points = 0.0
    if game.title:
        show_title(game)
        return 0.0
    if action == RIGHT or action == LEFT:
        game.held += 1
    if game.clock >= ROUND:
        game.clock = game.held = 1
    game.clock += 1
    pass_waits(game)
    if game.stun:
        game.stun -= 1
        if game.stun == 1 and game.lives == 1:
            game.lives = 0
            over[0] = True
        elif game.stun == 0:
            game.lives -= 1
            start_again(game, NOTHING)
        return 0.0
    move_things(game, entering)
    if game.touch:
        if game.kind[game.lane] == LYRE:
            game.kind[game.lane] = NOTHING
            game.stun = STUN
        else:
            points = take_treasure(game)
    move_hero(game, action, step_lane)
    if game.stun == 0 and game.title == 0:
        look_for_touch(game)
    else:
        game.touch = 0
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Hero's x, lane, direction and stun, frames to the next lane change, stage, lives and score; then for the lanes from
    7 above the hero's to 7 below it: treasure there, lyre there, how far its thing is to the right, and its velocity.

    In units of about their deviation in play; 0 where there is no lane, and velocity where a thing waits.
    """
    cdef const Asterix* game = <const Asterix*>state
    cdef float* features = <float*>out
    cdef float* slot = features + 8 + 4 * (7 - game.lane)
    cdef float speed = <float>(0.5 * pace(game))
    cdef int i
    memset(features, 0, FEATURES * sizeof(float))
    features[0] = (game.hero - START_X) * <float>(1.0 / 36)
    features[1] = (2 * game.lane - 7) * <float>(1.0 / 5)
    features[2] = 1 if game.right else -1
    features[3] = game.stun * <float>(1.0 / STUN) + game.title * <float>(1.0 / TITLE_FRAMES)
    features[4] = (-game.clock & 3) * <float>(1.0 / 3)
    features[5] = game.stage * <float>(1.0 / 8)
    features[6] = (game.lives - 3) * <float>(1.0 / 2)
    features[7] = min(game.score, 1000000) * <float>(1.0 / 20000)
    for i in range(LANES):
        slot[0] = game.kind[i] == TREASURE
        slot[1] = game.kind[i] == LYRE
        slot[2] = (game.x[i] - game.hero) * <float>(1.0 / 40)
        slot[3] = 0 if game.wait[i] else -speed if i & 1 else speed
        slot += 4


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """The roofs and the lines between lanes."""
    cdef int k
    for k in range(16):
        canvas_rect(canvas, START_X - 4 * k, TOP_ROOF + k, 8 + 8 * k, 1, ROOF[k // 2])
        canvas_rect(canvas, 4 * k + 16, BOTTOM_ROOF + k, 128 - 8 * k, 1, ROOF[k // 2])
    for k in range(LANES - 1):
        canvas_rect(canvas, LINE_X, LINE_Y + PITCH * k, LINE_WIDTH, 2, BLUE)


cdef inline void draw_play(const Asterix* game, Sheet* sheet) noexcept nogil:
    """Score, lives, things and hero."""
    cdef int lane, left = game.score % 1000000, x = SCORE_X
    while True:
        draw_sprite(sheet, DIGITS + left % 10, x, SCORE_Y)
        left, x = left // 10, x - WIDTH
        if left == 0:
            break
    for lane in range(min(<int>game.lives - 1, 3)):
        draw_sprite(sheet, HEROES + hero_of(game), LIVES_X + PITCH * lane, LIVES_Y)
    for lane in range(LANES):
        draw_thing(game, sheet, lane)
    if game.lives > 0:
        draw_hero(game, sheet)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Asterix* game = <const Asterix*>state
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet = sheet_of(canvas, sums, 0)
    if canvas.rgb == NULL:
        memcpy(sums, STANDING, END_ROW * SMALL * sizeof(uint16_t))
    if not game.title:
        draw_play(game, &sheet)
    elif canvas.rgb != NULL:
        canvas_rect(canvas, 0, 0, 160, 210, BLACK)
        draw_title(&sheet)
    else:
        memset(sums, 0, sizeof(sums))
        draw_title(&sheet)
    if canvas.rgb == NULL and game.title:
        finish_rows(canvas, sums, 0, SMALL)
    elif canvas.rgb == NULL:
        finish_rows(canvas, sums, FIRST_ROW, END_ROW)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Asterix), states, io, lo, hi)


make_stamps()
sum_backdrop(backdrop, STANDING)
GAME = Game(
    name="asterix", title="Asterix", version=1, summary="Gather treasures that cross eight lanes, and keep off the lyres.",
    actions=("NOOP", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    feature_shape=(FEATURES,), frame_skip=4,
    feature_low=(-2, -2, -1, 0, 0, 0, -2, 0) + (0, 0, -4, -2) * SLOTS,
    feature_high=(2, 2, 1, 1, 1, 3, 3, 50) + (1, 1, 4, 2) * SLOTS,
    options={
        "lives": Option(3, 1, 8, "lives at first"),
        "first_stage": Option(0, 0, LAST_STAGE, "stage to begin with"),
        "scatter": Option(1, 0, 1, "0: things and clock start as on the cartridge"),
    },
).bind(chunk, backdrop, draw, sizeof(Asterix))
