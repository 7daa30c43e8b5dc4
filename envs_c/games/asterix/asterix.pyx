"""Asterix, after the cartridge of 1983 for the Atari 2600.

Screen. 160x210 pixels, x to the right and y down. Eight lanes lie between two roofs. Lane 0 is at the top; lane i has the
rows 25 + 16 * i to 38 + 16 * i. The hero and the things in the lanes are 8 pixels wide and 11 high. Their x is their left
end.

Actions. LEFT and RIGHT move the hero by 2 pixels a frame, by 4 from stage 4 on, by 6 from stage 16 on. LEFT moves it only
while x > 24, RIGHT only while x < 128. UP and DOWN move it by one lane, but only in frames before which the clock (below)
is a multiple of 4. A diagonal does both. The hero starts in lane 3 at x 76.

Things. Each lane holds one thing: a treasure, a lyre, the points of a treasure that was taken, or an empty place that moves
as a thing does. In lanes 0, 2, 4 and 6 things come in at x 5 and go to the right by 1 pixel a frame, by 2 from stage 4 on,
by 3 from stage 16 on; a thing that would reach x 143 leaves. In the other lanes they come in at x 143 and go to the left at
the same speeds; a thing that would be left of x 5 leaves. When a thing leaves, the next one comes in in the same frame.

Clock. The clock and a second counter decide what comes in. The clock goes up by 1 a frame to 128 and then begins again at
2. The second counter goes up by 1 in each frame whose action is LEFT or RIGHT (a diagonal does not count), and begins again
at 1 whenever the clock begins again. A thing that comes in is a treasure if, before the frame, clock and counter are both
even or both odd; otherwise it is a lyre. So things come and go together in all lanes that the hero does not disturb.

Touch. At the end of a frame the hero touches the thing in its lane if they overlap; the table REACH in rules.pxd has the
distances for each pair. The touch takes effect in the next frame, after all things have moved:
  - Treasure. It gives its points and becomes their picture, which stands still until a wait is over. Then an empty place
    goes on from there. The points are 50, 100, 200, 300 and 400 in stages 0 to 4, and 500 from stage 5 on. The wait is 254,
    134, 66 and 32 frames in stages 0 to 3, again in 4 to 7, and again in 16 to 19; it is 16 frames in stages 8 to 15 and 20
    to 23, and 7 in stage 24. The last treasure of a stage has the wait of the next stage; points that wait then go on
    in the next frame.
  - Lyre. It becomes an empty place, and the hero is stunned for 126 frames. In these nothing moves, but the clock and the
    waits go on. Then a life is lost, all things become empty places, and the hero stands at its start, where the picture shows
    it from the next frame on in which UP and DOWN work. If the stun begins in the frame in which the hero changes its lane, he
    can still touch the thing in the new lane: as he is in that frame, and in the next one as he is drawn then. Twice as wide he
    reaches 3 pixels farther to the left and 5 to the right, Obelix 2 and 4. A treasure gives its points, another lyre begins
    the stun again, 4 pixels to the left.

Stages. 50 treasures make a stage. Stage 24 is followed by stage 16. The stage decides how treasures look, also those that
are on the screen when it begins; but in the frame in which the last treasure of a stage is taken, treasures in the lanes
above it still look as before. A hero who goes up in this frame touches the treasure there by this look. He moves at the old
speed in this frame. The hero is Obelix in stages 4 to 7, 12 to 15 and 20 to 24, otherwise Asterix. When Obelix comes for the
first time, with stage 4, the screen shows his name for 255 frames, in which only the clock goes on, here to 255 and then
from 0. After that all things are treasures at the places where they were, and he stands at the start. A stun ends first.

Lives. 3 at first. One more at 10,000, 30,000, 50,000, 80,000 and 110,000 points and then every 40,000, but never more than
8.

End. The last life ends one frame before the end of its stun, and the episode with it.

Start. All first things are treasures. The clock is random (2 to 128), the counter is 1, things in even lanes start at one
random x, things in odd lanes at another. With scatter=0 they start at x 4 and x 145, with the clock at 1 and the counter at
0: the game then goes as on the cartridge from its first frame on.

Changed rules. With harmless_lyres=1 a lyre that is touched becomes an empty place, and nothing else happens. With
random_things=1 the things that come in in a frame are all treasures or all lyres, each with probability 1/2. With
quick_points=1 the wait after each treasure is 7 frames.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.asterix.picture cimport (
    BLACK, DIGITS, HEROES, LIVES_X, LIVES_Y, PITCH, SCORE_X, SCORE_Y, STANDING, WIDTH, draw_hero, draw_sprite, draw_thing,
    draw_title, make_stamps)
from envs_c.games.asterix.rules cimport (
    LANES, LAST_STAGE, LEFT, LYRE, RANDOM_THINGS, RIGHT, ROUND, START_X, STUN, TITLE_FRAMES, TREASURE, Asterix, begin, hero_of,
    look_for_touch, move_hero, move_things, pace, pass_waits, show_title, stay_stunned, take_thing)
from envs_c.games.asterix.valid cimport valid
from envs_c.rng cimport Rng, rng_next
from envs_c.screen cimport SMALL, Canvas, canvas_rect
from envs_c.stamp cimport CELLS, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Feature, Option


cdef enum:
    SLOTS = 15                      # lanes in the observation: from 7 above the hero's lane to 7 below it
    FEATURES = 8 + 4 * SLOTS
    LINE_Y = 39, LINE_X = 24, LINE_WIDTH = 112, TOP_ROOF = 9, BOTTOM_ROOF = 150
    FIRST_ROW = 10, END_ROW = 77    # rows of the grey canvas; things move only between them
    BLUE = 0x545CD6

cdef extern from *:
    """
    static const unsigned ROOF[8] = {0x331AA3, 0x4E32B5, 0x6848C6, 0x7F5CD5, 0x181AA7, 0x2D32B8, 0x4248C8, 0x545CD6};
    """
    const uint32_t[8] ROOF


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Asterix*>state, options, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Asterix* game = <Asterix*>state
    cdef uint8_t entering = LYRE if (game.clock ^ game.held) & 1 else TREASURE
    cdef bint step_lane = game.clock & 3 == 0
    cdef int speed = 2 * pace(game)
    cdef float points = 0.0
    game.old_lanes = game.again = 0
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
        return stay_stunned(game, over)
    if game.rules & RANDOM_THINGS:
        entering = <uint8_t>(LYRE + (rng_next(rng) >> 31))
    move_things(game, entering)
    if game.touch:
        points = take_thing(game)
    move_hero(game, action, speed, step_lane)
    if game.title == 0:
        look_for_touch(game, False)
    else:
        game.touch = 0
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes. Each has a standard deviation of about 1 in play."""
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
    """Paint the roofs and the lines between lanes."""
    cdef int k
    for k in range(16):
        canvas_rect(canvas, START_X - 4 * k, TOP_ROOF + k, 8 + 8 * k, 1, ROOF[k // 2])
        canvas_rect(canvas, 4 * k + 16, BOTTOM_ROOF + k, 128 - 8 * k, 1, ROOF[k // 2])
    for k in range(LANES - 1):
        canvas_rect(canvas, LINE_X, LINE_Y + PITCH * k, LINE_WIDTH, 2, BLUE)


cdef inline void draw_play(const Asterix* game, Sheet* sheet) noexcept nogil:
    """Paint score, lives, things and hero."""
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


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Asterix*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Asterix), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    make_stamps()
    sum_backdrop(backdrop, STANDING)


GAME = Game(
    name="asterix", title="Asterix", version=3, summary="Gather treasures that cross eight lanes, and keep off the lyres.",
    actions=("NOOP", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    feature_shape=(FEATURES,), frame_skip=4,
    feature_low=(-2, -2, -1, 0, 0, 0, -2, 0) + (0, 0, -4, -2) * SLOTS,
    feature_high=(2, 2, 1, 1, 1, 3, 3, 50) + (1, 1, 4, 2) * SLOTS,
    options={
        "lives": Option(3, 1, 8, "lives at first"),
        "first_stage": Option(0, 0, LAST_STAGE, "stage to begin with"),
        "scatter": Option(1, 0, 1, "0: things and clock start as on the cartridge"),
        "harmless_lyres": Option(0, 0, 1, "1: a lyre that is touched becomes an empty place, with no stun"),
        "random_things": Option(0, 0, 1, "1: chance decides what comes in, not clock and counter"),
        "quick_points": Option(0, 0, 1, "1: points wait 7 frames in all stages"),
    },
    features=(
        Feature("hero x", -2, 2, help="(x - 76) / 36 pixels"),
        Feature("hero lane", -2, 2, help="-1.4 in the top lane, 1.4 in the bottom lane, 0.4 a lane"),
        Feature("hero direction", -1, 1, help="1 to the right, -1 to the left"),
        Feature("pause left", 0, 1, help="frames left of a stun / 126, or of the screen with Obelix's name / 255; 0 in play"),
        Feature("time to lane change", 0, 1, help="frames until UP and DOWN work, / 3; 0: they work in the next frame"),
        Feature("stage", 0, 3, help="stage / 8"),
        Feature("lives", -2, 3, help="(lives - 3) / 2"),
        Feature("score", 0, 50, help="points / 20,000, at most 50"),
        Feature("things by lane", -4, 4, count=4 * SLOTS, help="4 values a lane, from 7 lanes above the hero's to 7 below it; "
                "its own lane has 36 to 39, the lane d below it begins at 36 + 4 * d. 1 if a treasure is there; 1 if a lyre is "
                "there; (x of the thing - x of the hero) / 40 pixels; velocity / 2 pixels a frame, positive to the right, 0 "
                "while points stand still. All 0 if there is no such lane"),
    ),
    compared_with="The cartridge under ale-py, frame by frame within a stage: reward, end, hero, things, score and picture.",
).bind(chunk, backdrop, draw, sizeof(Asterix), has_mask=False, valid=valid, lives=lives, prepare=prepare)
